"""The pieces of an entry's text: what lets replicas append apart and meet again, nothing twice."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from reflector.core.diary import Entry, Part

_WORD = re.compile(r"[A-Za-z0-9]+|.", re.DOTALL)
_MOST_COMPARED = 4_000_000

FIRST = "0"
"""The id of the part that an entry began with; every other hangs on one that was there before."""


def settled(entry: Entry, like: Sequence[Part] = ()) -> Entry:
    """Return an entry whose parts say what its text says.

    `like` are the parts that it came from, where it was made anew and brought none of its own.
    What stands at the end is a part more; anything else is a new version of the parts it changed.
    """
    if len(entry.parts) == 1 and entry.parts[0].text == entry.text:
        return entry  # nearly every entry, whenever one of them changes
    text = entry.text.encode("utf-8", "replace").decode("utf-8")
    at = entry.updated_at or entry.created_at
    known = ordered(entry.parts or like)
    if not known:
        known = [Part(FIRST, "", entry.created_at or at, 1, text)]
    elif "".join(part.text for part in known) != text:
        known = _changed(known, text, at)
    return replace(entry, text=text, parts=tuple(known))


def pristine(parts: Sequence[Part]) -> bool:
    """Tell whether there is nothing but the first part, as it was written."""
    return len(parts) == 1 and parts[0].version == 1


def ordered(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in the order of the text: each behind what it was appended to.

    What was appended to the same part comes by time. A part that hangs on none is left out.
    """
    after: defaultdict[str, list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (part.at, part.id), reverse=True):
        after[part.after].append(part)
    found: list[Part] = []
    waiting = after.pop("", [])
    while waiting:
        # The earliest lies on top, and what hangs on it is laid above its neighbours.
        part = waiting.pop()
        found.append(part)
        waiting += after.pop(part.id, ())
    return found


def joined(ours: Iterable[Part], theirs: Iterable[Part]) -> tuple[Part, ...]:
    """Return every part that one of them has; of two wordings the later, then the longer."""
    found: dict[str, Part] = {}
    for part in (*ours, *theirs):
        there = found.get(part.id, part)
        newer = max(there, part, key=lambda one: (one.version, len(one.text), one.text))
        found[part.id] = replace(newer, at=min(there.at, part.at))
    return tuple(ordered(found.values()))


def cut(text: str, parts: Sequence[Part], sizes: Sequence[int]) -> tuple[Part, ...]:
    """Give parts their pieces of the text, in code points.

    A text that was changed behind our back has other sizes: it is a new version of the first.
    """
    if sum(sizes) != len(text):
        first, *rest = (replace(part, version=part.version + 1) for part in parts)
        return (replace(first, text=text), *rest)
    pieces = (text[start:end] for start, end in pairwise(accumulate(sizes, initial=0)))
    return tuple(replace(part, text=piece) for part, piece in zip(parts, pieces, strict=True))


def _changed(parts: list[Part], text: str, at: str) -> list[Part]:
    front, start = _front(parts, text)
    if front == len(parts):
        return [*parts, _appended(parts[-1].id, text[start:], at)]
    back, end = len(parts), len(text)
    while back > front and end - start >= len(parts[back - 1].text):
        if not text.endswith(parts[back - 1].text, start, end):
            break
        back -= 1
        end -= len(parts[back].text)
    if back == front > 0:  # put in between two that stayed: the former of them grew
        front -= 1
        start -= len(parts[front].text)
    elif back == front:  # put in front of them all
        end += len(parts[0].text)
        back = 1
    pieces, rest = _dealt([part.text for part in parts[front:back]], text[start:end])
    if rest and back < len(parts):
        pieces[-1] += rest
    worded = list(map(_worded, parts[front:back], pieces))
    done = [*parts[:front], *worded, *parts[back:]]
    return [*done, _appended(done[-1].id, rest, at)] if rest and back == len(parts) else done


def _dealt(old: Sequence[str], text: str) -> tuple[list[str], str]:
    """Give each piece what became of it, and return what was put behind them all.

    Pieces stay apart, as another replica may have changed only one of them.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415 - few texts are ever reworded

    words = [(word, number) for number, piece in enumerate(old) for word in _WORD.findall(piece)]
    new = _WORD.findall(text)
    pieces = [""] * len(old)
    if len(words) * len(new) > _MOST_COMPARED or not words:
        pieces[0] = text
        return pieces, ""
    rest = ""
    matcher = SequenceMatcher(None, [word for word, _ in words], new, autojunk=False)
    for _, first, last, begin, end in matcher.get_opcodes():
        if first == last == len(words):
            rest = "".join(new[begin:end])
            continue
        for number in range(begin, end):
            share = (number - begin) * (last - first) // (end - begin)
            owner = first + share if last > first else max(first - 1, 0)
            pieces[words[owner][1]] += new[number]
    return pieces, rest


def _front(parts: Sequence[Part], text: str) -> tuple[int, int]:
    """Return how many parts the text begins with, and where they end in it."""
    at = 0
    for number, part in enumerate(parts):
        if not text.startswith(part.text, at):
            return number, at
        at += len(part.text)
    return len(parts), at


def _appended(after: str, text: str, at: str) -> Part:
    # Named by what it says: the same words, appended to the same on two sides, are there once.
    name = hashlib.sha256(f"{after}\0{text}".encode()).hexdigest()[:16]
    return Part(name, after, at, 1, text)


def _worded(part: Part, text: str) -> Part:
    return part if part.text == text else replace(part, text=text, version=part.version + 1)
