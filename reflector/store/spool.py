"""The spool: what hooks append, one line an event, read once by whoever drains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflector.store.disk import write_atomic

_OFFSETS = "offsets"


@dataclass(frozen=True, slots=True)
class Spooled:
    """One hook event. `at` is in seconds since the epoch; unknown texts are empty."""

    at: float
    harness: str
    event: str
    session: str
    transcript: str
    cwd: str
    busy: bool


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
            offset = stream.seek(min(offsets.get(file.name, 0), file.stat().st_size))
            for raw in stream:
                if not raw.endswith(b"\n"):
                    break  # still being written
                offset += len(raw)
                yield _parsed(raw), Mark(file.name, offset)


def save(folder: Path, mark: Mark) -> None:
    """Remember that everything up to `mark` was dealt with, and drop older days' files."""
    offsets = {
        name: offset
        for name, offset in _offsets(folder).items()
        if name >= mark.file and (folder / name).exists()
    }
    offsets[mark.file] = mark.offset
    write_atomic(folder / _OFFSETS, json.dumps(offsets, sort_keys=True).encode())
    for file in folder.glob("*.jsonl"):
        if file.name < mark.file:
            file.unlink(missing_ok=True)


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
        fields: Any = json.loads(raw)
        return Spooled(
            at=float(fields["time"]),
            harness=str(fields["harness"]),
            event=str(fields["event"]),
            session=str(fields.get("session_id", "")),
            transcript=str(fields.get("transcript_path", "")),
            cwd=str(fields.get("cwd", "")),
            busy=bool(fields.get("busy")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
