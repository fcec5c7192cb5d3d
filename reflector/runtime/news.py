"""What was learned since the last session, for the person's next notice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from reflector.store import scheduling
from reflector.store.state import Connection

_MARK = "learned"


@dataclass(frozen=True, slots=True)
class News:
    """So many lines were learned, by this run last."""

    things: int
    run: str


def learned_more(connection: Connection, run_id: str, things: int) -> None:
    """Count what a merge brought, inside the caller's transaction."""
    _keep(connection, {**_counts(connection), run_id: things})


def taken_back(connection: Connection, run_id: str) -> None:
    """Say nothing of a run any more: it was undone. Inside the caller's transaction."""
    counts = _counts(connection)
    if counts.pop(run_id, None) is not None:
        _keep(connection, counts)


def news(connection: Connection) -> News | None:
    """Return what nobody was told of yet, None when there is nothing."""
    counts = _counts(connection)
    return News(sum(counts.values()), list(counts)[-1]) if counts else None


def _counts(connection: Connection) -> dict[str, int]:
    """Return how much each run brought, the last run last."""
    return scheduling.counts(connection, _MARK)


def _keep(connection: Connection, counts: dict[str, int]) -> None:
    if counts:
        scheduling.set_mark(connection, _MARK, json.dumps(counts))
    else:
        scheduling.clear_mark(connection, _MARK)


def told_up_to(connection: Connection, run_id: str) -> None:
    """Forget what was told: a session began with everything up to this run."""
    counts = _counts(connection)
    if run_id in counts:
        runs = list(counts)
        _keep(connection, {run: counts[run] for run in runs[runs.index(run_id) + 1 :]})


def told(known: News | None) -> Iterator[tuple[str, str]]:
    """Yield code and sentence of what a session begins with."""
    if known is not None and known.things:
        count = "1 thing" if known.things == 1 else f"{known.things} things"
        yield "learned", f"Learned {count} since the last session: `reflector show {known.run}`."
