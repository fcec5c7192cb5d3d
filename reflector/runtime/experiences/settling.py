"""What may no longer be written down when a run of extraction is to be merged.

Cursor, back-off and what is set aside follow its end in `store.aftermath`, with the settlement.
"""

from __future__ import annotations

from reflector.core.run import Run
from reflector.runtime.experiences.names import PIPELINE
from reflector.store import journal
from reflector.store.state import Connection


def withdrawn(connection: Connection, run: Run) -> bool:
    """Tell whether a person hid or forgot meanwhile the conversation that a run read."""
    if run.request.pipeline != PIPELINE:
        return False
    found = (journal.conversation(connection, each.conversation) for each in run.snapshots)
    return any(each is None or each.hidden for each in found)
