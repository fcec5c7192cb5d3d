"""A turn that is not recorded: what was said in it never becomes part of the diary."""

from __future__ import annotations

from dataclasses import dataclass

from reflector.core.errors import BusyError, NotFoundError
from reflector.runtime.diary.repository import require_enabled
from reflector.runtime.spooled import drain_spool
from reflector.runtime.wiring import Context
from reflector.store import diary, meant


@dataclass(frozen=True, slots=True)
class Skipped:
    """The turn that is not recorded, counted from 1."""

    conversation: str
    turn: int


def skip(context: Context, conversation: str = "") -> Skipped:
    """Leave the present turn of a conversation out; by default of the one that spoke last.

    What hooks have told is journaled first: else the turn before would be taken for this one.
    Raises NotFoundError when there is no turn, BusyError while others journal.
    """
    require_enabled(context)
    if drain_spool(context).busy:
        raise BusyError(
            "What was just said is being journaled by another process.",
            hint="Run the same command again in a moment.",
        )
    with context.state() as state, state.transaction() as connection:
        key = conversation or meant.conversation(connection)
        turn = diary.skip_turn(connection, key) if key else None
    if turn is None:
        named = f"the conversation {conversation!r}" if conversation else "any conversation"
        raise NotFoundError(
            f"There is no turn of {named} to leave out.",
            hint="`reflector status` shows the conversations; name one with --conversation.",
        )
    return Skipped(key, turn)
