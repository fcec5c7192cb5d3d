"""The settings as they are read: from TOML files, then the environment, then flags."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflector.core.errors import SettingsError
from reflector.core.near import did_you_mean
from reflector.runtime.settings_keys import KEYS, Key, Value

_LONGEST = 200
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,4})?\Z")
_TABLES = {key.name.split(".")[0] for key in KEYS if "." in key.name}
_RESERVED = frozenset({"REFLECTOR_HOME", "REFLECTOR_IDENTITY", "REFLECTOR_CHILD", "REFLECTOR_RUN"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its origin, and the folders that belong to an identity."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]
    identity_paths: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a string setting."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """Return a numeric setting."""
        value = self.values[name]
        return value if isinstance(value, int) else 0

    def money(self, name: str) -> float:
        """Return a setting that may have a fraction."""
        value = self.values[name]
        return float(value) if isinstance(value, int | float) else 0.0

    def flag(self, name: str) -> bool:
        """Return a setting that is true or false."""
        return self.values[name] is True

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a setting that is a list of strings."""
        value = self.values[name]
        return value if isinstance(value, tuple) else ()


def with_flags(settings: Settings, flags: Mapping[str, tuple[str, str]]) -> Settings:
    """Return the settings with flags of a command on top: key → (flag, value), "" changes nothing.

    Raises SettingsError naming the flag and what was expected.
    """
    given = {name: flag for name, flag in flags.items() if flag[1]}
    values = {name: _checked(name, value, flag) for name, (flag, value) in given.items()}
    origins = {name: flag for name, (flag, _) in given.items()}
    return Settings(
        {**settings.values, **values}, {**settings.origins, **origins}, settings.identity_paths
    )


def load(files: list[Path], environ: Mapping[str, str]) -> Settings:
    """Read the settings: defaults, then the files in order, then the environment.

    Raises SettingsError naming the file or variable, the key and what was expected.
    """
    values: dict[str, Value] = {key.name: key.default for key in KEYS}
    origins = dict.fromkeys(values, "default")
    paths: dict[str, str] = {}
    for file in files:
        table = _read(file)
        paths |= _identity_paths(file, table.pop("identity", {}))
        for name, value in _flat(file, table):
            values[name] = _checked(name, value, str(file))
            origins[name] = str(file)
    for name, value in _from_environment(environ):
        values[name] = value
        origins[name] = _by_name()[name].variable
    return Settings(values, origins, paths)


def _by_name() -> dict[str, Key]:
    return {key.name: key for key in KEYS}


def _read(file: Path) -> dict[str, Any]:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(
            f"The settings file {file} cannot be read: {error.strerror}.",
            hint="Check its permissions.",
            file=str(file),
        ) from error
    import tomllib  # noqa: PLC0415 - costs a start-up most commands need not pay

    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also a number too long, nesting too deep
        raise SettingsError(
            f"The settings file {file} is not valid TOML: {error}.",
            hint="Correct the line, or move the file away to use the defaults.",
            file=str(file),
        ) from error


def _flat(file: Path, table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for group, content in table.items():
        if group in _TABLES and isinstance(content, dict):
            found += [(f"{group}.{name}", value) for name, value in content.items()]
        else:
            found.append((group, content))
    for name, _ in found:
        if name not in _by_name():
            raise SettingsError(
                f"{file}: unknown key {name!r}.",
                hint=did_you_mean(name, _by_name()) + "docs/settings.md lists every key.",
                file=str(file),
                key=name,
            )
    return found


def _checked(name: str, value: Any, where: str) -> Value:
    key = _by_name()[name]
    if isinstance(key.default, tuple) and isinstance(value, list):
        value = tuple(value)
    if type(key.default) is float and type(value) is int and abs(value) < 10**15:
        value = float(value)
    fits = type(value) is type(key.default)
    if fits and isinstance(value, tuple):
        fits = all(isinstance(each, str) and key.takes(each) for each in value)
    elif fits and key.choices:
        fits = value in key.choices
    elif fits and key.hours:
        fits = _are_hours(value)
    elif fits and type(value) in (int, float):
        fits = value >= key.least
    if not fits:
        raise SettingsError(
            f"{where}: {name} must be {key.expected}, not {_short(value)}.",
            hint=f"Correct the value, or remove it to use the default ({key.shown}).",
            key=name,
        )
    checked: Value = value
    return checked


def _are_hours(text: str) -> bool:
    if not text:
        return True
    from reflector.core.off_peak import parse  # noqa: PLC0415 - seldom set

    try:
        parse(text)
    except ValueError:
        return False
    return True


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _identity_paths(file: Path, table: Any) -> dict[str, str]:
    paths = table.get("paths", {}) if isinstance(table, dict) else None
    if (
        not isinstance(paths, dict)
        or set(table) - {"paths"}
        or not all(isinstance(value, str) and value for value in paths.values())
    ):
        raise SettingsError(
            f"{file}: [identity.paths] must map folders to identity names.",
            hint='For example: "~/src/acme" = "acme"',
            file=str(file),
            key="identity.paths",
        )
    return paths


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, Value]]:
    variables = {key.variable: key for key in KEYS}
    found: list[tuple[str, Value]] = []
    for name in sorted(environ):
        if not name.startswith("REFLECTOR_") or name in _RESERVED:
            continue
        if name not in variables:
            raise SettingsError(
                f"The environment variable {name} is no setting of Reflector.",
                hint=did_you_mean(name, variables) + "Unset it; docs/settings.md lists all.",
                key=name,
            )
        key = variables[name]
        found.append((key.name, _checked(key.name, _typed(key, environ[name]), name)))
    return found


def _typed(key: Key, text: str) -> Any:
    if isinstance(key.default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(key.default, int):
        return int(text) if _WHOLE.match(text) else text
    if isinstance(key.default, float):
        return float(text) if _DECIMAL.match(text) else text
    if isinstance(key.default, tuple):  # as in PATH
        return [each for each in text.split(os.pathsep) if each]
    return text
