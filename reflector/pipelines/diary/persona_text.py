"""The persona of a diary: its anchored lines, its headings, and what a run may change of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflector.memory.finding import Finding
from reflector.pipelines.diary.records import PERSONA

_OPEN = re.compile(r"\s*<!--\s*anchor\b[^>]*-->\s*\Z", re.IGNORECASE)
_CLOSE = re.compile(r"\s*<!--\s*/anchor\s*-->\s*\Z", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*\Z")


def anchored(text: str) -> tuple[str, ...]:
    """Return the lines between anchor comments, without empty ones."""
    return tuple(line.rstrip() for line, held in _walked(text) if held and line.strip())


def lines(text: str) -> tuple[str, ...]:
    """Return what the persona says, line by line: no comments, no empty lines, no Markdown heads.

    A heading becomes a line that ends with a colon, so that none of them passes for one of ours.
    """
    found = []
    for line in _COMMENT.sub("", _lf(text)).split("\n"):
        said = line.strip()
        bare = said.lstrip("# \t")
        said = f"{bare.rstrip('# ')}:" if bare and _HEADING.match(said) else bare
        if any(map(str.isalnum, said)):
            found.append(said)
    return tuple(found)


def may_change(before: str, after: str) -> Finding | None:
    """Tell why an automatic run may not put one text in place of the other; None when it may.

    A person may change everything, so this is asked of automatic runs alone.
    """
    if anchored(after) != anchored(before):
        message = "Anchored lines of the persona stay as they are; a run may add and change others."
        return Finding(
            "persona-anchor-changed", "error", PERSONA, _first_difference(before, after), message
        )
    after_heads = {each.casefold() for each in _headings(after)}
    for heading in _headings(before):
        # Whatever language a person wrote them in, and not only the two that are shipped.
        if heading.casefold() not in after_heads:
            message = f"The persona keeps its heading “{heading}”."
            return Finding("persona-heading-lost", "error", PERSONA, 0, message)
    return None


def _walked(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it is anchored; an anchor without an end holds to the end."""
    held = False
    for line in _lf(text).removesuffix("\n").split("\n"):
        if _CLOSE.match(line):
            held = False
        yield line, held
        if _OPEN.match(line):
            held = True


def _headings(text: str) -> list[str]:
    found = (_HEADING.match(line.strip()) for line in _lf(text).split("\n"))
    return [each[1] for each in found if each]


def _first_difference(before: str, after: str) -> int:
    """Return the line of `before` whose anchored words are gone, 0 when only some came."""
    left = list(anchored(after))
    for number, (line, held) in enumerate(_walked(before), 1):
        if held and line.strip():
            if not left or left[0] != line.rstrip():
                return number
            left.pop(0)
    return 0


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")
