"""What a run's end says about the cause: its class, and a fingerprint by which it is known again."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from reflector.core.run import Outcome, Reason

Scope = Literal["provider", "content"]
"""Who is to blame: the provider (and the machine), or what the run read and wrote."""

_LONGEST: Final = 512
_COMPARED: Final = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as back-off and park see it. A fatal one is never retryable."""

    fingerprint: str
    retryable: bool
    fatal: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Kind:
    """What a reason means, whatever its detail says."""

    scope: Scope
    retryable: bool = False
    fatal: bool = False


def classify(outcome: Outcome, reason: Reason | None, detail: str) -> Failure | None:
    """Judge how a run ended; None for an end that counts for nothing or is no failure."""
    kind = kind_of(outcome, reason)
    if kind is None:
        return None
    retryable = kind.retryable
    if reason is Reason.SPAWN_FAILED:
        retryable = bool(_TRY_AGAIN.search(detail))
    name = outcome.value if reason is None else reason.value
    return Failure(fingerprint(name, detail), retryable, kind.fatal, kind.scope)


def kind_of(outcome: Outcome, reason: Reason | None) -> Kind | None:
    """Return the class of an end, None when it counts for nothing."""
    match outcome:
        case Outcome.MERGED | Outcome.NO_CHANGES | Outcome.AWAITING_REVIEW | Outcome.DRY_RUN:
            return None
        case Outcome.REJECTED | Outcome.PARENT_DIRTY | Outcome.MERGE_CONFLICT | Outcome.CANCELLED:
            return None
        case Outcome.DIRTY_UNCOMMITTED:
            return Kind("content")
        case Outcome.TIMED_OUT:
            return _kind(reason or Reason.DEADLINE_EXCEEDED)
        case Outcome.FAILED:
            # A failure without a reason is what an unexplained exit of the child is.
            return _kind(reason or Reason.CHILD_EXIT)
        case _:
            assert_never(outcome)


def _kind(reason: Reason) -> Kind | None:
    match reason:
        case Reason.AUTH | Reason.MODEL_NOT_FOUND | Reason.ENGINE_MISSING:
            return Kind("provider", fatal=True)
        case (
            Reason.OVERLOADED
            | Reason.QUOTA
            | Reason.GIT_FAILED
            | Reason.DISK_FULL
            | Reason.SUPERVISOR_DIED
        ):
            return Kind("provider", retryable=True)
        case (
            Reason.SPAWN_FAILED  # retryable when the machine said "try again": see `classify`
            | Reason.SANDBOX_UNAVAILABLE
            | Reason.ENGINE_ERROR
            | Reason.MISSING_WORKTREE
        ):
            return Kind("provider")
        case Reason.CHILD_EXIT | Reason.NO_RESULT | Reason.DEADLINE_EXCEEDED:
            return Kind("content", retryable=True)
        case (
            Reason.REFUSAL
            | Reason.CONTEXT_OVERFLOW
            | Reason.VALIDATION
            | Reason.STUCK
            | Reason.GIT_ADMIN_ALTERED
            | Reason.EMPTY
            | Reason.LIMITS
        ):
            return Kind("content")
        case Reason.INTERRUPTED:
            return None
        case _:
            assert_never(reason)


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
