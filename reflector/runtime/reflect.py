"""The main job: journal files, then one run and one merge after another until nothing is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reflector.core.errors import NotFoundError, ReflectorError
from reflector.core.machine import SLOT, manual
from reflector.core.run import Outcome, Run, Settlement
from reflector.core.snapshot import Snapshot
from reflector.runtime import log
from reflector.runtime.bench import Bench, settle
from reflector.runtime.ingest import Ingested, ingest
from reflector.runtime.integration import Validated, integrate
from reflector.runtime.judgement import Kept, judge_kept, scope_of
from reflector.runtime.launch import CHILD
from reflector.runtime.payload import user_entries
from reflector.runtime.recovery import recover
from reflector.runtime.supervisor import supervise
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations
from reflector.store.journal import Conversation
from reflector.store.locks import Lock, owner
from reflector.vcs.reads import Reads

_PAUSE = 0.2
_GOES_ON = (Outcome.MERGED, Outcome.NO_CHANGES)


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for. No conversations means: those of the files, else all with backlog.

    `recent` replays the last so many steps of each conversation and moves no cursor.
    """

    files: Sequence[Path] = ()
    conversations: Sequence[str] = ()
    recent: int = 0
    focus: str = ""
    dry_run: bool = False
    max_runs: int = 10


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came of it: files read and refused, runs in order, whether it was interrupted."""

    ingested: tuple[Ingested, ...]
    refused: tuple[ReflectorError, ...]
    runs: tuple[Run, ...]
    waiting: tuple[Run, ...]
    interrupted: bool = False


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
        retried = _bring_home(bench)
        runs = [*retried, *_runs(bench, options, chosen)]
        waiting = reservations.kept(bench.state.connection)
    return Reflected(ingested, refused, tuple(runs), tuple(waiting), interrupted=watch.stop())


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
    """Hold the slot's presence lock and everything a supervisor needs; None when told to stop.

    The lock is taken before anything is reserved and held until the last run is settled: it is
    the proof that the owner of the active run lives.
    """
    presence = Lock(context.agent.lock(f"run-{SLOT['reflection']}"))
    if not presence.take():
        watch.say("Another run is active in this memory; waiting for its end.")
        while not presence.take():
            if watch.stop():
                yield None
                return
            context.ambient.clock.sleep(_PAUSE)
    try:
        with (
            log.opened(context.agent.log, identity=context.agent.identity) as logger,
            context.state(busy_seconds=30) as state,
        ):
            who = owner(context.ambient.token())
            yield Bench(context, state, who, logger, watch, child)
    finally:
        presence.release()


def _runs(bench: Bench, options: Options, chosen: Sequence[str] | None) -> Iterator[Run]:
    """Reserve and supervise until nothing is left, the limit is reached, or one did not succeed."""
    limit = 1 if options.recent or options.dry_run else options.max_runs
    for _ in range(limit):
        if bench.watch.stop():
            return
        run = _reserve(bench, options, chosen)
        if run is None:
            return
        bench.watch.progress(f"run {run.id}: {_sizes(run.snapshots)}")
        settled = supervise(bench, run)
        yield settled
        if settled.outcome not in _GOES_ON:
            return


def _reserve(bench: Bench, options: Options, chosen: Sequence[str] | None) -> Run | None:
    """Choose what to read and reserve it, in one transaction; None when there is nothing."""
    request = manual(
        origin="cli",
        engine=bench.context.settings.text("engine.name"),
        focus=options.focus,
        dry_run=options.dry_run,
    )
    run_id = bench.context.ambient.run_id()
    with bench.state.transaction() as connection:
        blocked = {
            each.conversation for run in reservations.kept(connection) for each in run.snapshots
        }
        candidates = journal.backlog(connection, chosen, blocked)
        snapshots = _snapshots(bench, options, candidates)
        if not snapshots:
            return None
        slot = SLOT[request.pipeline]
        now = bench.context.ambient.now()
        reservations.reserve(connection, run_id, slot, request, snapshots, bench.who, now)
    return reservations.find(bench.state.connection, run_id)


def _snapshots(
    bench: Bench, options: Options, candidates: Sequence[Conversation]
) -> Sequence[Snapshot]:
    connection, settings = bench.state.connection, bench.context.settings
    one, run = settings.number("snapshot.max_bytes"), settings.number("run.max_bytes")
    if not options.recent:
        return journal.take(connection, candidates, one, run)
    found = [journal.replay(connection, each, options.recent, one) for each in candidates]
    return [each for each in found if each is not None]


def _sizes(snapshots: Sequence[Snapshot]) -> str:
    entries = sum(each.entries for each in snapshots)
    size = sum(each.size for each in snapshots)
    return f"{entries} entries, {size // 1024} KiB of {len(snapshots)} conversation(s)"


def _bring_home(bench: Bench) -> Iterator[Run]:
    """Try again to merge the validated tips that waited for the memory to be free."""
    for run in reservations.kept(bench.state.connection):
        if bench.watch.stop():
            return
        if run.base is None or run.tip is None or run.branch is None:
            continue
        reservations.reopen(bench.state, run.id, bench.who)
        yield settle(bench, run, _retried(bench, run, run.base, run.tip), None)


def _retried(bench: Bench, run: Run, base: str, tip: str) -> Settlement:
    user = [
        entry
        for taken in run.snapshots
        for entry in user_entries(journal.entries(bench.state.connection, taken))
    ]
    work = Validated(run, base, tip, scope_of(run.request.pipeline, tuple(user)))
    with Reads(bench.context.agent.repo) as reads:
        verdict = judge_kept(reads, Kept(run.branch or "", base, tip), work.scope)
    findings = tuple(each.as_json() for each in verdict.findings)
    if verdict.outcome != "accept":
        detail = "The kept tip no longer passes validation."
        return Settlement(Outcome.MERGE_CONFLICT, detail=detail, findings=findings, tip=tip)
    end = replace(integrate(bench, work), findings=findings)
    if end.outcome is Outcome.MERGED and run.settlement and run.settlement.kept_ref:
        bench.git.delete_ref(run.settlement.kept_ref, tip)
    return end
