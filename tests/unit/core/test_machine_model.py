from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reflector.core import park
from reflector.core.backoff import budget, eligible
from reflector.core.completion import Completed, Ended, Record, complete
from reflector.core.failure import Failure
from reflector.core.machine import PRIORITY, SLOT, evaluate
from reflector.core.pending import capped, merge, take_for_run
from reflector.core.promotion import promote
from reflector.core.run import Outcome, Reason, consumes
from reflector.core.schedule import (
    Asked,
    CompactionAccepted,
    Day,
    Decision,
    Dropped,
    Engine,
    Event,
    Idle,
    Manual,
    Mark,
    Part,
    Queue,
    Refuse,
    Reserve,
    SchedulerConfig,
    SchedulerState,
    Settled,
    Shutdown,
    Standing,
    Why,
)
from reflector.core.snapshot import Row, Snapshot, cut

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
EXAMPLES, STEPS = (1300, 50) if DEEP else (12, 30)

MODEL = Engine("anthropic", "m")
RULES = Engine("rules", can_dream=False, calls_model=False)
CONFIG = SchedulerConfig(
    step_count=4,
    snapshot_max_bytes=1000,
    pending_conversations=3,
    pending_bytes=2500,
    day_max_runs=12,
    dream_max_conversations=2,
)
RUN_BYTES = 1500
SLOT_OF_ALL = "reflection"
NAMES = tuple(f"h/{letter}" for letter in "abcdef")
HOUR = timedelta(hours=1)

ENDS: tuple[tuple[Outcome, Reason | None], ...] = (
    *((outcome, None) for outcome in Outcome if outcome is not Outcome.DRY_RUN),
    *((Outcome.FAILED, reason) for reason in Reason),
    (Outcome.MERGED, None),
    (Outcome.NO_CHANGES, None),
    (Outcome.MERGED, None),
)
MANUAL_MAY_BE_TOLD = {
    Why.NOTHING_NEW,
    Why.KEPT_TIP,
    Why.DAY_RUNS,
    Why.DAY_COST,
    Why.CANNOT_DREAM,
    Why.BUSY,
}


@dataclass
class Talk:
    """One conversation: its rows (size, canonical, poison), its cursor and what became of rows."""

    rows: list[tuple[int, bool, bool]] = field(default_factory=list)
    cursor: int = 0
    consumed: Counter[int] = field(default_factory=Counter)
    set_aside: Counter[int] = field(default_factory=Counter)
    pending_compaction: tuple[str, int] | None = None
    boundaries: set[str] = field(default_factory=set)
    last_at: datetime | None = None
    blocked: bool = False
    hidden: bool = False
    record: Record = field(default_factory=Record)

    def waiting(self) -> list[tuple[int, bool, bool]]:
        return self.rows[self.cursor :]

    def has_new(self) -> bool:
        return any(canonical for _, canonical, _ in self.waiting())


@dataclass
class Active:
    run: str
    asked: Asked
    snapshots: tuple[Snapshot, ...]
    smallest: frozenset[str]


class Machine(RuleBasedStateMachine):
    """The store and the supervisor, reduced to what they keep between two decisions."""

    steps: ClassVar[int] = 0
    launches: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.talks = {name: Talk() for name in NAMES}
        self.active: dict[str, Active] = {}
        self.pending: dict[str, Asked] = {}
        self.park: park.ParkState = park.Watching()
        self.engine = MODEL
        self.held = ""
        self.pressure = False
        self.memory_changed = False
        self.last_dream_at: datetime | None = None
        self.day_runs: Counter[str] = Counter()
        self.runs = 0
        self.probes: list[datetime] = []
        self.dreams: list[datetime] = []
        self.streak: list[tuple[Failure, frozenset[str]]] = []
        self.done: list[Snapshot] = []
        self.recovering = False

    # What the store would load

    def standing(self, name: str) -> Standing:
        talk = self.talks[name]
        waiting = talk.waiting()
        suspect = talk.record.suspect
        return Standing(
            name,
            steps_since_reflection=sum(canonical for _, canonical, _ in waiting),
            unreflected_bytes=sum(size for size, _, _ in waiting),
            has_new=talk.has_new(),
            pending_compaction=talk.pending_compaction and talk.pending_compaction[0],
            boundaries=frozenset(talk.boundaries),
            next_eligible_at=talk.record.backoff.next_eligible_at,
            consecutive_failures=talk.record.backoff.consecutive_failures,
            blocked=talk.blocked,
            budget=suspect.budget if suspect else None,
            last_entry_at=talk.last_at,
        )

    def state(self) -> SchedulerState:
        return SchedulerState(
            engine=self.engine,
            day=Day(self.now + HOUR, dict(self.day_runs)),
            standings=tuple(
                self.standing(name)
                for name, talk in self.talks.items()
                if talk.rows and not talk.hidden
            ),
            active={slot: run.asked.request.pipeline for slot, run in self.active.items()},
            pending=dict(self.pending),
            park=self.park,
            last_dream_at=self.last_dream_at,
            pressure=self.pressure,
            memory_changed=self.memory_changed,
            held=self.held,
        )

    # One transaction

    def on(self, event: Event) -> Decision:
        before = self.state()
        waited = dict(self.pending)
        decision = evaluate(before, event, CONFIG, self.now)
        match decision:
            case Mark(name, boundary):
                talk = self.talks[name]
                assert boundary not in talk.boundaries
                talk.boundaries.add(boundary)
                talk.pending_compaction = (boundary, len(talk.rows))
            case Reserve(asked, store):
                assert not self.pending
                self.check_asked(event, asked, ())
                self.launch(asked, store)
            case Queue(asked, dropped):
                self.check_asked(event, asked, dropped)
                old = waited.get(asked.request.pipeline)
                if old:
                    assert keys(old) <= keys(asked) | keys(*(each.asked for each in dropped))
                assert not asked.request.dry_run
                self.pending[asked.request.pipeline] = asked
            case _:
                if isinstance(event, Manual) and isinstance(decision, Refuse):
                    assert decision.why in MANUAL_MAY_BE_TOLD
        if SLOT_OF_ALL not in self.active:
            self.promote()
        return decision

    def promote(self) -> None:
        if not self.pending:
            return
        pending = list(self.pending.values())
        promotion = promote(pending, self.state(), CONFIG, self.now)
        everything = [each.asked for each in promotion.dropped] + list(promotion.kept)
        if promotion.launch:
            everything.append(promotion.launch)
        assert keys(*everything) == keys(*pending), "a part was lost or invented"
        self.pending = {each.request.pipeline: each for each in promotion.kept}
        if isinstance(self.park, park.Parked):
            assert not any(each.automatic for each in promotion.kept)
        if promotion.launch:
            self.launch(promotion.launch, None)
        else:
            assert not promotion.kept, "the slot is free, and nobody is launched"

    def launch(self, asked: Asked, store: park.Parked | None) -> None:
        slot = SLOT[asked.request.pipeline]
        assert slot not in self.active, "two active runs of one slot"
        if asked.automatic:
            self.check_automatic(asked, store)
        else:
            assert store is None
        if asked.calls_model and not asked.over_budget:
            assert self.day_runs[slot] < CONFIG.day_max_runs
        if store:
            self.park = store
        if asked.request.pipeline == "dream":
            assert asked.request.origin
            self.last_dream_at = self.now
            self.memory_changed = False
            self.dreams.append(self.now)
        taken, left = self.cut_all(asked)
        self.ask_again(asked, left)
        self.runs += 1
        self.day_runs[slot] += asked.calls_model
        smallest = frozenset(each.conversation for each in taken if self.is_smallest(each))
        self.active[slot] = Active(f"run-{self.runs}", asked, taken, smallest)
        if not self.recovering:
            Machine.launches["probe" if store else asked.request.trigger] += 1

    def check_automatic(self, asked: Asked, store: park.Parked | None) -> None:
        assert not self.held
        if isinstance(self.park, park.Parked):
            assert store is not None, "an automatic run while parked that is no probe"
            assert len(asked.parts) <= 1
            assert all(self.now - probe >= 6 * HOUR for probe in self.probes)
            assert self.now - self.park.parked_at >= 6 * HOUR
            self.probes.append(self.now)
        else:
            assert store is None
        for part in asked.parts:
            talk = self.talks[part.conversation]
            assert not talk.blocked
            assert not talk.hidden
            if asked.request.pipeline == "reflection":
                assert part.mode == "advance"
                assert eligible(talk.record.backoff.next_eligible_at, self.now)
        if asked.request.pipeline == "dream":
            assert all(self.now - dream >= 24 * HOUR for dream in self.dreams)
            assert self.engine.can_dream

    def check_asked(self, event: Event, asked: Asked, dropped: tuple[Dropped, ...]) -> None:
        there = keys(asked, *(each.asked for each in dropped))
        if not isinstance(event, Manual):
            return
        replays = bool(event.recent_n or event.ranges or event.pipeline == "dream")
        old = self.pending.get(asked.request.pipeline)
        new = keys(asked) - (keys(old) if old else set())
        assert {mode for _, mode, _ in new} <= {"replay" if replays else "advance"}
        if replays:
            return
        wanted = {
            name
            for name, talk in self.talks.items()
            if talk.has_new() and not talk.blocked and not talk.hidden
            if not event.conversation_ids or name in event.conversation_ids
        }
        assert {(name, "advance", None) for name in wanted} <= there

    # What the journal would cut

    def cut_all(self, asked: Asked) -> tuple[tuple[Snapshot, ...], tuple[Snapshot, ...]]:
        found = [self.cut_one(part, asked.recent_n) for part in asked.parts]
        alone = {
            name
            for name, talk in self.talks.items()
            if talk.record.suspect and talk.record.suspect.alone
        }
        snapshots = [each for each in found if each]
        taken, left = take_for_run(snapshots, RUN_BYTES, alone)
        assert Counter((*taken, *left)) == Counter(snapshots)
        assert taken or not snapshots
        assert not any(each.conversation in alone for each in taken) or len(taken) == 1
        assert len(taken) == 1 or sum(each.size for each in taken) <= RUN_BYTES
        return taken, left

    def cut_one(self, part: Part, recent_n: int) -> Snapshot | None:
        if part.range:
            return part.range
        talk, name = self.talks[part.conversation], part.conversation
        if part.mode == "advance":
            bytes_ = budget(talk.record.suspect, f"{name}:{talk.cursor}", CONFIG.snapshot_max_bytes)
            snapshot = self.cut_from(name, talk.cursor, bytes_)
            assert snapshot is not None, "a run with nothing to read"
            return snapshot
        start = max(0, len(talk.rows) - (recent_n or 3))
        found = self.cut_from(name, start, CONFIG.snapshot_max_bytes)
        return replace(found, mode="replay") if found else None

    def cut_from(self, name: str, start: int, max_bytes: int) -> Snapshot | None:
        rows = [
            Row(at, f"{name}:{at}", at, canonical, size)
            for at, (size, canonical, _) in enumerate(self.talks[name].rows)
        ][start:]
        taken = cut(rows, max_bytes)
        if taken is None:
            return None
        left = len(self.talks[name].rows) - 1 - taken.last.sequence
        first, last = taken.first, taken.last
        return Snapshot(
            name,
            first.sequence,
            last.sequence,
            first.entry,
            last.entry,
            taken.entries,
            taken.size,
            left,
            "advance",
        )

    def is_smallest(self, taken: Snapshot) -> bool:
        shortest = self.cut_from(taken.conversation, taken.first_sequence, 1)
        return shortest is not None and shortest.last_sequence == taken.last_sequence

    def ask_again(self, asked: Asked, left: tuple[Snapshot, ...]) -> None:
        """Keep what a full run left of a person's replays: no cursor brings them back."""
        if asked.automatic or asked.request.dry_run:
            return
        parts = tuple(
            Part(each.conversation, "replay", each.size, each)
            for each in left
            if each.mode == "replay"
        )
        pipeline = asked.request.pipeline
        if parts and pipeline == "reflection":
            again, waiting = replace(asked, parts=parts), self.pending.get(pipeline)
            self.pending[pipeline] = capped(merge(waiting, again) if waiting else again, CONFIG)[0]

    # The end of a run

    def finish(
        self, outcome: Outcome, reason: Reason | None, chance: float, *, promotes: bool = True
    ) -> None:
        run = self.active.pop(SLOT_OF_ALL)
        if any(map(self.poisoned, run.snapshots)) and consumes(outcome):
            outcome, reason = Outcome.FAILED, Reason.VALIDATION
        dry = run.asked.request.dry_run
        if dry and consumes(outcome):
            outcome = Outcome.DRY_RUN
        ended = Ended(
            run.run,
            run.asked.request.pipeline,
            run.asked.automatic,
            dry,
            outcome,
            reason,
            f"broke in {run.run} at line {self.runs}",
            run.snapshots,
            run.smallest,
            "s",
        )
        records = {
            each.conversation: self.talks[each.conversation].record for each in run.snapshots
        }
        before = self.park
        done = complete(
            ended, records, before, CONFIG.snapshot_max_bytes, self.now, chance
        )  # fmt: skip
        self.check_park(ended, done, before)
        self.save(ended, done)
        if promotes:
            self.promote()

    def save(self, ended: Ended, done: Completed) -> None:
        self.park = done.park
        for taken in done.consumed:
            assert taken.mode == "advance"
            assert not ended.dry_run
            self.move(taken, self.talks[taken.conversation].consumed)
        for aside in done.set_aside:
            assert len({each.conversation for each in ended.snapshots}) == 1, "an innocent row"
            assert aside.snapshot.conversation in ended.smallest
            self.move(aside.snapshot, self.talks[aside.snapshot.conversation].set_aside)
        for name, record in done.records.items():
            self.talks[name].record = record
        self.memory_changed |= ended.outcome is Outcome.MERGED
        if ended.outcome is Outcome.PARENT_DIRTY and not ended.dry_run:
            for taken in ended.snapshots:
                self.talks[taken.conversation].blocked = True
        self.done = [*self.done[-4:], *ended.snapshots]

    def move(self, taken: Snapshot, where: Counter[int]) -> None:
        talk = self.talks[taken.conversation]
        assert talk.cursor == taken.first_sequence, "rows were skipped or read twice"
        where.update(range(taken.first_sequence, taken.last_sequence + 1))
        talk.cursor = taken.last_sequence + 1
        if talk.pending_compaction and talk.pending_compaction[1] <= talk.cursor:
            talk.pending_compaction = None

    def poisoned(self, taken: Snapshot) -> bool:
        rows = self.talks[taken.conversation].rows
        return any(poison for _, _, poison in rows[taken.first_sequence : taken.last_sequence + 1])

    def check_park(self, ended: Ended, done: Completed, before: park.ParkState) -> None:
        """Judge the park by counting anew all failures since the last success."""
        if consumes(ended.outcome) and not ended.dry_run:
            assert done.park == park.Watching()
            self.streak, self.probes = [], []
            return
        if done.failure is None or not ended.automatic:
            assert (done.park, done.parked) == (before, False)
            return
        read = frozenset(each.conversation for each in ended.snapshots) or frozenset({"memory"})
        self.streak.append((done.failure, read))
        spread = not frozenset.intersection(*(read for _, read in self.streak))
        weight = sum(spread or failure.scope == "provider" for failure, _ in self.streak)
        limit = 1 if done.failure.fatal else 6 if done.failure.retryable else 3
        due = weight >= limit or isinstance(before, park.Unreadable)
        was = isinstance(before, park.Parked)
        assert isinstance(done.park, park.Parked) == (was or due)
        assert done.parked == (due and not was)
        assert park.from_json(park.to_json(done.park)) == done.park
        if done.parked:
            self.probes = []

    # Rules

    @rule(
        name=st.sampled_from(NAMES),
        sizes=st.lists(st.sampled_from([10, 100, 400, 2000]), min_size=1, max_size=6),
        quiet=st.integers(0, 5),
        poison=st.integers(0, 25),
    )
    def append(self, name: str, sizes: list[int], quiet: int, poison: int) -> None:
        rows = [(size, at != quiet, at == poison) for at, size in enumerate(sizes)]
        self.append_rows(name, rows)

    def append_rows(self, name: str, rows: list[tuple[int, bool, bool]]) -> None:
        self.talks[name].rows += rows
        self.talks[name].last_at = self.now

    @rule(name=st.sampled_from(NAMES), boundary=st.sampled_from(["b1", "b2", "b3"]))
    def compaction(self, name: str, boundary: str) -> None:
        self.on(CompactionAccepted(name, boundary))

    @rule(success=st.sampled_from([True, True, True, False]))
    def settled(self, *, success: bool) -> None:
        decision = self.on(Settled(success))
        assert success or not isinstance(decision, Reserve | Queue)

    @rule(name=st.sampled_from(NAMES[:3]), many=st.integers(1, 9), boundary=st.integers(0, 9))
    def turn(self, name: str, many: int, boundary: int) -> None:
        """Let an agent do what it does most: say something, compact perhaps, and settle."""
        self.append_rows(name, [(50, True, False)] * many)
        if boundary < 3:
            self.on(CompactionAccepted(name, f"b{boundary}-{len(self.talks[name].rows)}"))
        self.on(Settled(success=True))

    @rule(name=st.sampled_from(["", *NAMES]))
    def shutdown(self, name: str) -> None:
        self.on(Shutdown(name))

    @rule()
    def idle(self) -> None:
        self.on(Idle())

    @rule(
        names=st.lists(st.sampled_from(NAMES), max_size=3),
        recent=st.sampled_from([0, 0, 0, 2, 5]),
        focus=st.sampled_from(["", "x"]),
        dry=st.sampled_from([False, False, True]),
        over=st.sampled_from([False, False, True]),
        engine=st.sampled_from([None, MODEL, RULES]),
    )
    def manual(self, names: list[str], recent: int, engine: Engine | None, **how: Any) -> None:
        self.on(
            Manual(
                "cli",
                focus=how["focus"],
                recent_n=recent,
                conversation_ids=tuple(names),
                engine=engine,
                dry_run=how["dry"],
                over_budget=how["over"],
            )
        )

    @precondition(lambda self: self.done)
    @rule()
    def retry(self) -> None:
        self.on(Manual("cli", ranges=tuple(self.done[-2:])))

    @rule(document=st.sampled_from(["", "system/a.md", "system/b.md"]))
    def dream(self, document: str) -> None:
        self.on(Manual("cli", pipeline="dream", target=document))

    @precondition(lambda self: SLOT_OF_ALL in self.active)
    @rule(end=st.sampled_from(ENDS), chance=st.floats(0, 1, exclude_max=True))
    def end(self, end: tuple[Outcome, Reason | None], chance: float) -> None:
        self.finish(*end, chance)

    @precondition(lambda self: SLOT_OF_ALL in self.active)
    @rule(reason=st.sampled_from([Reason.OVERLOADED, Reason.AUTH, Reason.SUPERVISOR_DIED]))
    def provider_down(self, reason: Reason) -> None:
        self.finish(Outcome.FAILED, reason, 0.5)

    @precondition(lambda self: SLOT_OF_ALL in self.active)
    @rule(event=st.sampled_from([Settled(success=True), Shutdown(), Idle(), Manual("cli")]))
    def reclaimed(self, event: Event) -> None:
        """Let an event find the active run's owner dead while another request waits."""
        waited = bool(self.pending)
        self.finish(Outcome.FAILED, Reason.SUPERVISOR_DIED, 0.5, promotes=False)
        decision = self.on(event)
        assert not (waited and isinstance(decision, Reserve))

    @rule(passed=st.sampled_from([timedelta(seconds=4), timedelta(minutes=6), HOUR, 7 * HOUR]))
    def tick(self, passed: timedelta) -> None:
        self.now += passed

    @rule()
    def tomorrow(self) -> None:
        self.now += 25 * HOUR
        self.day_runs = Counter()

    @rule(name=st.sampled_from(NAMES), merged=st.booleans())
    def kept_tip_is_settled(self, name: str, *, merged: bool) -> None:
        talk = self.talks[name]
        if not talk.blocked:
            return
        talk.blocked = False
        if merged and talk.has_new():
            taken = self.cut_from(name, talk.cursor, 1)
            assert taken is not None
            if not self.poisoned(taken):
                self.move(taken, talk.consumed)

    @rule(name=st.sampled_from(NAMES), hidden=st.booleans())
    def hide(self, name: str, *, hidden: bool) -> None:
        self.talks[name].hidden = hidden

    @rule(engine=st.sampled_from([MODEL, MODEL, RULES]), settings_now=st.sampled_from(["s", "t"]))
    def start_again(self, engine: Engine, settings_now: str) -> None:
        self.engine = engine
        after = park.at_start(self.park, settings_now)
        if after != self.park:
            assert isinstance(self.park, park.Parked)
            assert self.streak[-1][0].fatal
            self.streak, self.probes = [], []
        self.park = after

    @rule(held=st.sampled_from(["", "", "", "", "journal_lost"]), pressure=st.booleans())
    def circumstances(self, held: str, *, pressure: bool) -> None:
        self.held, self.pressure = held, pressure

    @rule(chosen=st.integers(0, 9))
    def park_is_damaged(self, chosen: int) -> None:
        if chosen:
            return
        self.park = park.from_json("{")
        self.streak, self.probes = [], []

    # What must always be so

    @invariant()
    def count(self) -> None:
        Machine.steps += 1

    @invariant()
    def what_waits_is_capped(self) -> None:
        for pipeline, asked in self.pending.items():
            assert asked.request.pipeline == pipeline
            names = {part.conversation for part in asked.parts}
            assert len(names) <= CONFIG.pending_conversations
            assert len(names) == 1 or sum(p.size for p in asked.parts) <= CONFIG.pending_bytes

    @invariant()
    def nobody_waits_for_a_free_slot(self) -> None:
        assert SLOT_OF_ALL in self.active or not self.pending

    @invariant()
    def every_row_behind_the_cursor_went_exactly_one_way(self) -> None:
        for talk in self.talks.values():
            gone = talk.consumed + talk.set_aside
            assert gone == Counter(range(talk.cursor))

    def teardown(self) -> None:
        """Let everything recover: then every row is reflected, or set aside with its poison."""
        self.held, self.engine, self.recovering = "", MODEL, True
        for talk in self.talks.values():
            talk.hidden = talk.blocked = False
        for _ in range(600):
            if SLOT_OF_ALL in self.active:
                self.finish(Outcome.MERGED, None, 0.5)
                for talk in self.talks.values():
                    talk.blocked = False
            elif any(talk.has_new() for talk in self.talks.values()):
                self.now += 7 * HOUR
                self.day_runs = Counter()
                self.on(Shutdown())
            else:
                break
        assert not any(talk.has_new() for talk in self.talks.values()), "rows were never reflected"
        for talk in self.talks.values():
            poisoned = {at for at, (_, _, poison) in enumerate(talk.rows) if poison}
            assert not poisoned & set(talk.consumed), "poison was taken for reflected"


def keys(*asked: Asked) -> set[tuple[str, str, tuple[str, str] | None]]:
    return {
        (part.conversation, part.mode, _fixed(part.range)) for each in asked for part in each.parts
    }


def _fixed(taken: Snapshot | None) -> tuple[str, str] | None:
    return (taken.first_entry, taken.last_entry) if taken else None


@pytest.mark.slow
@pytest.mark.timeout(1800 if DEEP else 60)
def test_the_machine_keeps_its_promises_whatever_happens(capsys):
    Machine.steps, Machine.launches = 0, Counter()
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
    wanted = 50_000 if DEEP else 200
    assert Machine.steps >= wanted
    if DEEP:
        with capsys.disabled():
            print(f"\n{Machine.steps} steps, launches by trigger: {dict(Machine.launches)}")
        assert set(Machine.launches) >= {*PRIORITY, "probe"} - {"pressure"}
