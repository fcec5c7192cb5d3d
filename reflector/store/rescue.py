"""A damaged state database: recognised, moved aside whole, and asked what it still knows."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path

from reflector.core.ambient import Ambient
from reflector.core.errors import BusyError
from reflector.store.locks import Lock
from reflector.store.state import emptied

_TRANSCRIPT = re.compile(rb"/(?:[^\x00-\x1f\x7f\"]{1,200}/)*[^\x00-\x1f\x7f\"/]{1,200}?\.jsonl")
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


def known_sources(path: Path) -> list[str]:
    """Return the transcripts that a damaged database still names and that are still there.

    Asked with SQL first; where that ends at the damage, the bytes themselves are searched.
    """
    found: list[str] = []
    with contextlib.suppress(sqlite3.Error):
        uri = f"file:{path}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            found += [row[0] for row in database.execute("SELECT path FROM sources")]
    if not found:
        named = _TRANSCRIPT.findall(path.read_bytes())
        found = sorted({each.decode("utf-8", "replace") for each in named})
    return [each for each in found if Path(each).is_file()]
