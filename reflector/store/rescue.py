"""A damaged state database: recognised, moved aside whole, and asked what it still knows."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from reflector.core.ambient import Ambient
from reflector.core.errors import BusyError
from reflector.store import imports
from reflector.store.imports import Range
from reflector.store.locks import Lock
from reflector.store.state import emptied

T = TypeVar("T")

_TRANSCRIPT = re.compile(rb"/(?:[^\x00-\x1f\x7f\"]{1,200}/)*[^\x00-\x1f\x7f\"/]{1,200}?\.jsonl")
_STREAM = re.compile(rb"((?:api|opencode):([^\x00-\x1f\x7f/]{1,500}?))(jsonl|opencode)(\3/\2)")
_STREAMS = ("api:", "opencode:")
_PASSED = re.compile(rb"passed_by/([^\x00-\x1f\x7f]{1,600}?)(\[\{\"first_sequence\": .*?\"\}\])")
_SUFFIXES = ("", "-wal", "-shm")


def move_aside_if_damaged(path: Path, ambient: Ambient) -> Path | None:
    """Move a damaged database and its companions aside; None when it is sound or not there.

    Needs the state lock alone: to rename a database that others have open gives two living
    databases. Raises BusyError when somebody has it open.
    """
    lock = Lock(path.parent / "locks" / "state.lock")
    if not lock.take():
        raise BusyError(
            f"The state database {path} is open in another Reflector process.",
            hint="End it (`reflector status` names the run), then try again.",
        )
    try:
        if emptied(path):
            path.touch(mode=0o600)
        elif not path.exists() or _sound(path):
            return None
        aside = path.with_name(f"state.corrupt-{ambient.clock.now():%Y%m%dT%H%M%S}.db")
        for suffix in _SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
        with contextlib.closing(sqlite3.connect(path)) as made:
            made.execute("PRAGMA journal_mode=WAL")  # new on purpose, not emptied by accident
        return aside
    finally:
        lock.release()


def _sound(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            answer = database.execute("PRAGMA quick_check").fetchone()
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError:
        return False
    return bool(answer[0] == "ok")


@dataclass(frozen=True, slots=True)
class Known:
    """What a damaged database still knows.

    `files` are transcripts that are still there, `streams` the names and conversations of sources
    that are no files, `passed_by` what imports passed by in which conversations.
    """

    files: tuple[str, ...]
    streams: Mapping[str, str]
    passed_by: Mapping[str, list[Range]]


def known(path: Path) -> Known:
    """Ask a damaged database with SQL; where that ends at the damage, search the bytes themselves."""
    named = _asked(path, _sources) or _found_sources(path)
    return Known(
        files=tuple(each for each in named if Path(each).is_file()),
        streams={name: key for name, key in named.items() if name.startswith(_STREAMS)},
        passed_by=_asked(path, imports.noted) or _found_ranges(path),
    )


def _asked(path: Path, question: Callable[[sqlite3.Connection], dict[str, T]]) -> dict[str, T]:
    # What was committed last is in the log beside it, as long as nobody has emptied that.
    logged = path.with_name(f"{path.name}-wal").exists()
    for mode in ("mode=ro", "mode=ro&immutable=1") if logged else ("mode=ro&immutable=1",):
        with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
            uri = f"{path.absolute().as_uri()}?{mode}"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
                return question(database)
    return {}


def _sources(database: sqlite3.Connection) -> dict[str, str]:
    return dict(database.execute("SELECT path, conversation FROM sources ORDER BY path").fetchall())


def _found_sources(path: Path) -> dict[str, str]:
    content = _bytes(path)
    files = {_text(each): "" for each in _TRANSCRIPT.findall(content)}
    streams = {_text(each[1]): _text(each[4]) for each in _STREAM.finditer(content)}
    return dict(sorted({**files, **streams}.items()))


def _found_ranges(path: Path) -> dict[str, list[Range]]:
    """Return the marks that lie in the bytes; of one that was written again, the longest."""
    found: dict[str, list[Range]] = {}
    for name, value in _PASSED.findall(_bytes(path)):
        with contextlib.suppress(ValueError, TypeError):
            told = imports.parsed(_text(value))
            key = _text(name)
            found[key] = max(found.get(key, []), told, key=_reach)
    return dict(sorted(found.items()))


def _reach(told: Sequence[Range]) -> int:
    return told[-1].last_sequence if told else 0


def _bytes(path: Path) -> bytes:
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")
