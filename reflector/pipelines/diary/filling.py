"""One section within its room: as many of its lines as fit, none starved by the one before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflector.memory.budget import estimate_tokens
from reflector.memory.sections import joined
from reflector.pipelines.diary.sections import SHARES, Line, Passage

_TASTE = 40
_SHORTEST = 12
_SENTENCE_END = re.compile(r"[.!?…][\"”’)]?(?= )|[。！？…][」』”）]?")


def cost(text: str) -> int:
    """Return the tokens of a text; those of texts together are never more than their sum."""
    return estimate_tokens(text)


def size(passage: Passage) -> int:
    """Return what a section would take if it were shown whole."""
    most = SHARES[passage.name].line
    return _heading(passage) + sum(min(_line(each), most or _line(each)) for each in passage.lines)


def filled(passage: Passage, room: int) -> tuple[str, int]:
    """Return the section's text and how many lines are left out or cut; "" when nothing fits.

    Lines are cut behind a sentence where that keeps enough of them, else between two words.
    """
    left = room - _heading(passage)
    most = SHARES[passage.name].line
    kept: list[Line] = []
    whole = 0
    tastes = _affordable(passage.lines, left)
    wanted = [min(_line(each), most or _line(each)) for each in passage.lines[: len(tastes)]]
    rooms = _shared(wanted, left)
    spare = 0
    for at, line in enumerate(passage.lines[: len(tastes)]):
        own = left - sum(tastes[at + 1 :])
        if passage.fair:
            own = min(own, max(rooms[at] + spare, tastes[at]))
        text = _cut(line, min(own, most) if most else own)
        takes = cost(text + "\n") if text else 0
        spare = max(0, spare + rooms[at] - takes)
        left -= takes
        if not text:
            continue
        kept.append(Line(text, lead=line.lead))
        whole += text == line.text
    while kept and kept[-1].lead:
        whole -= 1
        kept.pop()
    if not kept:
        return "", len(passage.lines)
    heading = [passage.heading] if passage.heading else []
    return joined([*heading, *(each.text for each in kept)]), len(passage.lines) - whole


def _affordable(lines: Sequence[Line], left: int) -> list[int]:
    """Return what the first lines take at least, as many as there is room for."""
    tastes: list[int] = []
    for line in lines:
        taste = min(_line(line), _TASTE)
        if taste > left and tastes:
            break
        tastes.append(min(taste, max(left, 0)))
        left -= taste
    return tastes


def _shared(wanted: Sequence[int], left: int) -> list[int]:
    """Share room among lines: none gets more than it wants while another is cut."""
    rooms = [0] * len(wanted)
    for taken, at in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        rooms[at] = min(wanted[at], max(left, 0) // (len(wanted) - taken))
        left -= rooms[at]
    return rooms


def _heading(passage: Passage) -> int:
    return cost(passage.heading + "\n") if passage.heading else 0


def _line(line: Line) -> int:
    return cost(line.text + "\n")


def _cut(line: Line, room: int) -> str:
    """Return as much of a line as the room holds; "" when that says nothing."""
    if _line(line) <= room:
        return line.text
    low, high = 0, len(line.text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = cost(f"{line.text[:middle]}…\n") <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    shown = line.text[:low]
    ends = [found.end() for found in _SENTENCE_END.finditer(line.text, 0, low)]
    if ends and ends[-1] * 2 >= low:
        return shown[: ends[-1]]
    if " " in shown[2:] and line.text[low : low + 1] not in ("", " "):
        word = shown.rfind(" ")
        # Scripts without blanks have no word to end at.
        shown = shown[:word] if word * 2 >= low else shown
    shown = shown.rstrip(" ,;:，；：、")
    return f"{shown}…" if len(shown) >= _SHORTEST else ""
