"""Whether the hooks work: where we are installed, what was last heard, what a session is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from reflector.core.ambient import stamp
from reflector.core.errors import HomeError
from reflector.harness.meanings import EVENTS
from reflector.memory.budget import estimate_tokens
from reflector.runtime import block_place, installed, notices
from reflector.runtime.harnesses import entries
from reflector.runtime.installing import asked_for, enabled_plugin
from reflector.runtime.problems import Problem
from reflector.runtime.wiring import Context
from reflector.store import scheduling
from reflector.store.disk import read_regular
from reflector.store.spool import Spooled
from reflector.store.state import Connection, State

_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Plugged:
    """One harness. `event` and `at` are what was last heard of it, "" if it never was.

    `plugin` is the id of ours that it has enabled, "" for none: its hooks are then not `install`'s.
    """

    harness: str
    scopes: tuple[str, ...]
    event: str
    at: str
    plugin: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the machine form."""
        return {
            "harness": self.harness,
            "scopes": list(self.scopes),
            "plugin": self.plugin or None,
            "last_event": self.event or None,
            "last_event_at": self.at or None,
        }


@dataclass(frozen=True, slots=True)
class NextSession:
    """What the next session here is told. No tokens: its block is compiled when it begins."""

    tokens: int | None
    notice: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the machine form."""
        return {"tokens": self.tokens, "notice": list(self.notice)}


def note(connection: Connection, last: Mapping[str, Spooled]) -> None:
    """Keep the last event of each harness, in the caller's transaction. Others are not ours."""
    for harness, each in last.items():
        if each.event in EVENTS.get(harness, {}):
            scheduling.set_mark(connection, _mark(harness), json.dumps([each.event, each.at]))


def plugged(context: Context, state: State) -> tuple[Plugged, ...]:
    """Return the harnesses that we are installed in or have heard of."""
    try:
        record = installed.load(context.home)
    except HomeError:  # `unplugged` tells
        record = ()
    found = []
    for name in EVENTS:
        scopes = tuple(each.project or each.scope for each in record if each.harness == name)
        event, at = _heard(state.connection, name)
        plugin = _plugin(context) if name == "claude-code" else ""
        if scopes or event or plugin:
            found.append(Plugged(name, scopes, event, at, plugin))
    return tuple(found)


def unplugged(context: Context) -> tuple[Problem, ...]:
    """Return what is wrong with what `install` put in place."""
    try:
        found = [each for each in entries(context) if not each.ok]
    except HomeError as error:
        return (Problem("install_broken", error.message, error.hint or ""),)
    return tuple(Problem("install_broken", each.message, each.hint) for each in found)


def next_session(context: Context, state: State) -> NextSession:
    """Return what hooks have ready for a session that begins anywhere."""
    raw = read_regular(block_place.place(context, None), _LARGEST)
    block = (raw or b"").partition(b"\n\n")[2].decode("utf-8", "replace")
    sentences, _ = notices.at_start(context, state)
    return NextSession(estimate_tokens(block) if block else None, sentences)


def _plugin(context: Context) -> str:
    try:
        return enabled_plugin(asked_for(context, "user"))
    except (OSError, RuntimeError):  # the folder we stand in is gone, or nobody has a home
        return ""


def _mark(harness: str) -> str:
    return f"heard/{harness}"


def _heard(connection: Connection, harness: str) -> tuple[str, str]:
    try:
        event, at = json.loads(scheduling.mark(connection, _mark(harness)) or '["", 0]')
        return str(event), stamp(datetime.fromtimestamp(at, UTC)) if event else ""
    except (ValueError, TypeError, OverflowError, OSError):
        return "", ""
