"""What is aged out: journal text after its days; run folders and kept tips go with the sweep."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from reflector.core.ambient import stamp
from reflector.core.errors import BusyError
from reflector.runtime.wiring import Context
from reflector.store import journal, recall


def age_out(context: Context) -> int:
    """Empty the texts of consumed entries that are older than `journal.keep_days`; count them.

    Ids, kinds and times stay: a ledger row still says what was read, only not the words.
    """
    days = context.settings.number("journal.keep_days")
    if days == 0:
        return 0
    before = stamp(context.ambient.clock.now() - timedelta(days=days))
    with context.state(busy_seconds=30) as state, state.transaction() as connection:
        emptied = journal.age_out(connection, before)
    if emptied:
        # The words stay in an index as long as it is there; what is emptied is not found anyway.
        with contextlib.suppress(BusyError):
            recall.drop(context.agent, context.ambient.clock, recall.JOURNAL)
    return emptied
