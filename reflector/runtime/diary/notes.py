"""A note for a later self: kept before the call returns, and nobody else is in it by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reflector.core.days import local_day
from reflector.core.diary import Diary, Entry
from reflector.core.errors import UsageError
from reflector.core.visible import visible
from reflector.runtime.diary.privacy import private
from reflector.runtime.diary.repository import Repository
from reflector.runtime.wiring import Context
from reflector.store.disk import is_line

LONGEST = 1000
"""Characters of a note, at most: it is a judgement, not a report."""

_LONGEST_NAME = 512
_SALIENCE = 0.6
_REASON = "note something for a later self"


@dataclass(frozen=True, slots=True)
class Noted:
    """What was kept. `commit` is None when the diary said so already."""

    id: str
    text: str
    commit: str | None


def note(context: Context, text: str, *, conversation: str = "", turn: int | None = None) -> Noted:
    """Keep a judgement in the diary by one commit; it is there when this returns.

    Raises UsageError for what is no note, DiaryOffError when no diary is kept.
    """
    named = conversation.encode("utf-8", "replace").decode()
    if len(named) > _LONGEST_NAME or (named and not is_line(named)):
        raise UsageError(
            "That is no name of a conversation.", hint="`reflector status` shows them."
        )
    entry = _entry(context, _fit(context, text), named, turn)
    kept = [entry]

    def change(diary: Diary) -> Diary:
        twin = _twin(diary, entry.text)
        kept[0] = twin or entry
        if twin:
            return diary
        return replace(diary, entries={**diary.entries, entry.id: entry})

    commit = Repository(context).change(_REASON, "note", change)
    return Noted(kept[0].id, kept[0].text, commit)


def _fit(context: Context, text: str) -> str:
    said = visible(text)
    if not said or len(said) > LONGEST or not is_line(said):
        raise UsageError(
            f"A note is one to {LONGEST} characters of plain text; this has {len(said)}.",
            hint="Say in a sentence or two what a later self should know.",
        )
    return private(context, said)


def _entry(context: Context, text: str, conversation: str, turn: int | None) -> Entry:
    now = context.ambient.now()
    today = local_day(context.ambient.clock.now()).isoformat()
    return Entry(
        id=context.ambient.chance.hex(16),
        date=today,
        text=text,
        kind="note",
        salience=_SALIENCE,
        conversation=conversation,
        turn=turn,
        created_at=now,
        updated_at=now,
        reinforced_on=today,
    )


def _twin(diary: Diary, text: str) -> Entry | None:
    notes = (each for each in diary.entries.values() if each.kind == "note")
    return next((each for each in notes if each.text == text), None)
