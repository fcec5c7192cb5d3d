"""Turns that a person asked in plain words not to record: no pipeline reads them."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.entry import Entry, Kind
from reflector.pipelines.diary.not_recorded import not_recorded


def recorded(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries without such turns: the message, and all that follows up to the next one.

    The journal keeps them, unlike what follows `#norecord`: a sentence can be understood wrongly.
    """
    off = {
        each.message_id for each in entries if each.kind is Kind.USER and not_recorded(each.text)
    }
    kept: list[Entry] = []
    left_out = False
    for each in entries:
        if each.kind is Kind.USER:
            left_out = each.message_id in off
        if not left_out:
            kept.append(each)
    return kept
