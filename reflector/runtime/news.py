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
    known = news(connection)
    total = things + (known.things if known else 0)
    scheduling.set_mark(connection, _MARK, json.dumps({"things": total, "run": run_id}))


def news(connection: Connection) -> News | None:
    """Return what nobody was told of yet, None when there is nothing."""
    try:
        fields = json.loads(scheduling.mark(connection, _MARK) or "null")
        return News(int(fields["things"]), str(fields["run"]))
    except (ValueError, KeyError, TypeError):
        return None


def told_all(connection: Connection) -> None:
    """Forget what was told: a session has begun with it."""
    scheduling.clear_mark(connection, _MARK)


def told(known: News | None) -> Iterator[tuple[str, str]]:
    """Yield code and sentence of what a session begins with."""
    if known is not None and known.things:
        count = "1 thing" if known.things == 1 else f"{known.things} things"
        yield "learned", f"Learned {count} since the last session: `reflector show {known.run}`."
