"""What is wrong with a diary: where it could go, what of it cannot be read, what was not taken in."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.errors import ReflectorError
from reflector.runtime.diary import remotes
from reflector.runtime.diary.repository import Repository, enabled
from reflector.runtime.wiring import Context

_SHOWN = 5


def troubles(context: Context) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, each with the next step. Nothing is changed, hand edits are not taken in."""
    if away := remotes.trouble(context):
        yield away
    repository = Repository(context)
    if repository.half_burned:
        yield "A burning of the diary was cut off.", "`reflector diary burn --yes` ends it."
    try:
        diary = repository.read(adopt=False)
    except ReflectorError as error:
        yield error.message, error.hint
        return
    if diary.damaged:
        named = ", ".join(diary.damaged[:_SHOWN])
        more = len(diary.damaged) - _SHOWN
        yield (
            f"Files of the diary cannot be read: {named}{f' and {more} more' if more > 0 else ''}.",
            f"They stay as they are; `git -C {repository.path} log` finds what they were.",
        )
    if enabled(context):
        yield from (
            (each, "Mend that; until then the diary says what it said before.")
            for each in repository.untaken()
        )
