"""The main job: journal files, then one run and one merge after another until nothing is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from reflector.core.ambient import stamp
from reflector.core.due import over_day
from reflector.core.errors import BusyError, DayLimitError, NotFoundError, ReflectorError
from reflector.core.machine import SLOT, manual
from reflector.core.run import Outcome, Request, Run
from reflector.core.schedule import Asked, Part
from reflector.core.snapshot import Snapshot
from reflector.runtime.bench import Bench
from reflector.runtime.front import launch
from reflector.runtime.ingest import Ingested, ingest
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import bench_for, in_turn
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler, config_of, engine_of, today
from reflector.runtime.supervisor import supervise
from reflector.runtime.unseat import unseated
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations, scheduling
from reflector.store.journal import Conversation

_PAUSE = 0.2
_LOOK_SECONDS = 60
"""Between two looks whether the one that we wait for still works."""
_GOES_ON = (Outcome.MERGED, Outcome.NO_CHANGES)


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for. No conversations means: those of the files, else all with backlog.

    `recent` replays the last so many steps of each conversation, `ranges` replays recorded
    ranges; both move no cursor.
    """

    files: Sequence[Path] = ()
    conversations: Sequence[str] = ()
    recent: int = 0
    ranges: Sequence[Snapshot] = ()
    focus: str = ""
    dry_run: bool = False
    max_runs: int = 10
    over_budget: bool = False


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came of it: files read and refused, runs in order, whether it was interrupted.

    `over` says which limit of the day kept the next run from starting.
    """

    ingested: tuple[Ingested, ...]
    refused: tuple[ReflectorError, ...]
    runs: tuple[Run, ...]
    waiting: tuple[Run, ...]
    interrupted: bool = False
    over: DayLimitError | None = None


def reflect(
    context: Context, options: Options, watch: Watch, child: Sequence[str] = CHILD
) -> Reflected:
    """Do the main job. One file that cannot be read never keeps the others out."""
    context.require()
    ingested, refused = _ingest(context, options.files, watch)
    chosen = _chosen(context, options, ingested)
    if watch.stop():
        return Reflected(ingested, refused, (), (), interrupted=True)
    if options.files and not ingested:
        return Reflected(ingested, refused, (), ())
    with _bench(context, watch, child) as bench:
        if bench is None:
            return Reflected(ingested, refused, (), (), interrupted=True)
        recover(bench, SLOT["reflection"])
        runs, over = _all(bench, options, chosen)
        waiting = reservations.kept(bench.state.connection)
    if not watch.stop():
        pass_on(context)
    return Reflected(ingested, refused, tuple(runs), tuple(waiting), watch.stop(), over)


def _all(
    bench: Bench, options: Options, chosen: Sequence[str] | None
) -> tuple[list[Run], DayLimitError | None]:
    runs: list[Run] = []
    # What is reserved holds the slot: until it has run, no kept tip can be taken up again.
    work = chain(reserved_before(bench), bring_home(bench), _runs(bench, options, chosen))
    try:
        for run in work:
            runs.append(run)  # noqa: PERF402 - those before an error count
    except DayLimitError as error:
        return runs, error
    return runs, None


def pass_on(context: Context) -> None:
    """Launch a supervisor for what was asked for while we held the slot: it relied on us."""
    with context.state() as state:
        waits = Scheduler(context, state).waits(SLOT["reflection"], tips=False)
    if waits:
        launch(context)


def _ingest(
    context: Context, files: Sequence[Path], watch: Watch
) -> tuple[tuple[Ingested, ...], tuple[ReflectorError, ...]]:
    done: list[Ingested] = []
    refused: list[ReflectorError] = []
    for path in files:
        if watch.stop():
            break
        try:
            done.append(ingest(context, path, watch))
        except ReflectorError as error:
            if error.exit_code != 1:  # not this file's fault: a full disk, a busy database
                raise
            refused.append(error)
    return tuple(done), tuple(refused)


def _chosen(
    context: Context, options: Options, ingested: Sequence[Ingested]
) -> Sequence[str] | None:
    if options.conversations:
        with context.state() as state:
            for key in options.conversations:
                if journal.conversation(state.connection, key) is None:
                    raise NotFoundError(
                        f"There is no conversation {key} in the journal.",
                        hint="`reflector status` lists the conversations.",
                    )
        return options.conversations
    return [each.conversation for each in ingested] if options.files else None


@contextmanager
def _bench(context: Context, watch: Watch, child: Sequence[str]) -> Iterator[Bench | None]:
    """Wait for the slot and hold it; None when told to stop while waiting."""
    clock, looked = context.ambient.clock, None
    while not watch.stop():
        with bench_for(context, SLOT["reflection"], watch, child) as bench:
            if bench is not None:
                yield bench
                return
        if looked is None:
            watch.say("Another run is active in this memory; waiting for its end.")
        if looked is None or clock.monotonic() - looked > _LOOK_SECONDS:
            looked = clock.monotonic()
            unseated(context, SLOT["reflection"])
        clock.sleep(_PAUSE)
    yield None


def reserved_before(bench: Bench) -> Iterator[Run]:
    """Run what an event reserved and no supervisor has taken over: the slot must be free for us."""
    slot, scheduler = SLOT["reflection"], Scheduler(bench.context, bench.state)
    while not bench.watch.stop() and reservations.unowned(bench.state.connection, slot):
        with in_turn(bench) as ours:
            run = scheduler.take_over(slot, bench.who) if ours else None
            settled = supervise(bench, run) if run else None
        if settled is None:
            return
        yield settled


def _runs(bench: Bench, options: Options, chosen: Sequence[str] | None) -> Iterator[Run]:
    """Reserve and supervise until nothing is left, the limit is reached, or one did not succeed."""
    once = options.recent or options.ranges or options.dry_run
    left = 1 if once else options.max_runs
    while left and not bench.watch.stop():
        yield from reserved_before(bench)
        with in_turn(bench) as ours:
            try:
                run = _reserve(bench, options, chosen) if ours else None
            except BusyError:
                if reservations.unowned(bench.state.connection, SLOT["reflection"]) is None:
                    raise
                continue  # an event was quicker: its run goes first
            if run is None:
                return
            bench.watch.progress(f"run {run.id}: {_sizes(run.snapshots)}")
            settled = supervise(bench, run)
        left -= 1
        yield settled
        if settled.outcome not in _GOES_ON:
            return


def _reserve(bench: Bench, options: Options, chosen: Sequence[str] | None) -> Run | None:
    """Choose what to read and reserve it, in one transaction; None when there is nothing."""
    request = _request(bench, options)
    run_id = bench.context.ambient.run_id()
    with bench.state.transaction() as connection:
        blocked = {
            each.conversation
            for run in reservations.kept(connection, SLOT["reflection"])
            for each in run.snapshots
        }
        candidates = journal.backlog(connection, chosen, blocked)
        snapshots = _snapshots(bench, options, candidates)
        if not snapshots:
            return None
        slot, now = SLOT[request.pipeline], bench.context.ambient.clock.now()
        engine = engine_of(bench.context.settings)
        asked = Asked(request, now, over_budget=options.over_budget, calls_model=engine.calls_model)
        _within_the_day(bench, asked, slot)
        reservations.reserve(connection, run_id, slot, request, snapshots, bench.who, stamp(now))
        reservations.note_calls_model(connection, run_id, engine.calls_model)
    return reservations.find(bench.state.connection, run_id)


def _within_the_day(bench: Bench, asked: Asked, slot: str) -> None:
    """Raise DayLimitError when the day has no room for another run, with what it has used."""
    config = config_of(bench.context.settings)
    day = today(bench.state, asked.at, bench.context.settings)
    over = over_day(day, config, asked, slot)
    if over is None:
        return
    runs = f"{day.runs.get(slot, 0)} of {config.day_max_runs} {slot} runs"
    raise DayLimitError(
        f"A limit of the day is reached: {runs}, "
        f"{day.cost_usd:.2f} of {config.day_max_cost_usd:.2f} USD.",
        hint=f"It ends at {stamp(day.ends_at)}; `--over-budget` runs all the same. The limits are "
        "`day.max_runs` and `day.max_cost_usd`.",
        why=over.value,
        runs=day.runs.get(slot, 0),
        cost_usd=round(day.cost_usd, 4),
        until=stamp(day.ends_at),
    )


def _request(bench: Bench, options: Options) -> Request:
    engine = engine_of(bench.context.settings)
    return manual(
        origin="cli",
        engine=engine.name,
        model=engine.model,
        focus=options.focus,
        dry_run=options.dry_run,
    )


def _snapshots(
    bench: Bench, options: Options, candidates: Sequence[Conversation]
) -> Sequence[Snapshot]:
    connection, settings = bench.state.connection, bench.context.settings
    one, run = settings.number("snapshot.max_bytes"), settings.number("run.max_bytes")
    if options.ranges:
        known = {each.key for each in candidates}
        return [
            replace(each, mode="replay") for each in options.ranges if each.conversation in known
        ]
    if not options.recent:
        parts = [Part(each.key, "advance", each.unreflected_bytes) for each in candidates]
        asked = Asked(_request(bench, options), bench.context.ambient.clock.now(), tuple(parts))
        return scheduling.cut(connection, asked, one, run)
    found = [journal.replay(connection, each, options.recent, one) for each in candidates]
    return [each for each in found if each is not None]


def _sizes(snapshots: Sequence[Snapshot]) -> str:
    entries = sum(each.entries for each in snapshots)
    size = sum(each.size for each in snapshots)
    talks = "1 conversation" if len(snapshots) == 1 else f"{len(snapshots)} conversations"
    return f"{entries} entries, {size // 1024} KiB of {talks}"
