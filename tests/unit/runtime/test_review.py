"""Runs that wait for a person: every way out of that state, whoever dies or comes in between."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import BusyError, GitError, ParentDirtyError, ReflectorError
from reflector.core.park import LastFailure, Streak, Watching
from reflector.core.run import Outcome, Phase, Run, Settlement
from reflector.core.schedule import Settled
from reflector.runtime import bench, kept, log, review, supervisor
from reflector.runtime.loop import Quiet, bench_for
from reflector.runtime.recovery import recover
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.review import (
    NotWaitingError,
    ReviewError,
    approve,
    asking,
    listed,
    prospect,
    reject,
)
from reflector.runtime.status import status
from reflector.runtime.sweep import sweep
from reflector.runtime.undo import remember_undone, undo
from reflector.store import reservations, reviews, scheduling, unwanted
from reflector.vcs import merge
from reflector.vcs.porcelain import Porcelain
from tests.support.auditor import audit
from tests.support.clocks import WHEN
from tests.support.detached import rest
from tests.support.repos import Repo
from tests.support.scenes import Scene, Stage, outcomes

pytestmark = pytest.mark.slow

DAY = 86_400
HUMAN = "system/human.md"
LESSON = "Always use tabs in Makefiles."
PLAIN = "[trigger]\nstep_count = 1\n"
REVIEW = 'merge = "review"\n[trigger]\nstep_count = 1\n'


LAST = LastFailure("r", WHEN, "f", "retryable", "quota", "")
FAILING = Watching(Streak(2, 2, frozenset(), WHEN, LAST))


class DeathError(BaseException):
    """Stands for the end of the process; nobody catches it."""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path, plain=("default",))
    monkeypatch.setattr(supervisor, "run_child", made)
    return made


@pytest.fixture
def scene(tmp_path: Path, stage: Stage) -> Scene:
    del stage
    return Scene(tmp_path, REVIEW)


@pytest.fixture
def plain(tmp_path: Path, stage: Stage) -> Scene:
    del stage
    return Scene(tmp_path, PLAIN)


@pytest.fixture
def repo(scene: Scene) -> Repo:
    return Repo(scene.repo)


def waits(scene: Scene, *texts: str, session: str = "talk") -> Run:
    """Let a run of the `rules` engine wait."""
    scene.says(*(texts or (LESSON, "Noted.")), session=session)
    scene.event(Settled(success=True))
    (run,) = scene.drains("false")
    assert outcomes([run]) == ["awaiting_review"]
    return run


def known(scene: Scene, run: Run) -> Run:
    with scene.context().state() as state:
        return reservations.find(state.connection, run.id)


def ended(run: Run) -> Settlement:
    assert run.settlement is not None
    return run.settlement


def lines(scene: Scene) -> frozenset[str]:
    with scene.context().state() as state:
        return unwanted.lines(state.connection)


def learned(repo: Repo) -> int:
    return repo.git("show", f"main:{HUMAN}").count(LESSON.rstrip("."))


def refs(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname)", "refs/reflector").split()


def judged(scene: Scene) -> None:
    audit(scene.home, transcripts=sorted(scene.folder.glob("*.jsonl")))


# Waiting


def test_a_validated_tip_waits_under_its_ref_with_the_slot_free_and_the_cursor_moved(scene, repo):
    run = waits(scene)
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    assert repo.sha(refs(repo)[0]) == run.tip
    assert learned(repo) == 0
    other = waits(scene, "I prefer pytest.", "Yes.", session="two")
    assert [each.waits.run.id for each in listed(scene.context())] == [run.id, other.id]
    judged(scene)


def test_one_command_can_ask_for_review_and_whoever_finishes_its_run_knows(plain, monkeypatch):
    scene = plain
    scene.says(LESSON, "Noted.")
    advance = reservations.advance

    def dying(*words: Any, **values: Any) -> None:
        advance(*words, **values)
        if words[4] is Phase.VALIDATING:
            raise DeathError

    with monkeypatch.context() as patch:
        patch.setattr(reservations, "advance", dying)
        with pytest.raises(DeathError):
            reflect(asking(scene.context()), Options(), Quiet())
    with bench_for(scene.context(), "reflection", Quiet()) as owned:
        assert owned is not None
        (run,) = recover(owned, "reflection")
    assert outcomes([run]) == ["awaiting_review"]
    judged(scene)


def test_a_dry_run_in_review_mode_waits_for_nobody(scene, repo):
    scene.says(LESSON, "Noted.")
    done = reflect(scene.context(), Options(dry_run=True), Quiet())
    assert outcomes(done.runs) == ["dry_run"]
    assert refs(repo) == []


def test_a_kept_tip_waits_for_a_person_when_review_was_asked_for_meanwhile(plain):
    scene = plain
    repo = Repo(scene.repo)
    before = (repo.path / HUMAN).read_text("utf-8")
    scene.says(LESSON, "Noted.")
    repo.write({HUMAN: "mine for now\n"})
    scene.event(Settled(success=True))
    run = scene.drains("false")[0]
    assert outcomes([run]) == ["parent_dirty"]
    repo.write({HUMAN: before})
    (scene.home / "config.toml").write_text(REVIEW, "utf-8")
    assert outcomes(scene.drains("false")) == ["awaiting_review"]
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    judged(scene)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED
    judged(scene)


# Approved


def test_approving_merges_exactly_what_was_shown(scene, repo):
    run = waits(scene)
    done = approve(scene.context(), run.id)
    assert (done.outcome, done.merge_commit) == (Outcome.MERGED, repo.sha("main"))
    assert repo.git("rev-parse", "main^2") == run.tip
    assert (learned(repo), refs(repo), repo.status()) == (1, [], "")
    judged(scene)
    with pytest.raises(NotWaitingError, match="merged by"):
        approve(scene.context(), run.id)
    assert repo.git("rev-list", "--merges", "--count", "main") == "1"


def test_approving_later_runs_first_is_no_trouble(scene):
    one = waits(scene, "Lesson: always use tabs.", "Yes.", session="one")
    two = waits(scene, "Remember that staging runs on port 5433.", "Yes.", session="two")
    for run in (two, one):
        assert approve(scene.context(), run.id).outcome is Outcome.MERGED
    judged(scene)


def test_an_approval_tells_nothing_of_engine_and_conversation(scene):
    """Failures since then still count, and the cursor that moved on does not come back."""
    run = waits(scene)
    scene.says("One more.", "Yes.")
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE conversations SET consecutive_failures = 3")
        scheduling.save_park(connection, "rules", FAILING)
    approve(scene.context(), run.id)
    with scene.context().state() as state:
        (row,) = state.connection.execute("SELECT * FROM conversations").fetchall()
        assert (row["consecutive_failures"], row["cursor"]) == (3, 2)
        assert scheduling.park_state(state.connection, "rules") == FAILING
    judged(scene)


def test_what_fails_validation_now_is_not_merged_and_goes_on_waiting(scene, repo):
    run = waits(scene)
    head = repo.sha("main")
    with scene.context().state() as state:
        # The journal text of its evidence is gone: rule 12 alone only asks for a person.
        assert prospect(scene.context(), state, run).kind == "merges"
    forged(scene, repo, run)
    with pytest.raises(ReviewError, match="settings") as caught:
        approve(scene.context(), run.id)
    assert caught.value.facts["why"] == "invalid"
    assert (repo.sha("main"), known(scene, run).outcome) == (head, Outcome.AWAITING_REVIEW)
    assert known(scene, run).phase is Phase.COMPLETED


def forged(scene: Scene, repo: Repo, run: Run) -> None:
    """Put another tip in the ledger, one that changes what no run may change."""
    bad = repo.branch_with("x", {".gitattributes": "* text\n"}, base=run.base or "")
    repo.git("update-ref", "-d", "refs/heads/x")
    repo.git("update-ref", f"refs/reflector/review/{run.id}", bad)
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE runs SET tip = ? WHERE id = ?", (bad, run.id))


def test_the_merge_with_a_main_that_moved_is_judged_too(scene, repo):
    run = waits(scene, "Remember that staging runs on port 5433.", "Yes.")
    text = "---\ndescription: x\n---\n"
    repo.commit({"reference/FACTS.md": text})
    with pytest.raises(ReviewError, match="collides"):
        approve(scene.context(), run.id)
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    judged(scene)


def test_a_conflict_that_comes_up_at_the_last_moment_leaves_it_waiting(scene, repo, monkeypatch):
    run = waits(scene)
    text = (repo.path / HUMAN).read_text("utf-8")
    take_up = reviews.take_up

    def overtaken(*words: Any) -> None:
        take_up(*words)
        repo.commit({HUMAN: text.replace("## Preferences\n", "## Preferences\n\n- mine (2026)\n")})

    with monkeypatch.context() as patch:
        patch.setattr(reviews, "take_up", overtaken)
        with pytest.raises(ReviewError, match=HUMAN):
            approve(scene.context(), run.id)
    after = known(scene, run)
    assert (after.outcome, after.merge_commit) == (Outcome.AWAITING_REVIEW, None)
    assert "could not be merged" in ended(after).detail
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    judged(scene)


def test_a_git_that_fails_in_the_middle_leaves_it_waiting(scene, repo, monkeypatch):
    run = waits(scene)

    def failing(*_words: Any) -> None:
        raise GitError("no room", detail="No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Porcelain, "update_ref", failing)
        with pytest.raises(GitError, match="goes on waiting"):
            approve(scene.context(), run.id)
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    judged(scene)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


def test_an_edit_in_the_way_at_the_last_moment_leaves_it_waiting(scene, repo, monkeypatch):
    run = waits(scene)
    before = (repo.path / HUMAN).read_text("utf-8")
    take_up = reviews.take_up

    def overtaken(*words: Any) -> None:
        take_up(*words)
        repo.write({HUMAN: "mine for now\n"})

    with monkeypatch.context() as patch:
        patch.setattr(reviews, "take_up", overtaken)
        with pytest.raises(ParentDirtyError, match=HUMAN):
            approve(scene.context(), run.id)
    assert (repo.path / HUMAN).read_text("utf-8") == "mine for now\n"
    repo.write({HUMAN: before})
    judged(scene)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


def test_while_a_run_is_active_nothing_is_approved(scene):
    run = waits(scene)
    with bench_for(scene.context(), "reflection", Quiet()) as owned:
        assert owned is not None
        with pytest.raises(BusyError, match="active"):
            approve(scene.context(), run.id)
    scene.says("More.", "Yes.", session="two")
    scene.event(Settled(success=True))
    with pytest.raises(BusyError, match="about to start"):
        approve(scene.context(), run.id)
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    rest(scene.home)  # what was reserved beside it relied on us
    with scene.context().state() as state:
        assert reservations.active(state.connection) == []


def test_a_tip_whose_commits_are_gone_says_so(scene, repo):
    run = waits(scene)
    repo.git("update-ref", "-d", f"refs/reflector/review/{run.id}")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert listed(scene.context())[0].subject == "(its commits are gone)"
    with pytest.raises(ReviewError, match="not in the repository"):
        approve(scene.context(), run.id)
    assert reject(scene.context(), run.id).outcome is Outcome.REJECTED
    judged(scene)


def test_a_tip_whose_ref_alone_is_gone_can_be_approved(scene, repo):
    run = waits(scene)
    repo.git("update-ref", "-d", f"refs/reflector/review/{run.id}")
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED
    judged(scene)


def test_what_conflicts_with_what_was_approved_first_is_learned_anew(scene, repo):
    one = waits(scene, LESSON, "Yes.", session="one")
    two = waits(scene, "Never push to main directly.", "Yes.", session="two")
    approve(scene.context(), one.id)
    with pytest.raises(ReviewError, match="both sides") as caught:
        approve(scene.context(), two.id)
    assert f"reflector retry {two.id}" in caught.value.hint
    again = replayed(scene, two)
    assert approve(scene.context(), again.id).outcome is Outcome.MERGED
    reject(scene.context(), two.id)
    assert lines(scene) == frozenset()  # it is wanted: it was learned by another run
    assert "Never push to main" in repo.git("show", f"main:{HUMAN}")
    judged(scene)


# Deaths


def death_in(patch: pytest.MonkeyPatch, owner: object, name: str, *, before: bool) -> None:
    call = getattr(owner, name)

    def dying(*words: Any, **values: Any) -> Any:
        if before:
            raise DeathError
        call(*words, **values)
        raise DeathError

    patch.setattr(owner, name, dying)


APPROVAL = [
    *((reviews, "take_up", before) for before in (True, False)),
    *((merge, "follow", before) for before in (True, False)),
    *((kept, "integrate", before) for before in (True, False)),
    *((reservations, "settle", before) for before in (True, False)),
    (review, "settle", False),
    (bench, "let_go", True),
]


@pytest.mark.parametrize(("owner", "name", "before"), APPROVAL)
@pytest.mark.parametrize("next_is", ["approve", "supervisor"])
def test_an_approval_that_broke_off_can_be_repeated_and_is_merged_once(
    scene, repo, monkeypatch, owner, name, before, next_is
):
    run = waits(scene)
    with monkeypatch.context() as patch:
        death_in(patch, owner, name, before=before)
        with pytest.raises(DeathError):
            approve(scene.context(), run.id)
    if next_is == "supervisor":
        scene.drains("false")
        judged_after_sweep(scene)
    try:
        assert approve(scene.context(), run.id).outcome is Outcome.MERGED
    except NotWaitingError as error:
        assert "merged by" in error.message
    assert (learned(repo), known(scene, run).outcome) == (1, Outcome.MERGED)
    assert repo.git("rev-list", "--merges", "--count", "main") == "1"
    judged_after_sweep(scene)
    assert refs(repo) == []


def judged_after_sweep(scene: Scene) -> None:
    scene.clock.passed += 3600
    with log.opened(scene.context().agent.log) as logger:
        sweep(scene.context(), logger, dry_run=False)
    judged(scene)


@pytest.mark.parametrize(
    ("owner", "name", "before"),
    [
        *((reviews, "reject", before) for before in (True, False)),
        *((kept, "let_go", before) for before in (True, False)),
        *((Porcelain, "delete_ref", before) for before in (True, False)),
    ],
)
@pytest.mark.parametrize("swept", [False, True])
def test_a_rejection_that_broke_off_can_be_repeated(
    scene, repo, monkeypatch, owner, name, before, swept
):
    run = waits(scene)
    with monkeypatch.context() as patch:
        death_in(patch, owner, name, before=before)
        with pytest.raises(DeathError):
            reject(scene.context(), run.id)
    if swept:
        judged_after_sweep(scene)
    try:
        assert reject(scene.context(), run.id).outcome is Outcome.REJECTED
    except NotWaitingError as error:
        assert "rejected" in error.message
    assert (learned(repo), known(scene, run).outcome, refs(repo)) == (0, Outcome.REJECTED, [])
    assert len(lines(scene)) == 1
    judged(scene)


def test_what_was_approved_cannot_be_rejected_any_more(scene, monkeypatch):
    run = waits(scene)
    with monkeypatch.context() as patch:
        death_in(patch, reviews, "take_up", before=False)
        with pytest.raises(DeathError):
            approve(scene.context(), run.id)
    with pytest.raises(BusyError, match="approved"):
        reject(scene.context(), run.id)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


def test_a_broken_off_approval_that_cannot_be_merged_any_more_waits_again(scene, repo, monkeypatch):
    run = waits(scene)
    with monkeypatch.context() as patch:
        death_in(patch, reviews, "take_up", before=False)
        with pytest.raises(DeathError):
            approve(scene.context(), run.id)
    before = (repo.path / HUMAN).read_text("utf-8")
    repo.write({HUMAN: "mine for now\n"})
    scene.drains("false")
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    repo.write({HUMAN: before})
    judged(scene)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


def test_an_approval_that_nobody_survives_waits_again(scene, repo, monkeypatch):
    run = waits(scene)
    with monkeypatch.context() as patch:
        death_in(patch, kept, "integrate", before=True)
        for _ in range(3):
            with pytest.raises(DeathError):
                approve(scene.context(), run.id)
        scene.drains("false")
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    judged(scene)
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


# Rejected


def test_rejecting_drops_the_tip_and_remembers_its_lines(scene, repo):
    run = waits(scene)
    done = reject(scene.context(), run.id[:20], f"no:  {'x' * 600}")
    assert done.outcome is Outcome.REJECTED
    assert ended(done).detail.startswith("Rejected by a person: no: xxx")
    assert refs(repo) == []
    assert [line.startswith("- Always use tabs in Makefiles") for line in lines(scene)] == [True]
    judged(scene)
    for decide in (approve, reject):
        with pytest.raises(NotWaitingError, match="rejected"):
            decide(scene.context(), run.id)


def test_the_next_payload_shows_what_was_rejected(scene):
    waiting = waits(scene)
    reject(scene.context(), waiting.id)
    run = waits(scene, "Remember that staging runs on port 5433.", "Yes.", session="two")
    folder = scene.context().agent.run(run.id)
    assert LESSON.rstrip(".") in (folder / "payload.json").read_text("utf-8")
    prompt = (folder / "prompt.md").read_text("utf-8")
    assert LESSON.rstrip(".") in prompt.partition("<do_not_write>")[2]


def test_a_reason_holds_no_secret(scene):
    token = "ghp_" + "A1b2C3d4E5" * 4
    assert token not in ended(reject(scene.context(), waits(scene).id, f"no {token}")).detail


# Given up


def test_what_nobody_looks_at_is_given_up_after_two_weeks_and_announced_before(scene, repo):
    run = waits(scene)
    scene.clock.passed += 10 * DAY
    assert [code for code, _ in status(scene.context()).notices] == ["review_waits"]
    scene.clock.passed += 2 * DAY
    notices = dict(status(scene.context()).notices)
    assert run.id in notices["review_ends"]
    scene.drains("false")
    assert known(scene, run).outcome is Outcome.AWAITING_REVIEW
    scene.clock.passed += 2 * DAY
    scene.drains("false")
    after = known(scene, run)
    assert (after.outcome, refs(repo)) == (Outcome.REJECTED, [])
    assert "14 days" in ended(after).detail
    assert lines(scene) == frozenset()  # nobody said no
    judged(scene)
    (again,) = reflect(scene.context(), Options(ranges=run.snapshots), Quiet()).runs
    assert outcomes([again]) == ["awaiting_review"]


def test_a_sweep_leaves_what_waits(scene, repo):
    run = waits(scene)
    scene.clock.passed += 100 * DAY
    with log.opened(scene.context().agent.log) as logger:
        sweep(scene.context(), logger, dry_run=False)
    assert refs(repo) == [f"refs/reflector/review/{run.id}"]
    assert approve(scene.context(), run.id).outcome is Outcome.MERGED


# Undone


def merged(scene: Scene) -> Run:
    scene.says(LESSON, "Noted.")
    scene.event(Settled(success=True))
    (run,) = scene.drains("false")
    assert outcomes([run]) == ["merged"]
    return run


def replayed(scene: Scene, run: Run) -> Run:
    (again,) = reflect(scene.context(), Options(ranges=run.snapshots), Quiet()).runs
    return again


def test_learned_undone_and_replayed_it_waits_for_a_person(plain):
    run = merged(plain)
    undo(plain.context(), run.id)
    again = replayed(plain, run)
    assert outcomes([again]) == ["awaiting_review"]
    assert [each["code"] for each in ended(again).findings] == ["undone_before"]
    assert "undid or rejected" in ended(again).detail
    judged(plain)


def test_an_undo_that_is_refused_at_the_last_moment_forgets_its_lines(plain, monkeypatch):
    run, repo = merged(plain), Repo(plain.repo)
    update_ref = Porcelain.update_ref

    def overtaken(*words: Any) -> None:
        repo.write({HUMAN: "mine for now\n"})
        monkeypatch.undo()
        update_ref(*words)

    monkeypatch.setattr(Porcelain, "update_ref", overtaken)
    with pytest.raises(ParentDirtyError):
        undo(plain.context(), run.id)
    assert (learned(repo), lines(plain)) == (1, frozenset())


def test_an_undo_that_broke_off_has_not_forgotten_what_was_taken_back(plain, monkeypatch):
    run = merged(plain)
    with monkeypatch.context() as patch:
        death_in(patch, Porcelain, "update_ref", before=False)
        with pytest.raises(DeathError):
            undo(plain.context(), run.id)
    assert len(lines(plain)) == 1
    with pytest.raises(ReflectorError, match="undone already"):
        undo(plain.context(), run.id)
    assert outcomes([replayed(plain, run)]) == ["awaiting_review"]
    judged(plain)


def test_after_a_lost_database_git_tells_what_was_undone(plain):
    run = merged(plain)
    undo(plain.context(), run.id)
    before = lines(plain)
    assert before
    with plain.context().state() as state, state.transaction() as connection:
        connection.execute("DELETE FROM unwanted")
    assert remember_undone(plain.context()) == 1
    assert lines(plain) == before
    assert remember_undone(plain.context()) == 1
    assert lines(plain) == before


def test_approving_an_undone_line_means_that_it_is_wanted_again(plain):
    run = merged(plain)
    undo(plain.context(), run.id)
    again = replayed(plain, run)
    approve(plain.context(), again.id)
    assert lines(plain) == frozenset()
    judged(plain)


def test_a_kept_tip_with_a_line_that_was_undone_meanwhile_waits_for_a_person(plain):
    run, repo = merged(plain), Repo(plain.repo)
    undo(plain.context(), run.id)
    with plain.context().state() as state, state.transaction() as connection:
        remembered = connection.execute("SELECT run, path, line FROM unwanted").fetchall()
        unwanted.forget_run(connection, run.id)
    before = (repo.path / HUMAN).read_text("utf-8")
    repo.write({HUMAN: "mine for now\n"})
    assert outcomes([replayed(plain, run)]) == ["parent_dirty"]
    with plain.context().state() as state, state.transaction() as connection:
        for row in remembered:
            unwanted.record(connection, row["run"], {row["path"]: [row["line"]]}, "undone", "now")
    repo.write({HUMAN: before})
    assert outcomes(plain.drains("false")) == ["awaiting_review"]
    judged(plain)


# What was learned


def test_status_counts_what_was_learned_until_a_session_was_told(plain):
    run = merged(plain)
    ((code, sentence),) = status(plain.context()).notices
    assert code == "learned"
    assert sentence == f"Learned 1 thing since the last session: `reflector show {run.id}`."
    silent = replace(
        plain.context(),
        settings=replace(
            plain.context().settings, values={**plain.context().settings.values, "notice": False}
        ),
    )
    assert not status(silent).notices
