"""A run as a value: its phases, how it may end, and what its end means."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from reflector.core.snapshot import Snapshot


class Phase(StrEnum):
    """Where a run is. Every move is saved before the effect that it announces."""

    RESERVED = "reserved"
    PROVISIONING = "provisioning"
    RUNNING = "running"
    VALIDATING = "validating"
    INTEGRATING = "integrating"
    INTEGRATED = "integrated"
    COMPLETED = "completed"


class Outcome(StrEnum):
    """How a run ended."""

    MERGED = "merged"
    NO_CHANGES = "no_changes"
    AWAITING_REVIEW = "awaiting_review"
    REJECTED = "rejected"
    PARENT_DIRTY = "parent_dirty"
    MERGE_CONFLICT = "merge_conflict"
    DIRTY_UNCOMMITTED = "dirty_uncommitted"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    DRY_RUN = "dry_run"


class Reason(StrEnum):
    """Why a run did not do its work. Closed."""

    SPAWN_FAILED = "spawn_failed"
    CHILD_EXIT = "child_exit"
    NO_RESULT = "no_result"
    EMPTY = "empty"
    ENGINE_ERROR = "engine_error"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    QUOTA = "quota"
    MODEL_NOT_FOUND = "model_not_found"
    REFUSAL = "refusal"
    CONTEXT_OVERFLOW = "context_overflow"
    STUCK = "stuck"
    LIMITS = "limits"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"
    VALIDATION = "validation"
    GIT_ADMIN_ALTERED = "git_admin_altered"
    GIT_FAILED = "git_failed"
    MISSING_WORKTREE = "missing_worktree"
    DISK_FULL = "disk_full"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    SUPERVISOR_DIED = "supervisor_died"
    INTERRUPTED = "interrupted"
    ENGINE_MISSING = "engine_missing"


NEXT: dict[Phase, tuple[Phase, ...]] = {
    Phase.RESERVED: (Phase.PROVISIONING,),
    Phase.PROVISIONING: (Phase.RUNNING,),
    Phase.RUNNING: (Phase.VALIDATING,),
    Phase.VALIDATING: (Phase.INTEGRATING,),
    Phase.INTEGRATING: (Phase.INTEGRATED,),
    Phase.INTEGRATED: (Phase.COMPLETED,),
    Phase.COMPLETED: (),
}
"""The transition table. Any phase may also end in `completed`, by settling.

A settled run whose validated tip was kept is reopened at `integrating` when it is tried again.
"""

CONSUMING = frozenset({Outcome.MERGED, Outcome.NO_CHANGES, Outcome.AWAITING_REVIEW})
"""The outcomes that move the cursor to the end of the run's snapshots. Nothing else moves it."""

_FAILED = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.MERGE_CONFLICT, Outcome.DIRTY_UNCOMMITTED)
_LATER = (Outcome.PARENT_DIRTY, Outcome.AWAITING_REVIEW)


def advances(now: Phase, then: Phase) -> bool:
    """Tell whether a run may move from `now` to `then`."""
    return then in NEXT[now]


def consumes(outcome: Outcome) -> bool:
    """Tell whether a run with this outcome moves the cursor past what it read."""
    return outcome in CONSUMING


def exit_code(outcome: Outcome) -> int:
    """Return the exit code of a command whose last run ended so."""
    if outcome is Outcome.CANCELLED:
        return 130
    if outcome in _LATER:
        return 4
    return 1 if outcome in _FAILED else 0


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: which pipeline, and why.

    `target` is the only document that a dream may change ("" = the whole memory).
    """

    pipeline: str
    trigger: str
    origin: str
    priority: int
    engine: str
    model: str = ""
    focus: str = ""
    dry_run: bool = False
    target: str = ""


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a run ended, in full. `detail` is at most 512 characters and redacted."""

    outcome: Outcome
    reason: Reason | None = None
    detail: str = ""
    findings: tuple[dict[str, str | int], ...] = ()
    usage: dict[str, int | float | None] = field(default_factory=dict)
    tip: str | None = None
    merge_commit: str | None = None
    kept_ref: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the ledger. `settlement` is None until the run is settled."""

    id: str
    slot: str
    repository: str
    request: Request
    phase: Phase
    snapshots: tuple[Snapshot, ...]
    reserved_at: str
    started_at: str | None = None
    ended_at: str | None = None
    branch: str | None = None
    base: str | None = None
    tip: str | None = None
    merge_commit: str | None = None
    sandboxed: bool = False
    settlement: Settlement | None = None

    @property
    def outcome(self) -> Outcome | None:
        """Return how it ended, None while it is active."""
        return self.settlement.outcome if self.settlement else None
