"""What a run's end says about the cause: whose fault it is, and whether trying again can help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from reflector.core.run import Outcome, Reason

Scope = Literal["provider", "content"]
"""Who is to blame: the provider (and the machine), or what the run read and wrote."""


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
    # Only when something failed: an event must not wait for these patterns to be compiled.
    from reflector.core.fingerprint import fingerprint, says_try_again  # noqa: PLC0415

    retryable = kind.retryable
    if reason is Reason.SPAWN_FAILED:
        retryable = says_try_again(detail)
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
