"""Extraction beside everything else: begun by events, bounded while a provider is down, never doubled."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import stamp
from reflector.core.park import LastFailure, Parked, Streak
from reflector.core.run import Outcome, Run
from reflector.core.schedule import Reserve, Shutdown
from reflector.runtime import front
from reflector.runtime.backfill import Wish as Import
from reflector.runtime.backfill import backfill
from reflector.runtime.background import worker
from reflector.runtime.background.beginning import begin
from reflector.runtime.calls.waits import Waits
from reflector.runtime.experiences import background
from reflector.runtime.loop import Quiet, bench_for
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.repair import repair
from reflector.runtime.spooled import drain_spool
from reflector.runtime.status import status
from reflector.store import reservations, scheduling, segments
from reflector.store.locks import Lock
from tests.support.auditor import audit
from tests.support.projects import OVERLOADED
from tests.support.segments import QUIET, Person, fact, in_process, person
from tests.support.spooling import hook

pytestmark = pytest.mark.slow
MANY = 40


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    with person(tmp_path) as made:
        in_process(made, monkeypatch)
        made.model.learns["full disk"] = {"fact": fact("", "The disk is full.")}
        yield made


def works(scene: Person) -> list[str | None]:
    done = worker.work(scene.context(), "experiences", Quiet(), ("false",))
    return [run.outcome for run in done or ()]


def says(scene: Person, session: str = "talk") -> None:
    scene.works("We have a full disk, I think", "The disk is full.", session=session)


def wanted(scene: Person) -> bool:
    with scene.context().state() as state:
        return background.wanted(scene.context(), state)


def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Return a list that fills with what would have been started."""
    started: list[tuple[object, ...]] = []

    class Process:
        returncode = None

    def start(*words: object) -> Process:
        started.append(words)
        return Process()

    monkeypatch.setattr("reflector.runtime.detached.start", start)
    monkeypatch.setattr("reflector.runtime.detached.launched", lambda *_: "none")
    return started


def test_nothing_is_begun_before_a_conversation_rests_unless_its_session_ends(scene: Person):
    with scene.context().state() as state:
        assert not background.anything(state.connection)
    config = scene.home / "config.toml"
    config.write_text(f"{config.read_text()}\n[reflection]\nenabled = false\n")
    says(scene)
    assert not wanted(scene)
    front.decide(scene.context(), Shutdown("jsonl/other"), None)
    assert not wanted(scene)
    front.decide(scene.context(), Shutdown("jsonl/talk"), None)
    assert wanted(scene)
    [run] = worker.work(scene.context(), "experiences", Quiet(), ("false",)) or []
    assert (run.request.trigger, run.request.priority) == ("shutdown", 25)
    assert not wanted(scene)


def test_a_compaction_is_read_at_once(scene: Person):
    says(scene)
    front.mark_compaction(scene.context(), "jsonl/talk", "b1")
    [run] = worker.work(scene.context(), "experiences", Quiet(), ("false",)) or []
    assert (run.request.trigger, run.request.priority) == ("compaction", 20)


def test_an_event_begins_one_worker_and_only_when_something_is_due(scene: Person, monkeypatch):
    nothing_starts(monkeypatch)
    says(scene)
    assert "experiences" not in begin(scene.context())
    scene.clock.sleep(QUIET)
    presence = Lock(scene.context().agent.lock("run-experiences"))
    assert presence.take()
    assert "experiences" not in begin(scene.context())
    presence.release()
    assert "experiences" in begin(scene.context())
    assert works(scene) == ["merged"]
    assert "experiences" not in begin(scene.context())


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_who_stops_for_the_day_without_a_daemon_loses_nothing(scene: Person, monkeypatch, event):
    started = nothing_starts(monkeypatch)
    says(scene)
    hook(scene, "Stop", session="unknown")  # the day's last event: nothing is due yet, nobody waits
    drain_spool(scene.context(), ("false",))
    assert [words for words in started if "experiences" in words] == []
    scene.clock.sleep(timedelta(hours=14).total_seconds())
    hook(scene, event, session="the next morning")
    drain_spool(scene.context(), ("false",))
    assert len([words for words in started if "experiences" in words]) == 1
    assert works(scene) == ["merged"]
    assert len(scene.kept("facts/")) == 1


def test_only_one_of_two_workers_works(scene: Person):
    says(scene)
    scene.clock.sleep(QUIET)
    with bench_for(scene.context(), "experiences", Quiet(), ("false",)) as bench:
        assert bench is not None
        assert worker.work(scene.context(), "experiences", Quiet(), ("false",)) is None
    assert works(scene) == ["merged"]


def test_while_a_provider_is_down_calls_are_few_and_afterwards_all_is_read_in_order(scene: Person):
    config = scene.home / "config.toml"
    config.write_text(f"{config.read_text()}max_runs = 999\n[experiences]\nscene = 'working'\n")
    scene.model.learns = {"number 39": {"fact": fact("", "It was the last one.")}}
    for number in range(MANY):
        scene.works(f"What of number {number}?", "It is fine.", session=f"talk-{number:02d}")
    scene.clock.sleep(QUIET)
    scene.model.down = OVERLOADED
    for _ in range(12):
        works(scene)
        scene.clock.sleep(7200)
    failed = len(scene.model.requests)
    with scene.context().state() as state:
        parked = scheduling.park_state(state.connection, "anthropic")
        tries = [run.snapshots[0].conversation for run in reservations.recent(state.connection, 99)]
        assert len(segments.waiting(state.connection)) == MANY
    assert isinstance(parked, Parked)
    assert len(tries) <= 6 + 4  # what parks, and a probe every six hours
    assert failed <= len(tries) * 4
    assert len(set(tries)) == len(tries)  # no probe asks for what failed before
    scene.model.down = None
    scene.clock.sleep(timedelta(hours=6).total_seconds())
    assert works(scene) == [*["no_changes"] * (MANY - 1), "merged"]
    with scene.context().state() as state:
        ran = reservations.recent(state.connection, MANY)
        assert isinstance(scheduling.park_state(state.connection, "anthropic"), Parked) is False
    order = [run.snapshots[0].conversation for run in reversed(ran)]
    assert order[1:] == sorted(order[1:])
    assert len(set(order)) == MANY
    assert len(scene.kept("facts/")) == 1
    audit(scene.home)


def test_a_reflection_in_its_own_slot_merges_beside_an_extraction(scene: Person):
    says(scene)
    scene.clock.sleep(QUIET)
    ran: list[Outcome | None] = []

    def beside() -> None:
        if not ran:
            ran.append(None)
            config = scene.home / "config.toml"
            kept = config.read_text()
            config.write_text(kept.replace('name = "anthropic"', 'name = "rules"'))
            scene.works("Always use tabs in Makefiles.", "Noted.", session="other")
            done = reflect(scene.context(), Options(conversations=("jsonl/other",)), Quiet())
            ran[0] = done.runs[0].outcome
            config.write_text(kept)

    scene.model.hook = beside
    assert works(scene) == ["merged"]
    assert ran == [Outcome.MERGED]
    assert "tabs" in scene.git("show", "main:system/human.md")
    assert len(scene.kept("facts/")) == 1
    audit(scene.home)


def test_a_tip_that_waits_holds_no_reflection_up_and_is_merged_without_a_call(scene: Person):
    says(scene)
    scene.clock.sleep(QUIET)
    works(scene)
    [path] = scene.kept("facts/")
    scene.model.learns["full disk"]["fact"] = fact("", "The disk is full.")
    lock = scene.repo / ".git" / "index.lock"
    scene.works("full disk still?", "Yes, the disk is full.")
    scene.clock.sleep(QUIET)
    scene.model.hook = lock.touch
    assert works(scene) == ["parent_dirty"]
    assert path
    asked = len(scene.model.requests)
    assert scene.extracts() == [Waits("kept_tip")]
    assert isinstance(scene.event(Shutdown("jsonl/talk")), Reserve)
    lock.unlink()
    scene.model.hook = lambda: None
    assert works(scene) == ["merged"]
    assert len(scene.model.requests) == asked
    assert len(scene.kept("facts/")) == 2


@pytest.mark.parametrize("of_provider", [0, 3])
def test_a_route_is_parked_for_extraction_only_by_its_provider(scene: Person, of_provider: int):
    says(scene)
    scene.clock.sleep(QUIET)
    now = scene.clock.now()
    last = LastFailure("r", now, "f", "final", "refusal", "")
    parked = Parked(Streak(3, of_provider, frozenset(), now, last), now)
    with scene.context().state() as state, state.transaction() as connection:
        scheduling.save_park(connection, "anthropic", parked)
    assert works(scene) == ([] if of_provider else ["merged"])
    row = status(scene.context()).as_json()["pipelines"][2]
    until = stamp(parked.next_probe_at) if of_provider else None
    assert (row["name"], row["next_due_at"]) == ("experiences", until)


def test_a_memory_in_which_no_run_can_begin_is_asked_once(scene: Person):
    says(scene)
    scene.clock.sleep(QUIET)
    scene.git("switch", "-q", "-c", "elsewhere")
    [run, *_] = scene.extracts()
    assert isinstance(run, Run)
    assert run.outcome is Outcome.PARENT_DIRTY
    scene.clock.sleep(QUIET)
    assert scene.extracts()[0] == Waits("held", None)
    assert not wanted(scene)
    scene.git("switch", "-q", "main")
    scene.clock.sleep(QUIET)
    assert wanted(scene)
    assert works(scene) == ["merged"]
    audit(scene.home)


@pytest.mark.parametrize(
    ("folder", "wish", "read"),
    [
        (True, Import(), 2),
        (True, Import(keep_backlog=True), 2),  # asked for reflection, not for this
        (False, Import(settled=True), 2),
        (False, Import(), 0),
    ],
)
def test_old_conversations_that_are_imported_are_passed_by(scene: Person, folder, wish, read):
    place = scene.write("We have a full disk, I think", "It is full.")
    backfill(scene.context(), [scene.folder if folder else place], wish, Quiet())
    assert scene.cursor() == read
    scene.clock.sleep(QUIET)
    assert wanted(scene) is not bool(read)
    says(scene)
    scene.clock.sleep(QUIET)
    assert wanted(scene)


def test_a_journal_that_was_lost_is_not_paid_for_a_second_time(scene: Person):
    says(scene)
    scene.clock.sleep(QUIET)
    assert works(scene) == ["merged"]
    state = scene.context().agent.state
    state.write_bytes(b"not a database" + state.read_bytes()[14:])
    for suffix in ("-wal", "-shm"):
        state.with_name(f"{state.name}{suffix}").unlink(missing_ok=True)
    assert any("read" in each and "again" in each for each in repair(scene.context()))
    with scene.context().state() as opened:
        [standing] = scheduling.standings(opened.connection, frozenset())
    assert standing.has_new  # extraction's merges moved no cursor of reflection
    assert not wanted(scene)
