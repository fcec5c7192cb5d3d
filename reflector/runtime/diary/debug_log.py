"""Whether it remembers or invents, for the person who wants to know: ids and numbers, never a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.pipelines.diary.recalling import Recalled
from reflector.runtime.wiring import Context

SETTING = "diary.debug_log"


def place(context: Context) -> Path:
    """Return the file."""
    return context.agent.path / "logs" / "diary.log"


def note(context: Context, conversation: str, turn: int, found: Sequence[Recalled]) -> None:
    """Note what came to mind in a turn, also that nothing did; off by default."""
    if not context.settings.flag(SETTING):
        return
    from reflector.runtime import log  # noqa: PLC0415 - for those alone who want to know

    items = [
        {
            "id": each.entry.id,
            "score": round(each.score, 4),
            "similarity": round(each.similarity, 4),
        }
        for each in found
    ]
    try:
        with log.opened(place(context), identity=context.agent.identity) as logger:
            logger.info(log.ENTRY_RECALLED, conversation=conversation, turn=turn, items=items)
    except ReflectorError:
        return  # a log that cannot be written keeps nobody from remembering
