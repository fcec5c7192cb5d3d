"""`hook.gate`: what a hook must know without reading settings, in flat lines. Derived."""

from __future__ import annotations

import contextlib
import os

from reflector.core.ambient import instant
from reflector.core.errors import ReflectorError
from reflector.runtime import recording
from reflector.runtime.pauses import holding
from reflector.runtime.settings import load
from reflector.runtime.wiring import Context, context
from reflector.store.disk import Home, write_atomic

_SHUT = "paused -"


def refresh(found: Context) -> None:
    """Rewrite the file when it says something else than the settings do.

    Lines: `paused <epoch seconds, or ->`, `exclude <pattern>`, `identity <folder name> <path>`,
    `default <folder name>`, `recall on`. Trouble is left to whoever writes next: the drainer asks
    the settings themselves before anything is journaled.
    """
    content = "".join(f"{line}\n" for line in _lines(found)).encode("utf-8", "surrogateescape")
    file = found.home.path / "hook.gate"
    with contextlib.suppress(OSError, ReflectorError):
        if not file.exists() or file.read_bytes() != content:
            write_atomic(file, content)


def refresh_or_shut(home: Home, chosen: str | None) -> None:
    """Rewrite the file after a pause or its end; settings that cannot be read let nothing through.

    Pausing must work whatever the settings say; the next command that can read them opens the gate.
    """
    try:
        refresh(context(chosen))
    except ReflectorError:
        with contextlib.suppress(ReflectorError):
            write_atomic(home.path / "hook.gate", f"{_SHUT}\n".encode())


def _lines(found: Context) -> list[str]:
    try:
        consent = recording.consent(found)
    except ReflectorError:
        return [_SHUT]  # unreadable pauses: nothing is recorded
    pause = holding(consent.pauses, found.ambient.now())
    until = f"{instant(pause.until).timestamp():.3f}" if pause and pause.until else "-"
    home, settings = found.home, found.settings
    roots = [
        (os.path.realpath(os.path.expanduser(prefix)), home.agent(name).slug)  # noqa: PTH111 - Path raises for ~unknown
        for prefix, name in settings.identity_paths.items()
    ]
    named = found.environ.get("REFLECTOR_IDENTITY") or "default"
    return [
        *([f"paused {until}"] if pause else []),
        *(f"exclude {pattern}" for pattern in consent.excluded),
        *(f"identity {slug} {root}" for root, slug in roots),
        f"default {home.agent(named).slug}",
        *(["recall on"] if _recalls(found) else []),
    ]


def _recalls(found: Context) -> bool:
    """Tell whether the home shows memory beside prompts; an identity of it may still say no."""
    try:
        return load([found.home.settings], found.environ).flag("recall.inject")
    except ReflectorError:  # somebody is at the file: the next command says what is wrong
        return False
