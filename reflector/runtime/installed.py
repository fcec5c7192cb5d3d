"""`installed.json`: what was put into which harness, and how its files were before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reflector.core.errors import HomeError
from reflector.store.disk import Home, read_regular, write_atomic

_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class File:
    """One file of a harness as we found it.

    `before` are the containers that we made in it (see `Before`), None where nobody noted them;
    `folders` the folders that we made for it, the innermost first.
    """

    path: str
    existed: bool
    before: Mapping[str, str | None] | None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Install:
    """One harness in one scope. `project` is "" for the scope of the person."""

    harness: str
    scope: str
    project: str
    files: tuple[File, ...]
    events: tuple[str, ...]
    permission: bool
    version: str
    at: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what there is only one of."""
        return (self.harness, self.scope, self.project)

    def file(self, path: Path) -> File | None:
        """Return what was noted about a file."""
        return next((each for each in self.files if each.path == str(path)), None)


def load(home: Home) -> tuple[Install, ...]:
    """Read the record. Raises HomeError when it is there and cannot be read."""
    place = _place(home)
    raw = read_regular(place, _LARGEST)
    if raw is None:
        return ()
    try:
        return tuple(_install(each) for each in json.loads(raw)["installs"])
    except (ValueError, TypeError, KeyError) as error:
        raise HomeError(
            f"{place}, the record of what is installed, cannot be read: {error}.",
            hint="Move it away: `reflector install` and `uninstall` find our entries without it.",
            path=str(place),
        ) from error


def save(home: Home, installs: Iterable[Install]) -> None:
    """Replace the record; an empty one is no file at all."""
    kept = sorted(installs, key=lambda each: each.key)
    if not kept:
        _place(home).unlink(missing_ok=True)
        return
    text = json.dumps({"installs": [asdict(each) for each in kept]}, indent=2)
    write_atomic(_place(home), text.encode() + b"\n")


def _place(home: Home) -> Path:
    return home.path / "installed.json"


def _install(given: dict[str, Any]) -> Install:
    files = tuple(File(**{**each, "folders": tuple(each["folders"])}) for each in given["files"])
    return Install(**{**given, "files": files, "events": tuple(given["events"])})
