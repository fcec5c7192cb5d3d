"""The spool: what hooks append, one line an event, read once by whoever drains."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflector.store.disk import write_atomic

_OFFSETS = "offsets"
_LOST = "lost"
_DAYS_KEPT = 2


@dataclass(frozen=True, slots=True)
class Spooled:
    """One hook event. `at` is in seconds since the epoch; unknown texts are empty.

    `source` is what a session's start says of itself, `told` the stamp of the notice that it showed.
    `agent_transcript` is a subagent's, `opencode` the program to ask for a session that has no
    file. `lost` says what the hook could not pass on: "payload" was too large to be read, "line" to
    be written; who and where are unknown then.
    """

    at: float
    harness: str
    event: str
    session: str
    transcript: str
    cwd: str
    busy: bool
    lost: str = ""
    source: str = ""
    told: str = ""
    agent_transcript: str = ""
    opencode: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the spool, right behind a line."""

    file: str
    offset: int


def lines(folder: Path) -> Iterator[tuple[Spooled | None, Mark]]:
    """Yield what was not read yet, oldest first. A line that is none of ours gives None."""
    offsets = _offsets(folder)
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as stream:
            known = offsets.get(file.name, 0)
            # A file that became shorter is another one: reading a line again is harmless.
            offset = stream.seek(known if known <= file.stat().st_size else 0)
            for raw in stream:
                if not raw.endswith(b"\n"):
                    break  # still being written
                offset += len(raw)
                yield _parsed(raw), Mark(file.name, offset)


def save(folder: Path, marks: Iterable[Mark]) -> None:
    """Remember that everything up to these marks was dealt with, and drop files of old days.

    A hook that began before midnight may still append to yesterday's file, so that one stays.
    """
    offsets = _offsets(folder)
    for mark in marks:
        offsets[mark.file] = mark.offset
    names = sorted(file.name for file in folder.glob("*.jsonl"))
    old = [name for name in names[:-_DAYS_KEPT] if _is_read(folder / name, offsets)]
    kept = {name: offset for name, offset in offsets.items() if name in set(names) - set(old)}
    write_atomic(folder / _OFFSETS, json.dumps(kept, sort_keys=True).encode())
    for name in old:
        (folder / name).unlink(missing_ok=True)


def note_lost(folder: Path, kinds: Iterable[str], now: str) -> None:
    """Count hook events that could not be passed on whole. Only for who holds the drainer's lock."""
    counts = Counter(lost(folder)[0])
    counts.update(kinds)
    text = json.dumps({"counts": counts, "last_at": now}, sort_keys=True)
    write_atomic(folder / _LOST, text.encode())


def lost(folder: Path) -> tuple[dict[str, int], str]:
    """Return how many hook events were lost, by kind, and when the last one was; ({}, "") if none."""
    try:
        found = json.loads((folder / _LOST).read_bytes())
        return {str(kind): int(count) for kind, count in found["counts"].items()}, found["last_at"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, ""


def _is_read(file: Path, offsets: dict[str, int]) -> bool:
    return offsets.get(file.name, 0) >= file.stat().st_size


def pending(folder: Path) -> bool:
    """Tell whether there is something that nobody has read yet."""
    return next(lines(folder), None) is not None


def _offsets(folder: Path) -> dict[str, int]:
    try:
        found = json.loads((folder / _OFFSETS).read_bytes())
    except (OSError, ValueError):
        return {}  # reading a line again is harmless: entries know their ids
    return (
        {str(k): v for k, v in found.items() if isinstance(v, int)}
        if isinstance(found, dict)
        else {}
    )


def _parsed(raw: bytes) -> Spooled | None:
    try:
        # Behind a line that a full disk cut off, the next one still begins where it begins.
        fields: Any = json.loads(raw[max(raw.rfind(b'{"time":'), 0) :])
        return Spooled(
            at=float(fields["time"]),
            harness=str(fields["harness"]),
            event=str(fields["event"]),
            session=str(fields.get("session_id", "")),
            transcript=_path(fields.get("transcript_path", "")),
            cwd=_path(fields.get("cwd", "")),
            busy=bool(fields.get("busy")),
            lost=str(fields.get("lost", "")),
            source=str(fields.get("source", "")),
            told=str(fields.get("told", "")),
            agent_transcript=_path(fields.get("agent_transcript_path", "")),
            opencode=_path(fields.get("opencode_path", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _path(text: object) -> str:
    """Return a text that can be a path; anything else would fail whoever opens it, each time."""
    path = str(text)
    if "\0" in path:
        raise ValueError
    os.fsencode(path)  # raises a ValueError for surrogates that stand for no byte
    return path
