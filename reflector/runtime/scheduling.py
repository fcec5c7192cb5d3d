"""Events decided on and written down in one transaction: the scheduler joined to the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reflector.agent.abilities import ABILITIES
from reflector.core import park
from reflector.core.ambient import stamp
from reflector.core.machine import SLOT, evaluate
from reflector.core.promotion import promote as promotion
from reflector.core.run import Run
from reflector.core.schedule import (
    Asked,
    Day,
    Decision,
    Engine,
    Event,
    Idle,
    Mark,
    Nothing,
    Queue,
    Reserve,
    SchedulerConfig,
    SchedulerState,
    Why,
)
from reflector.runtime.settings import Settings
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations, scheduling
from reflector.store.journal import Appender
from reflector.store.locks import Owner
from reflector.store.state import State, storable

LAST_DREAM = "last_dream_at"
DREAM_HEAD = "last_dream_head"
SYSTEM_SHARE = 45

NOBODY = Owner("", "", 0, "")
"""The owner of a run that was reserved for a supervisor that has not confirmed it yet."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a dream's decision asks of the memory: over its share, changed since the last dream."""

    pressure: bool = False
    changed: bool = True


def config_of(settings: Settings) -> SchedulerConfig:
    """Return the settings that decide."""
    return SchedulerConfig(
        step_count=settings.number("trigger.step_count"),
        on_compaction=settings.flag("trigger.on_compaction"),
        snapshot_max_bytes=settings.number("snapshot.max_bytes"),
        reflection_enabled=settings.flag("reflection.enabled"),
        dream_enabled=settings.flag("dream.enabled"),
        dream_idle_minutes=settings.number("dream.idle_minutes"),
        dream_min_hours_between=settings.number("dream.min_hours_between"),
        dream_max_conversations=settings.number("dream.max_conversations"),
        day_max_runs=settings.number("day.max_runs"),
        day_max_cost_usd=settings.money("day.max_cost_usd"),
    )


def engine_of(settings: Settings) -> Engine:
    """Return the engine that a person chose, and what it can do."""
    plain = ABILITIES[settings.text("engine.name")]
    return replace(plain, model=settings.text("engine.model")) if plain.calls_model else plain


def route_settings(settings: Settings) -> str:
    """Return the fingerprint of the settings that a fatal failure may come from."""
    names = ("engine.name", "engine.model", "engine.base_url", "engine.command", "models.small")
    return park.settings_fingerprint({name: settings.text(name) for name in names})


def today(state: State, now: datetime, settings: Settings) -> Day:
    """Return what this identity has used since midnight, local time.

    A run whose price nobody knows counts as the most that one may cost.
    """
    begins = midnight(now)
    ends = begins + timedelta(days=1)
    return scheduling.day(state.connection, stamp(begins), ends, settings.money("run.max_cost_usd"))


def midnight(now: datetime) -> datetime:
    """Return when the day began, local time: limits of the day count from there."""
    return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


class Scheduler:
    """Decides for one identity, each time inside one transaction of its database."""

    def __init__(self, context: Context, state: State, engine: Engine | None = None) -> None:
        """Use the engine of the settings unless another is given."""
        self._context = context
        self._state = state
        self._engine = engine or engine_of(context.settings)
        self._config = config_of(context.settings)

    def handle(self, event: Event, memory: Memory | None = None) -> Decision:
        """Decide on an event and write the decision: reserved, waiting, or nothing.

        A reserved run has no owner yet: whoever takes the slot's presence lock adopts it.
        """
        decision = self._decide(event, memory or Memory())
        if memory is None and isinstance(event, Idle) and decision == Nothing(Why.NOTHING_NEW):
            # Only now: an idle machine must not ask git every half minute.
            decision = self._decide(event, self._memory())
        return decision

    def _decide(self, event: Event, memory: Memory) -> Decision:
        now = self._context.ambient.clock.now()
        with self._state.transaction():
            known = self._known(now, memory)
            decision = evaluate(known, event, self._config, now)
            match decision:
                case Reserve(asked, store):
                    if store is not None:
                        self._save_park(store)
                    self._activate(asked, self._context.ambient.run_id(), now)
                case Queue(asked, _):
                    self._queue(asked)
                case Mark(conversation, boundary):
                    self._mark(conversation, boundary)
                case _:
                    pass
        return decision

    def next_run(self, slot: str, who: Owner) -> Run | None:
        """Take over the run that waits for an owner, else promote the strongest waiting request.

        Only for the holder of the slot's presence lock.
        """
        connection = self._state.connection
        if run := self.take_over(slot, who):
            return run
        now = self._context.ambient.clock.now()
        while scheduling.pending(connection):
            before = len(scheduling.pending(connection))
            with self._state.transaction():
                run_id = self._promote(slot, now)
            if run_id is not None:
                reservations.adopt(self._state, run_id, who, self._context.ambient.now())
                return reservations.find(connection, run_id)
            if len(scheduling.pending(connection)) >= before:
                break
        return None

    def take_over(self, slot: str, who: Owner) -> Run | None:
        """Become the owner of the run that was reserved for a supervisor, if there is one."""
        connection = self._state.connection
        unowned = reservations.unowned(connection, slot)
        if unowned is None:
            return None
        reservations.adopt(self._state, unowned, who, self._context.ambient.now())
        return reservations.find(connection, unowned)

    def waits(self, slot: str, *, tips: bool) -> bool:
        """Tell whether a supervisor would find something to do; `tips`: kept ones count too."""
        connection = self._state.connection
        if reservations.unowned(connection, slot) is not None:
            return True
        if tips and reservations.kept(connection, slot):
            return True
        return any(SLOT[pipeline] == slot for pipeline in scheduling.pending(connection))

    def at_start(self) -> None:
        """Clear a park that other settings caused than those of now."""
        with self._state.transaction() as connection:
            before = scheduling.park_state(connection, self._engine.name)
            after = park.at_start(before, route_settings(self._context.settings))
            if after != before:
                self._save_park(after)

    def _promote(self, slot: str, now: datetime) -> str | None:
        connection = self._state.connection
        waiting = scheduling.pending(connection)
        mine = {p: each for p, each in waiting.items() if SLOT[p] == slot}
        known = self._known(now, Memory())
        chosen = promotion([asked for _, asked in mine.values()], known, self._config, now)
        ended = self._context.ambient.now()
        for dropped in chosen.dropped:
            pipeline = dropped.asked.request.pipeline
            whole = chosen.launch is None or chosen.launch.request.pipeline != pipeline
            if whole and pipeline in mine:
                scheduling.drop(connection, mine[pipeline][0], dropped.why.value, ended)
        if chosen.launch is None:
            return None
        run_id = mine[chosen.launch.request.pipeline][0]
        scheduling.forget_pending(connection, run_id)
        return run_id if self._activate(chosen.launch, run_id, now) else None

    def _activate(self, asked: Asked, run_id: str, now: datetime) -> bool:
        connection = self._state.connection
        settings = self._context.settings
        one, run = settings.number("snapshot.max_bytes"), settings.number("run.max_bytes")
        snapshots = scheduling.cut(connection, asked, one, run)
        if not snapshots and asked.request.pipeline != "dream":
            return False
        slot = SLOT[asked.request.pipeline]
        reservations.reserve(
            connection, run_id, slot, asked.request, snapshots, NOBODY, self._context.ambient.now()
        )
        reservations.note_calls_model(connection, run_id, asked.calls_model)
        if asked.request.pipeline == "dream":
            # Before it starts: a dream that fails or dies must not be tried again at once.
            scheduling.set_mark(connection, LAST_DREAM, now.isoformat())
            scheduling.set_mark(connection, DREAM_HEAD, self._head())
        return True

    def _mark(self, conversation: str, boundary: str) -> None:
        found = journal.conversation(self._state.connection, conversation)
        if found is not None:
            appender = Appender(self._state.connection, self._context.ambient.now())
            appender.mark_boundary(found.row, storable(boundary))

    def _queue(self, asked: Asked) -> None:
        connection = self._state.connection
        waiting = scheduling.pending(connection).get(asked.request.pipeline)
        run_id = waiting[0] if waiting else self._context.ambient.run_id()
        scheduling.queue(connection, run_id, SLOT[asked.request.pipeline], asked)

    def _known(self, now: datetime, memory: Memory) -> SchedulerState:
        connection = self._state.connection
        blocked = frozenset(
            each.conversation
            for run in reservations.kept(connection, SLOT["reflection"])
            for each in run.snapshots
        )
        last = scheduling.mark(connection, LAST_DREAM)
        return SchedulerState(
            engine=self._engine,
            day=today(self._state, now, self._context.settings),
            standings=scheduling.standings(connection, blocked),
            active=scheduling.active(connection),
            pending={p: asked for p, (_, asked) in scheduling.pending(connection).items()},
            park=scheduling.park_state(connection, self._engine.name),
            last_dream_at=datetime.fromisoformat(last) if last else None,
            pressure=memory.pressure,
            memory_changed=memory.changed,
            held=scheduling.mark(connection, scheduling.JOURNAL_LOST) or "",
            parent_dirty=self._still_dirty(),
        )

    def _still_dirty(self) -> bool:
        """Tell whether another run would only say again why the last one could not begin."""
        before = reservations.could_not_begin(self._state.connection, SLOT["reflection"])
        if not before:
            return False
        from reflector.vcs.whereabouts import parent_trouble  # noqa: PLC0415 - seldom needed

        return parent_trouble(self._context.agent.repo / ".git") == before

    def _memory(self) -> Memory:
        # Only a dream asks; a turn that settles must not pay for it.
        from reflector.memory.budget import estimate_tokens  # noqa: PLC0415
        from reflector.vcs.glance import documents, glance, texts  # noqa: PLC0415
        from reflector.vcs.scrub import Scrubbed  # noqa: PLC0415

        context = self._context
        scrubbed, repo = Scrubbed(context.environ), context.agent.repo
        head = glance(scrubbed, repo).head
        if scheduling.mark(self._state.connection, DREAM_HEAD) == head:
            return Memory(changed=False)
        system = [
            path
            for path in documents(scrubbed, repo, head)
            if path.startswith("system/") and path.endswith(".md")
        ]
        tokens = sum(map(estimate_tokens, texts(scrubbed, repo, head, system)))
        share = context.settings.number("prompt.budget_tokens") * SYSTEM_SHARE // 100
        return Memory(pressure=tokens > share)

    def _head(self) -> str:
        from reflector.vcs.glance import glance  # noqa: PLC0415 - as in _memory
        from reflector.vcs.scrub import Scrubbed  # noqa: PLC0415

        return glance(Scrubbed(self._context.environ), self._context.agent.repo).head

    def _save_park(self, state: park.ParkState) -> None:
        scheduling.save_park(self._state.connection, self._engine.name, state)
