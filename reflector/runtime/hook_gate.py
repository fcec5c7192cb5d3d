"""`hook.gate`: what a hook must know without reading settings, in flat lines. Derived."""

from __future__ import annotations

import contextlib
import os

from reflector.core.ambient import instant
from reflector.core.errors import ReflectorError
from reflector.runtime import recording
from reflector.runtime.pauses import holding
from reflector.runtime.wiring import Context
from reflector.store.disk import write_atomic


def refresh(context: Context) -> None:
    """Rewrite the file when it says something else than the settings do.

    Lines: `paused <epoch seconds, or ->`, `exclude <pattern>`, `identity <folder name> <path>`,
    `default <folder name>`. Trouble is left to whoever writes next: the drainer asks the settings
    themselves before anything is journaled.
    """
    content = "".join(f"{line}\n" for line in _lines(context)).encode("utf-8", "surrogateescape")
    file = context.home.path / "hook.gate"
    with contextlib.suppress(OSError, ReflectorError):
        if not file.exists() or file.read_bytes() != content:
            write_atomic(file, content)


def _lines(context: Context) -> list[str]:
    try:
        consent = recording.consent(context)
    except ReflectorError:
        return ["paused -"]  # unreadable pauses: nothing is recorded
    pause = holding(consent.pauses, context.ambient.now())
    until = f"{instant(pause.until).timestamp():.3f}" if pause and pause.until else "-"
    home, settings = context.home, context.settings
    roots = [
        (os.path.realpath(os.path.expanduser(prefix)), home.agent(name).slug)  # noqa: PTH111 - Path raises for ~unknown
        for prefix, name in settings.identity_paths.items()
    ]
    named = context.environ.get("REFLECTOR_IDENTITY") or "default"
    return [
        *([f"paused {until}"] if pause else []),
        *(f"exclude {pattern}" for pattern in consent.excluded),
        *(f"identity {slug} {root}" for root, slug in roots),
        f"default {home.agent(named).slug}",
    ]
