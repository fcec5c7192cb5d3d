"""Where a query's terms stand in a text: which of them, and the passage that shows the most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from reflector.core.cleaning import clean
from reflector.core.tokens import satisfied, terms

EXCERPT = 240
"""Characters of an excerpt, at most."""

_PIECE = 160
_PIECES = 400
_SHOWN = 8
_LONGEST_WORD = 60
_SENTENCE = re.compile(r"[^\n。！？]+[。！？]?")
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def matched(text: str, wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Return which of the wanted words a text has, each once, in the order wanted.

    `wanted` maps terms to words, as `asked` returns them.
    """
    present = set(terms(text))
    found = (word for term, word in wanted.items() if satisfied(term, present))
    return tuple(dict.fromkeys(found))


def why(fields: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Say which words stand in which field, "" when none does: `path: a; text: a, b`."""
    told = {name: matched(text, wanted) for name, text in fields.items()}
    return "; ".join(f"{name}: {_listed(found)}" for name, found in told.items() if found)


def _listed(found: Sequence[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    shown = (word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…" for word in found)
    return ", ".join(islice(shown, _SHOWN)) + more


def excerpt(text: str, wanted: Mapping[str, str], limit: int = EXCERPT) -> str:
    """Return the passage of a text with the most wanted terms, on one line and without secrets.

    At most `limit` characters; an ellipsis stands where something is left out.
    """
    # Before anything is cut: half a key escapes its rule.
    pieces = _pieces(clean(text))
    if not pieces:
        return ""
    scored = [len(matched(piece, wanted)) if wanted else 0 for piece in pieces]
    best = max(range(len(pieces)), key=lambda at: (scored[at], -at))
    first, last, size = best, best, len(pieces[best])
    while last + 1 < len(pieces) and size + len(pieces[last + 1]) + 1 <= limit - 2:
        last += 1
        size += len(pieces[last]) + 1
    shown = " ".join(pieces[first : last + 1])
    front = "…" if first else ""
    if last + 1 < len(pieces) or len(front + shown) > limit:
        shown = shown[: limit - len(front) - 1].rstrip() + "…"
    return front + shown


def _pieces(text: str) -> list[str]:
    """Cut a text at its lines and sentences, and long ones at blanks."""
    lines = (" ".join(_UNSHOWABLE.sub(" ", each[0]).split()) for each in _SENTENCE.finditer(text))
    found: list[str] = []
    for line in lines:
        found += _parts(line)
        if len(found) > _PIECES:
            break
    return found


def _parts(line: str) -> Iterable[str]:
    while len(line) > _PIECE:
        blank = line.rfind(" ", _PIECE // 2, _PIECE)
        cut = blank if blank > 0 else _PIECE
        yield line[:cut].rstrip()
        line = line[cut:].lstrip()
    if line:
        yield line


def without_repeat(about: str, text: str) -> str:
    """Return what a description says that a text does not begin with anyway: of a fact, its subject."""
    whole = " ".join(text.removesuffix("…").split())
    subject, colon, head = about.partition(": ")
    for said, rest in ((about, ""), (head, subject if colon else about)):
        begins = " ".join(said.removesuffix("…").split())
        # Both may be cut: whichever is shorter is what they have in common.
        if begins and whole and (whole.startswith(begins) or begins.startswith(whole)):
            return rest
    return about
