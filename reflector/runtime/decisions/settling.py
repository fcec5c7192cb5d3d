"""What the end of a consolidation means for the ledger, in the transaction that records the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reflector.core import consolidation
from reflector.core.ambient import instant
from reflector.core.decision import FILES, Told
from reflector.core.run import Outcome, Run, Settlement, consumes
from reflector.pipelines.decisions.edits import Changed
from reflector.runtime.decisions.names import PIPELINE
from reflector.runtime.decisions.planning import attempts, save_attempts
from reflector.store import bullets, decisions, scheduling
from reflector.store.disk import write_atomic
from reflector.store.state import Connection

_CHANGES = "changes.json"
_LARGEST = 4_000_000
_FOLDER = "projects/"


def bank_of_run(run: Run) -> str:
    """Return the bank whose files a run may change."""
    return run.request.target.removeprefix(_FOLDER)


def target_of(bank: str) -> str:
    """Return what a run's request names as its target."""
    return f"{_FOLDER}{bank}"


def note_deltas(connection: Connection, run_id: str, ids: Sequence[int]) -> None:
    """Remember which deltas a run takes, in the transaction that reserves it."""
    scheduling.set_mark(connection, _name(run_id), json.dumps(list(ids)))


def deltas_of(connection: Connection, run_id: str) -> tuple[int, ...]:
    """Return the deltas that a run takes."""
    found = json.loads(scheduling.mark(connection, _name(run_id)) or "[]")
    return tuple(each for each in found if type(each) is int)


def withdrawn(connection: Connection, run: Run) -> bool:
    """Tell whether a person cleared, moved or forgot meanwhile what a run is to write down."""
    if run.request.pipeline != PIPELINE:
        return False
    waiting = {one.id for one in decisions.ledger(connection, bank_of_run(run), waiting=True)}
    return not waiting.issuperset(deltas_of(connection, run.id))


def _name(run_id: str) -> str:
    return f"deltas of {run_id}"


def write_changes(out: Path, changes: Sequence[Changed]) -> None:
    """Tell the supervisor what became of which bullet, and on which deltas that rests."""
    rows = json.dumps([asdict(change) for change in changes], ensure_ascii=False)
    write_atomic(out / _CHANGES, rows.encode("utf-8", "replace"))


def read_changes(folder: Path) -> tuple[Changed, ...]:
    """Return what a run's child wrote; nothing when it wrote nothing that can be read."""
    place = folder / "out" / _CHANGES
    try:
        if place.is_symlink() or place.stat().st_size > _LARGEST:
            return ()
        return tuple(map(_changed, json.loads(place.read_bytes())))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _changed(row: dict[str, Any]) -> Changed:
    file = next(each for each in (*FILES, None) if each in (row["file"], None))
    texts = (row["old"], row["new"], row["reason"])
    ids = row["deltas"]
    if file is None or not all(isinstance(text, str) for text in texts):
        raise ValueError
    if not all(type(each) is int for each in ids):
        raise ValueError
    return Changed(file, row["old"], row["new"], tuple(ids), row["reason"])


def settled(
    connection: Connection, run: Run, end: Settlement, changes: Sequence[Changed], now: str
) -> None:
    """Follow the end of a consolidation; any other run changes nothing.

    What consumes marks the deltas of the run, and a merge its bullets. Everything else lets the
    bank wait, a person's stop alone does not.
    """
    if run.request.pipeline != PIPELINE or run.request.dry_run:
        return
    bank = bank_of_run(run)
    if consumes(end.outcome):
        decisions.consume(connection, deltas_of(connection, run.id), run.id, now)
        scheduling.clear_mark(connection, _name(run.id))
        save_attempts(connection, bank, consolidation.succeeded(instant(now)))
    elif end.outcome is not Outcome.CANCELLED:
        before = attempts(connection, bank)
        save_attempts(connection, bank, consolidation.failed(before, instant(now)))
    if end.outcome is Outcome.MERGED:
        for change in changes:
            told = Told(0, bank, change.file, change.new, change.deltas, run.id, now)
            bullets.record(connection, told, change.old)
