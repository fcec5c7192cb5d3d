"""Which engine writes the reflections: offered once to a person, and written into the settings."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from reflector.core.errors import SettingsError, UsageError
from reflector.runtime.foreign_files import Change, change, look
from reflector.runtime.wiring import Context
from reflector.store.disk import write_atomic

_CLIS = {"claude": "Claude Code", "codex": "Codex", "opencode": "OpenCode"}
NAMES = ("rules", "anthropic", *_CLIS)


@dataclass(frozen=True, slots=True)
class Choice:
    """One engine as it is offered: its name, the settings that it is, what it costs."""

    name: str
    values: Mapping[str, str]
    says: str


def choices(environ: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return what can be chosen on this machine; an agent CLI only when it is on the PATH."""
    found = [
        Choice(
            "rules",
            {"engine.name": "rules"},
            "no model. Costs nothing, no text leaves this machine; it catches only what you say "
            "in so many words",
        ),
        Choice(
            "anthropic",
            {"engine.name": "anthropic"},
            "a model of the Anthropic API, or of engine.base_url. Billed by tokens to your key; "
            "what is reflected on goes there",
        ),
    ]
    for name, title in _CLIS.items():
        if place := shutil.which(name, path=environ.get("PATH")):
            values = {"engine.name": "command", "engine.command": name}
            says = (
                f"your {title} ({place}). Counts against your own plan or key there; what is "
                "reflected on goes to its provider"
            )
            found.append(Choice(name, values, says))
    return tuple(found)


def named(environ: Mapping[str, str], name: str) -> Choice:
    """Return the choice of a name. Raises UsageError for a CLI that is not here."""
    found = {each.name: each for each in choices(environ)}
    if name not in found:
        raise UsageError(
            f"There is no {name!r} on the PATH of this machine.",
            hint=f"Install it first, or choose one of {', '.join(found)}.",
        )
    return found[name]


def offered(context: Context) -> bool:
    """Tell whether a person was asked once, or has chosen in the settings."""
    chosen = context.settings.origins["engine.name"] != "default"
    return chosen or (context.home.path / "engine-offered").exists()


def note_offered(context: Context) -> None:
    """Remember that a person was asked: it is done once."""
    write_atomic(context.home.path / "engine-offered", context.ambient.now().encode() + b"\n")


def choose(context: Context, choice: Choice) -> None:
    """Write a choice into the settings of the home, and leave the rest of them as they are.

    Raises SettingsError when the file is written in a way that we cannot change for sure.
    """
    # Every `reflect` asks whether to offer; hardly any of them writes.
    from reflector.runtime.settings_text import UnclearError, with_values  # noqa: PLC0415

    found = look(context.home.settings)
    try:
        new = with_values((found.content or b"").decode(), choice.values)
    except (UnclearError, UnicodeDecodeError) as error:
        lines = ", ".join(f'{key} = "{value}"' for key, value in choice.values.items())
        raise SettingsError(
            f"{found.path} could not be changed: {error}.",
            hint=f"Write it there yourself: {lines}",
            file=str(found.path),
        ) from error
    if new.encode() != found.content:
        change([Change(found, new.encode())])
    note_offered(context)
