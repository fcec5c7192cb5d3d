"""The comments around an injected memory block: written, found again, impossible to forge."""

from __future__ import annotations

import re
from collections import Counter

from reflector.core.errors import UsageError

_IDENTITY = r"[a-z0-9][a-z0-9-]{0,63}"
_REVISION = r"(?:[0-9a-f]{12}|none)"
# Some JSON writers escape the angle brackets.
_COMMENT = re.compile(
    rf"(?:<|\\u003c)!-- reflector:(?:begin identity=(?P<begin>{_IDENTITY}) revision={_REVISION}"
    rf"|end identity=(?P<end>{_IDENTITY})) --(?:>|\\u003e)",
    re.IGNORECASE,
)
_MENTION = "reflector:"
_START = re.compile("!-- reflector:", re.IGNORECASE)
_ROUNDS = 8

_IDENTITY_ONLY = re.compile(_IDENTITY)
_REVISION_ONLY = re.compile(_REVISION)
# Every element that a block has or will have; a test holds what is compiled against this list.
ELEMENTS = (
    *("self", "memory", "memory_metadata", "external_projection", "skills", "short_memory"),
    *("document", "folder", "projection", "description"),
    *("project_decisions", "diary", "recalled"),
)
_ELEMENT = re.compile(rf"<(?=[!/?]|(?:{'|'.join(ELEMENTS)}|short_memory\w*)\b)", re.IGNORECASE)
# An entity in a document must come out of the block as it was typed.
_ESCAPED_BRACKET = re.compile(r"\\(?=u003c!)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?=(?:#\w+|lt|gt|amp|quot);)", re.IGNORECASE)


def opening(identity: str, revision: str) -> str:
    """Return the comment that opens a block."""
    if not _IDENTITY_ONLY.fullmatch(identity):
        raise UsageError(f"{identity!r} is no identity: use a-z, 0-9 and -.")
    if not _REVISION_ONLY.fullmatch(revision):
        raise UsageError(f"{revision!r} is no revision: 12 hexadecimal digits or none.")
    return f"<!-- reflector:begin identity={identity} revision={revision} -->"


def closing(identity: str) -> str:
    """Return the comment that closes a block."""
    return f"<!-- reflector:end identity={identity} -->"


def strip(text: str, *, typed: bool) -> str:
    """Take every injected block out of a text, nested ones too.

    A block without an end is taken out up to the end of the text, except in text that a person or
    a model typed: there it may be a mention. A closing comment without a block is always removed.
    """
    if _MENTION not in text.lower():
        return text
    for _ in range(_ROUNDS):
        shorter = _without_blocks(text, typed=typed)
        if shorter == text:
            return text
        # Taking a block out can bring the halves of another comment together.
        text = shorter
    # Only made-up text gets here. Breaking what is left costs one pass, taking it out a square.
    return _START.sub("!-- reflector ", _COMMENT.sub("", text))


def _without_blocks(text: str, *, typed: bool) -> str:
    gone: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    open_count: Counter[str] = Counter()
    for match in _COMMENT.finditer(text):
        if begin := match["begin"]:
            opened.append((begin.lower(), match.start()))
            open_count[begin.lower()] += 1
            continue
        start, end_of = match.start(), match["end"].lower()
        # The end of another identity closes nothing: a memory could quote it to get out.
        while open_count[end_of]:
            identity, start = opened.pop()
            open_count[identity] -= 1
            if identity == end_of:
                break
        gone.append((start, match.end()))
    if opened and not typed:
        gone.append((opened[0][1], len(text)))
    return _cut_out(text, gone)


def _cut_out(text: str, gone: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    position = 0
    for start, end in sorted(gone):
        kept.append(text[position:start] if start > position else "")
        position = max(position, end)
    return "".join((*kept, text[position:]))


def escape(text: str) -> str:
    """Make text safe as the body of an element: it can forge no comment and close no element.

    Only what could be taken for markup of ours changes, so `a < b` and `List<int>` stay readable.
    """
    plain = _ESCAPED_BRACKET.sub("&#92;", _ENTITY.sub("&amp;", text))
    return _ELEMENT.sub("&lt;", plain)


def attribute(text: str) -> str:
    """Make text safe inside a double-quoted attribute value."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace('"', "&quot;").replace("\n", "&#10;").replace("\r", "&#13;")
