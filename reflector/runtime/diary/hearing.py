"""Turns noted for the diary while they are journaled, in the same transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from reflector.core.ambient import instant
from reflector.core.entry import Entry, Kind
from reflector.harness.reading import Appended, Record
from reflector.store import diary
from reflector.store.state import Connection

_LIVED: Final = timedelta(days=7)
"""How late a turn may be read and still be of the diary: sessions are caught up with."""


class Hearing:
    """Hears what one reading of a source adds. `wanted` off hears nothing.

    Subagents are left out: nobody talks to them.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def heard(self, connection: Connection, record: Record, added: Entry | None, now: str) -> None:
        """Hear one record, and the entry that it added to the journal, None if it added none."""
        if not self._wanted or added is None or not isinstance(record, Appended):
            return
        if added.kind is not Kind.USER or not added.canonical:
            return
        if record.key.agent or record.parent is not None or _long_ago(added.at, now):
            return
        from reflector.pipelines.diary.not_recorded import (  # noqa: PLC0415 - its patterns take milliseconds
            not_recorded,
        )

        kept = not not_recorded(added.text)
        key = str(record.key)
        if not diary.enqueue(connection, key, added, now, kept=kept) and not kept:
            # A message of several blocks: one of them is enough.
            diary.skip_turn(connection, key)


def _long_ago(at: str, now: str) -> bool:
    """Tell whether a turn was over long before it was journaled: history, and not lived together."""
    return bool(at) and instant(now) - instant(at) > _LIVED
