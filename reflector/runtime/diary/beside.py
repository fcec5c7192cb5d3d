"""What of the diary comes to mind at one prompt, as it is shown beside it."""

from __future__ import annotations

from reflector.core.errors import ReflectorError
from reflector.memory.beside import Group, Piece, mark_of
from reflector.pipelines.diary import block
from reflector.pipelines.diary.recalling import Recalled
from reflector.runtime.diary.shown import recalled, today_of
from reflector.runtime.wiring import Context
from reflector.store import meant

ELEMENT = "it_comes_to_mind"


def group(context: Context, session: str, prompt: str) -> Group:
    """Return the lines; none while no diary is kept, or while it cannot be read.

    `session` is what the harness calls it. What is returned counts as mentioned in this turn.
    """
    try:
        with context.state() as state:
            conversation = meant.of_session(state.connection, session)
        found = recalled(context, prompt, conversation)
    except ReflectorError:  # a prompt goes on whatever is the matter; `doctor` tells of it
        return Group(ELEMENT, ())
    return Group(ELEMENT, tuple(piece for each in found for piece in _pieces(context, each)))


def _pieces(context: Context, found: Recalled) -> list[Piece]:
    nickname = context.settings.text("diary.nickname")
    text = block.comes_to_mind([found], today_of(context), nickname)
    mark = mark_of(found.entry.id, found.entry.text)
    return [Piece(line, mark) for line in text.split("\n") if line.startswith("- ")]
