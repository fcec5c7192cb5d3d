"""What the words of two failures of the same cause have in common."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_LONGEST: Final = 512
_COMPARED: Final = 200

_TRY_AGAIN: Final = re.compile(
    r"\bEAGAIN\b|Resource temporarily unavailable|\[Errno (?:11|35)\]|\bos error (?:11|35)\b",
    re.IGNORECASE,
)

_PYTHON_FRAMES: Final = re.compile(
    r"Traceback \(most recent call last\):|File \"[^\"]*\", line \d+(?:, in [\w.<>]+)?"
)
_LAST_ERROR: Final = re.compile(
    r"\b[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Expired)\b(?=:|\s*\Z)"
)
_CALL_FRAME: Final = re.compile(
    r"\bat (?:async )?(?:[\w.$<>\[\] ]{1,80} \([^()]*:\d+\)|(?:file://|node:|/)[^\s()]*:\d+(?=\s|\Z))"
)

_PATH: Final = re.compile(
    r"(?<![\w.~:/])(?:[a-z][a-z0-9+.-]*://|~|\.{1,2})?/[^\s'\"`,;:()\[\]{}<>|]*"
)
_VOLATILE: Final = (
    re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"),
    re.compile(r"\b\d{8}t\d{6}-[0-9a-f]{4,}\b"),
    re.compile(r"\b\d{4}-?\d\d-?\d\d[t ]?\d\d:?\d\d(?::?\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?\b"),
    re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d?\d:\d\d(?::\d\d)?(?:[.,]\d+)?\b"),
    re.compile(r"\b0x[0-9a-f]+\b"),
    re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b"),
    re.compile(r"\b(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{10,}"),
    re.compile(r"\btmp[\w-]{4,}"),
)  # fmt: skip
_NUMBER: Final = re.compile(
    r"(?P<kept>(?<![\w-])(?:code|status|http|signal|errno|exit)[\s:=]{1,3}\d{1,3}\b)|\d+(?:[.,]\d+)*"
)


def says_try_again(detail: str) -> bool:
    """Tell whether the machine itself said that it was short of something for a moment."""
    return bool(_TRY_AGAIN.search(detail))


def fingerprint(name: str, detail: str) -> str:
    """Return 16 hex digits that are equal for two failures of the same cause.

    Left out are line numbers, times, ids, hexadecimal, the volatile part of paths and stack
    frames. Exit, status and error codes stay: they tell causes apart.
    """
    said = f"{name}\n{normalised(detail)}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def normalised(detail: str) -> str:
    """Return a detail without what differs from one occurrence to the next."""
    cut = detail[:_LONGEST]
    if len(cut) == _LONGEST:
        cut = cut.rpartition(" ")[0] or cut  # where the cut fell differs: half a word says nothing
    text = _without_frames(cut).lower()
    text = _PATH.sub(_last_part, text)
    for pattern in _VOLATILE:
        text = pattern.sub("#", text)
    text = _NUMBER.sub(lambda found: found["kept"] or "#", text)
    return " ".join(text.split())[:_COMPARED]


def _without_frames(text: str) -> str:
    """Keep of a stack trace only the error that it ends in. Frames may have lost their lines."""
    frames = list(_PYTHON_FRAMES.finditer(text))
    if frames:
        # A trace without its first line lost it, and half a frame may stand in its place.
        whole = frames[0][0].startswith("Traceback")
        before, after = text[: frames[0].start()] if whole else "", text[frames[-1].end() :]
        errors = list(_LAST_ERROR.finditer(after))
        text = before + (after[errors[-1].start() :] if errors else after)
    return _CALL_FRAME.sub(" ", text)


def _last_part(path: re.Match[str]) -> str:
    """Return the name a path ends in: folders above it move, and name runs and homes."""
    return path[0].rstrip("/").rpartition("/")[2]
