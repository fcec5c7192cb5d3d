"""What the scheduler is told and what it answers: events, settings, state, requests, decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from reflector.core.park import Parked, ParkState, Watching
from reflector.core.run import Request
from reflector.core.snapshot import Mode, Snapshot


@dataclass(frozen=True, slots=True)
class Engine:
    """Who would edit the memory. `rules` can neither dream nor spend money."""

    name: str
    model: str = ""
    can_dream: bool = True
    calls_model: bool = True


# Events


@dataclass(frozen=True, slots=True)
class Settled:
    """An agent's turn ended, well or not."""

    success: bool
    origin: str = "event"


@dataclass(frozen=True, slots=True)
class CompactionAccepted:
    """A conversation was compacted at `boundary`, the id of the row that says so."""

    conversation: str
    boundary: str


@dataclass(frozen=True, slots=True)
class Manual:
    """A person asks for a run.

    No `conversation_ids`: all with something new. `recent_n` replays that many steps of each,
    `ranges` replays recorded ranges; both move no cursor. `target` is the only document that a
    dream may change. No `engine`: the one of the settings.
    """

    origin: str
    pipeline: str = "reflection"
    focus: str = ""
    recent_n: int = 0
    conversation_ids: tuple[str, ...] = ()
    ranges: tuple[Snapshot, ...] = ()
    target: str = ""
    engine: Engine | None = None
    dry_run: bool = False
    over_budget: bool = False


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is going on; time for a dream, perhaps."""

    origin: str = "idle"


@dataclass(frozen=True, slots=True)
class Shutdown:
    """A session ends. No `conversation`: the whole program that embeds us does."""

    conversation: str = ""
    origin: str = "event"


Event = Settled | CompactionAccepted | Manual | Idle | Shutdown


# What it knows


@dataclass(frozen=True, slots=True)
class Standing:
    """One main conversation that is not hidden. Subagents' are not among them.

    `has_new`: a canonical row waits behind the cursor. `boundaries`: those it was ever marked
    with, for one mark each. `blocked`: a kept tip of it waits for the memory to be free. `budget`:
    its snapshot budget while it is under suspicion, in bytes.
    """

    conversation: str
    steps_since_reflection: int = 0
    unreflected_bytes: int = 0
    has_new: bool = False
    pending_compaction: str | None = None
    boundaries: frozenset[str] = frozenset()
    next_eligible_at: datetime | None = None
    consecutive_failures: int = 0
    blocked: bool = False
    budget: int | None = None
    last_entry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One conversation's part of a request. `size` is an estimate in bytes.

    An `advance` is cut from the cursor when its run starts; a `replay` is `range`, or the last
    `recent_n` steps of the request, or what a dream reads, and never moves a cursor.
    """

    conversation: str
    mode: Mode
    size: int
    range: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that was asked for, with all that it needs to wait, to be merged and to start."""

    request: Request
    at: datetime
    parts: tuple[Part, ...] = ()
    recent_n: int = 0
    over_budget: bool = False
    calls_model: bool = True

    @property
    def automatic(self) -> bool:
        """Whether no person asked for it."""
        return self.request.trigger != "manual"


@dataclass(frozen=True, slots=True)
class Day:
    """What was used today: runs that called a model by slot, dollars, and when the day ends."""

    ends_at: datetime
    runs: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class SchedulerState:
    """Everything that a decision rests on, read in the transaction that writes the decision.

    `active` names the pipeline that holds each taken slot, `pending` the waiting request of each
    pipeline. `standings` come oldest first. `pressure`: the system tier is over its budget;
    `memory_changed`: since the last dream, so that pressure alone never dreams the same twice.
    `held` says why no automatic run may start at all, such as `journal_lost`. `parent_dirty`: the
    last run could not begin because of a person's work in the memory, and that is still as it was.
    """

    engine: Engine
    day: Day
    standings: tuple[Standing, ...] = ()
    active: Mapping[str, str] = field(default_factory=dict)
    pending: Mapping[str, Asked] = field(default_factory=dict)
    park: ParkState = field(default_factory=Watching)
    last_dream_at: datetime | None = None
    pressure: bool = False
    memory_changed: bool = True
    held: str = ""
    parent_dirty: bool = False

    @property
    def stopped(self) -> Why | None:
        """Why no automatic run may start at all, None if one may."""
        if self.held:
            return Why.HELD
        return Why.PARENT_DIRTY if self.parent_dirty else None


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """The settings that decide. Sizes in bytes; `step_count` 0 turns that trigger off."""

    step_count: int = 25
    on_compaction: bool = True
    snapshot_max_bytes: int = 131_072
    reflection_enabled: bool = True
    dream_enabled: bool = True
    dream_idle_minutes: int = 30
    dream_min_hours_between: int = 24
    dream_max_conversations: int = 5
    pending_conversations: int = 32
    pending_bytes: int = 4 * 1024 * 1024
    day_max_runs: int = 40
    day_max_cost_usd: float = 2.0


# What it answers


class Why(StrEnum):
    """Why nothing was asked for, or what was asked for is refused or dropped. Closed."""

    FAILED_TURN = "failed_turn"
    BELOW_THRESHOLD = "below_threshold"
    NOTHING_NEW = "nothing_new"
    ALREADY_MARKED = "already_marked"
    UNKNOWN_CONVERSATION = "unknown_conversation"
    NOT_IDLE = "not_idle"
    TOO_SOON = "too_soon"
    DISABLED = "disabled"
    CANNOT_DREAM = "cannot_dream"
    ACTIVE = "active"
    PENDING = "pending"
    BACK_OFF = "back_off"
    KEPT_TIP = "kept_tip"
    PARKED = "parked"
    HELD = "held"
    PARENT_DIRTY = "parent_dirty"
    DAY_RUNS = "day_runs"
    DAY_COST = "day_cost"
    BUSY = "busy"
    CAPPED = "capped"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Dropped:
    """Parts of a request that will not run for it. Of an `advance` the cursor brings them back."""

    asked: Asked
    why: Why
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Note the boundary on the conversation; nothing starts."""

    conversation: str
    boundary: str


@dataclass(frozen=True, slots=True)
class Reserve:
    """The request becomes active now. `store`: save this park state in the same transaction."""

    asked: Asked
    store: Parked | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """The request is the pending one of its pipeline now; then promote if the slot is free."""

    asked: Asked
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Refuse:
    """A run was due or asked for and may not start. `until`: when asking again may help."""

    why: Why
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """No run is due."""

    why: Why


Decision = Mark | Reserve | Queue | Refuse | Nothing


@dataclass(frozen=True, slots=True)
class Promotion:
    """What becomes of the pending requests of a free slot: launch one, drop some, keep the rest."""

    launch: Asked | None = None
    dropped: tuple[Dropped, ...] = ()
    kept: tuple[Asked, ...] = ()
