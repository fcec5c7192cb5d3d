"""Decisions that friction has shown to matter enter the files of their bank, by runs like any other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from reflector.core.run import Outcome, Reason, Run
from reflector.runtime import supervisor
from reflector.runtime.background import worker
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions import by_hand, whole_bank
from reflector.runtime.decisions.due import Wish
from reflector.runtime.loop import Quiet
from reflector.runtime.review import approve
from reflector.runtime.undo import undo
from reflector.store import bullets, decisions
from tests.support.auditor import audit
from tests.support.messages_server import fails
from tests.support.projects import Person, delta, here, person, plainly, shown

pytestmark = pytest.mark.slow

RIGHT = "Status bar: solid right edge, no bold."
TABS = "Tabs stay where they were when a session is restored."


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(supervisor, "run_child", here)
    with person(tmp_path) as made:
        yield made
        audit(made.home)


def broke(scene: Person, statement: str = RIGHT, session: str = "talk", **more: str) -> None:
    """Let a person say that something settled broke again."""
    scene.model.hears[statement] = [delta(statement, statement, "regression", **more)]
    scene.types(f"It broke again! {statement}", "Sorry, mended.", session=session)
    scene.works()


def runs(found: list[Run | Waits]) -> list[Run]:
    return [each for each in found if isinstance(each, Run)]


def test_a_regression_enters_by_one_commit_and_one_merge(scene: Person):
    broke(scene)
    [run, end] = scene.consolidates()
    assert isinstance(run, Run)
    assert (run.outcome, run.slot, run.request.pipeline) == (
        Outcome.MERGED,
        "decisions",
        "decisions",
    )
    assert end == Waits("nothing")
    assert f"- {RIGHT}" in scene.file("product")
    subjects = scene.git("log", "--topo-order", "--format=%s", "main").splitlines()
    assert subjects[0].startswith("merge(decisions): 1 decision of shop-")
    assert subjects[1].startswith("feat(decisions): 1 decision of shop-")
    assert "[entry jsonl:talk.talk-0:0]" in scene.git(
        "log", "--topo-order", "--format=%B", "main", "-2"
    )


def test_what_shows_no_friction_waits_in_the_ledger(scene: Person):
    scene.model.hears["Redis"] = [delta("Queues live in Redis.", "Queues live in Redis")]
    scene.types("Queues live in Redis please", "Fine.")
    scene.works()
    assert scene.consolidates() == [Waits("nothing")]
    assert scene.ledger() == ["Queues live in Redis."]


def test_the_deltas_are_consumed_with_the_settlement_and_their_bullets_are_known(scene: Person):
    broke(scene)
    [run] = runs(scene.consolidates())
    with scene.context().state() as state:
        [one] = decisions.ledger(state.connection)
        [bullet] = bullets.every(state.connection, scene.bank())
    assert one.consumed_by == run.id
    assert (bullet.text, bullet.deltas, bullet.run) == (RIGHT, (one.id,), run.id)


def test_the_interval_passes_before_the_next_one(scene: Person):
    broke(scene)
    scene.consolidates()
    broke(scene, TABS)
    [end] = scene.consolidates()
    assert isinstance(end, Waits)
    assert end.until is not None
    scene.clock.sleep(301)
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGED
    assert TABS in scene.file("product")


def test_a_person_need_not_wait_for_the_interval(scene: Person):
    broke(scene)
    scene.consolidates()
    broke(scene, TABS)
    [run] = runs(scene.consolidates(Wish(force=True)))
    assert (run.request.trigger, run.outcome) == ("manual", Outcome.MERGED)


def test_a_bad_edit_is_handed_back_once(scene: Person):
    answers = [{"product": [{"action": "remove", "old": "not there", "reason": "x"}]}]

    def edits(text: str) -> Mapping[str, Any]:
        [(number, _, _)] = shown(text)
        good = {"action": "add", "section": "Bar", "bullet": RIGHT, "deltas": [number]}
        return answers.pop() if answers else {"product": [good]}

    broke(scene)
    scene.model.edits = edits
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGED
    said = scene.model.requests[-1]["messages"][-1]["content"][0]
    assert said["is_error"]
    assert "There is no bullet 'not there'." in said["content"]
    assert "## Bar" in scene.file("product")


def test_a_second_bad_edit_fails_the_run_and_the_deltas_wait_longer_each_time(scene: Person):
    broke(scene)
    scene.model.edits = lambda _: {"style": [{"action": "remove", "old": "none", "reason": "x"}]}
    [run] = runs(scene.consolidates())
    assert run.settlement is not None
    assert (run.outcome, run.settlement.reason) == (Outcome.FAILED, Reason.VALIDATION)
    [end] = scene.consolidates()
    assert isinstance(end, Waits)
    scene.clock.sleep(301)
    assert len(runs(scene.consolidates())) == 1
    scene.clock.sleep(301)
    assert runs(scene.consolidates()) == []
    scene.model.edits = None
    scene.clock.sleep(301)
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGED


def test_an_undo_takes_it_back_and_it_is_not_written_again_without_asking(scene: Person):
    broke(scene)
    [run] = runs(scene.consolidates())
    undo(scene.context(), run.id)
    assert RIGHT not in scene.file("product")
    with scene.context().state() as state:
        assert [each.superseded for each in bullets.every(state.connection, scene.bank())] == [True]
    scene.clock.sleep(600)
    broke(scene, session="later")
    [again] = runs(scene.consolidates())
    assert again.outcome is Outcome.AWAITING_REVIEW
    assert RIGHT not in scene.file("product")
    assert f'"- {RIGHT}"' in scene.model.requests[-1]["messages"][0]["content"][0]["text"]


def test_what_a_person_approves_is_known_as_written(scene: Person):
    config = scene.home / "config.toml"
    config.write_text('merge = "review"\n' + config.read_text())
    broke(scene)
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.AWAITING_REVIEW
    assert scene.consolidates() == [Waits("nothing")]
    with scene.context().state() as state:
        assert bullets.every(state.connection, scene.bank()) == []
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED
    with scene.context().state() as state:
        [bullet] = bullets.every(state.connection, scene.bank())
    assert (bullet.text, bullet.run) == (RIGHT, run.id)


def test_nothing_to_change_consumes_what_was_read(scene: Person):
    broke(scene)
    scene.model.edits = lambda _: {}
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.NO_CHANGES
    assert scene.consolidates() == [Waits("nothing")]


def test_what_the_project_documents_itself_is_shown_and_refused(scene: Person):
    (scene.project() / "AGENTS.md").write_text(f"- {RIGHT}\n")
    broke(scene)
    [run] = runs(scene.consolidates())
    assert RIGHT in scene.model.requests[-2]["messages"][0]["content"][0]["text"]
    assert "documents" in scene.model.requests[-1]["messages"][-1]["content"][0]["content"]
    assert run.outcome is Outcome.FAILED


def test_a_reversal_replaces_the_old_bullet_in_one_commit_that_says_so(scene: Person):
    old, new = "Queues live in Redis.", "Queues live in SQLite."
    broke(scene, old, kind="architecture_decision")
    scene.consolidates()
    scene.clock.sleep(600)
    more = {"rejected_alternative": "Redis"}
    scene.model.hears = {new: [delta(new, new, kind="architecture_decision", **more)]}
    scene.types(f"No more Redis. {new}", session="other")
    scene.works()

    def edits(text: str) -> Mapping[str, Any]:
        [(number, _, said)] = shown(text)
        return {
            "architecture": [{"action": "replace", "old": old, "bullet": said, "deltas": [number]}]
        }

    scene.model.edits = edits
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGED
    assert (old in scene.file("architecture"), new in scene.file("architecture")) == (False, True)
    assert f"{new} (instead of: {old})" in scene.git("show", "-s", "--format=%B", "main^2")


def test_a_persons_edit_meanwhile_is_merged_and_one_of_the_same_line_conflicts(scene: Person):
    broke(scene)
    scene.consolidates()
    scene.clock.sleep(600)
    broke(scene, TABS, kind="style_decision")
    place = scene.repo / "projects" / scene.bank() / "product.md"

    def edited(text: str) -> Mapping[str, Any]:
        place.write_text(place.read_text() + "- by hand\n")
        scene.git("commit", "-qam", "by hand")
        return plainly(text)

    scene.model.edits = edited
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGED
    assert "- by hand" in scene.file("product")
    assert TABS in scene.file("style")
    scene.clock.sleep(600)
    broke(scene, "Names of daemons are short.")
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.MERGE_CONFLICT


def test_a_tip_that_waits_for_the_memory_holds_its_bank_and_is_merged_by_the_next_worker(
    scene: Person,
):
    broke(scene)
    scene.consolidates()
    scene.clock.sleep(600)
    broke(scene, TABS)
    place = scene.repo / "projects" / scene.bank() / "product.md"

    def edited(text: str) -> Mapping[str, Any]:
        place.write_text(place.read_text() + "- not committed yet\n")
        later = scene.clock.now().timestamp() + 3600  # and it is still being written to
        os.utime(place, (later, later))
        return plainly(text)

    scene.model.edits = edited
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.PARENT_DIRTY
    scene.clock.sleep(600)
    [end] = scene.consolidates()
    assert end == Waits("kept_tip")
    scene.git("checkout", "--", ".")
    asked = len(scene.model.requests)
    assert scene.drains("false") == []  # the other slot's supervisor leaves it alone
    [again] = worker.work(scene.context(), "decisions", Quiet(), ("false",)) or []
    assert (again.id, again.outcome) == (run.id, Outcome.MERGED)
    assert len(scene.model.requests) == asked
    assert TABS in scene.file("product")
    assert scene.consolidates() == [Waits("nothing")]


def test_a_provider_that_is_down_fails_the_run_and_parks_the_route(scene: Person):
    broke(scene)
    scene.model.down = fails(401, "authentication_error", "the key is not valid")
    [run] = runs(scene.consolidates())
    assert run.settlement is not None
    assert run.settlement.reason is Reason.AUTH
    scene.clock.sleep(3600)
    [end] = scene.consolidates()
    assert isinstance(end, Waits)
    assert end.why == "parked"


def test_a_file_that_cannot_be_read_stops_everything(scene: Person):
    broke(scene)
    scene.consolidates()
    scene.clock.sleep(600)
    place = scene.repo / "projects" / scene.bank() / "style.md"
    place.write_bytes(b"no header\n")
    scene.git("add", "-A")
    scene.git("commit", "-qm", "by hand")
    broke(scene, TABS)
    asked = len(scene.model.requests)
    [run] = runs(scene.consolidates())
    assert run.outcome is Outcome.FAILED
    assert len(scene.model.requests) == asked


def test_without_a_model_nothing_is_consolidated_and_that_is_said(scene: Person):
    broke(scene)
    config = (scene.home / "config.toml").read_text().replace("anthropic", "rules")
    (scene.home / "config.toml").write_text(config)
    assert scene.consolidates() == [Waits("no_model")]


def test_two_banks_are_two_runs(scene: Person):
    scene.model.hears["again"] = [delta(TABS, "broke again", "regression")]
    scene.types("with the tabs it broke again", session="a")
    scene.types("with the tabs it broke again", session="b", cwd=scene.project("other"))
    scene.works()
    found = runs(scene.consolidates())
    assert [run.outcome for run in found] == [Outcome.MERGED, Outcome.MERGED]
    assert TABS in scene.file("product")
    assert TABS in scene.file("product", "other")


@pytest.mark.parametrize("what", ["clear", "move", "forget"])
def test_what_a_person_takes_back_during_a_run_is_not_merged(scene: Person, what: str):
    broke(scene)
    bank, context = scene.bank(), scene.context()

    def meanwhile(text: str) -> Mapping[str, Any]:
        scene.model.edits = plainly
        match what:
            case "clear":
                assert whole_bank.clear(context, bank).waited == 1
            case "move":
                whole_bank.move(context, bank, f"{bank}-2")
            case _:
                by_hand.forget(context, 1)
        return plainly(text)

    scene.model.edits = meanwhile
    first, *more = runs(scene.consolidates())
    assert first.outcome is Outcome.MERGE_CONFLICT
    listed = scene.git("ls-tree", "-r", "--name-only", "main")
    assert f"projects/{bank}/" not in listed
    assert (f"projects/{bank}-2/product.md" in listed) == (what == "move")
    assert [run.outcome for run in more] == [Outcome.MERGED] * (what == "move")
