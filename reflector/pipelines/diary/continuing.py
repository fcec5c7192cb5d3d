"""Continue instead of repeat: which entry goes on, and what of an answer is new to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from reflector.core.comparing import letters
from reflector.core.diary import Entry

MOST_TURNS: Final = 4
MOST_CHARACTERS: Final = 500

_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…]*[\"'”’」』)）]*\s*")


def continued(entries: Iterable[Entry], conversation: str, turn: int) -> Entry | None:
    """Return the entry that a turn goes on with, None when it begins one of its own.

    It is the newest event of the same conversation, if it is at most 4 turns old and shorter than
    500 characters. One whose turn nobody knows is never continued.
    """
    own = [one for one in entries if one.conversation == conversation and one.kind != "note"]
    newest = max(own, key=_age, default=None)
    if newest is None or newest.turn is None:
        return None
    near = 0 <= turn - newest.turn <= MOST_TURNS
    return newest if near and len(newest.text) < MOST_CHARACTERS else None


def _age(entry: Entry) -> tuple[str, int, str]:
    return entry.created_at, entry.turn if entry.turn is not None else -1, entry.id


def only_new(known: str, said: str) -> str:
    """Return what an answer adds to a text: sentences that are in it already are left out."""
    before = letters(known)
    sentences: list[str] = _SENTENCE.findall(said.strip()) or [said]
    return "".join(one for one in sentences if letters(one) and letters(one) not in before).strip()


def appended(entry: Entry, more: str, salience: float, now: str, *, resolved: bool) -> Entry:
    """Return an entry that goes on with what is new; when it was made stays."""
    gap = "" if entry.text[-1:] in "。！？…" or not entry.text else " "
    return replace(
        entry,
        text=entry.text + gap + more,
        salience=max(entry.salience, salience),
        resolved=entry.resolved or resolved,
        updated_at=now,
        version=entry.version + 1,
    )
