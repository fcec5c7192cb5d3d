"""The object that a reply holds, wherever in its text it stands and however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

KEYS = frozenset({"experiences", "memories", "fact", "facts"})
"""What an answer is known by."""

_FENCE = re.compile(r"```[ \t]*[A-Za-z0-9_+-]*\s*(?=[\[{])")
_THOUGHTS = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_START = re.compile(r"[\[{]")
# A string that is never closed is one to the end: nothing is looked for in it again and again.
_BROKEN = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)
_WORK = 4_000_000
"""Characters that are looked at before a text without an answer is given up."""
_TRIES = 2000
_FENCES = 100

_STRICT = json.JSONDecoder()
_LENIENT = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, and whether it had to be cut out, chosen, unwrapped or mended."""

    answer: Mapping[str, Any]
    repaired: bool = False


def find(text: str) -> Found | None:
    """Return the first object in a text that has a key of ours; None where there is none."""
    text = text.removeprefix("\ufeff").strip()
    if (whole := _whole(text, _STRICT)) is not None and known(whole):
        return Found(whole)
    text, thought = _without_thoughts(text)
    if found := _fenced(text):
        return Found(found.answer, found.repaired or thought)
    cut = next(_answers(text, _STRICT), None) or next(_answers(_mended(text), _LENIENT), None)
    return Found(cut, repaired=True) if cut else None


def known(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is an answer at all."""
    return not KEYS.isdisjoint(value)


def _whole(text: str, decoder: json.JSONDecoder) -> Mapping[str, Any] | None:
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _without_thoughts(text: str) -> tuple[str, bool]:
    """Drop what a model thought before it answered: a draft in there is not the answer."""
    thoughts = _THOUGHTS.match(text)
    return (text[thoughts.end() :], True) if thoughts else (text, False)


def _fenced(text: str) -> Found | None:
    """Return the first answer of a text in which one stands in a fence; it need not be closed."""
    past = 0
    for fence in islice(_FENCE.finditer(text), _FENCES):
        if fence.start() < past or text[fence.end()] != "{":
            continue
        value, past = _decoded(text, fence.end(), _STRICT)
        if isinstance(value, Mapping) and known(value) and _closes(text, past):
            before = next(_answers(text[: fence.start()], _STRICT), None)
            several = before is not None or any(_answers(text[past:], _STRICT))
            return Found(value if before is None else before, repaired=several)
        past = 0
    return None


def _closes(text: str, at: int) -> bool:
    rest = text[at : at + 64].lstrip()
    return not rest or rest.startswith("```")


def _answers(text: str, decoder: json.JSONDecoder) -> Iterator[Mapping[str, Any]]:
    """Yield the objects with a key of ours, in the order in which they begin, outer ones first."""
    work, at, tries = 0, 0, 0
    while work < _WORK and tries < _TRIES and (start := _START.search(text, at)):
        tries += 1
        value, end = _decoded(text, start.start(), decoder)
        work += end - start.start() + 1
        if isinstance(value, Mapping) and known(value):
            yield value
            at = end
        else:  # in what is no answer one may stand, a list of one for instance
            at = start.end()


def _decoded(text: str, start: int, decoder: json.JSONDecoder) -> tuple[object, int]:
    """Return a JSON value and where it ends; None, and how far it could be read."""
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start)
    except (ValueError, RecursionError):  # a number or a nesting beyond all measure
        return None, len(text)


def _mended(text: str) -> str:
    """Take out the commas that stand before the end of a list or an object."""
    begins = _START.search(text)
    return _BROKEN.sub(lambda match: match[1] or "", text[begins.start() :]) if begins else ""
