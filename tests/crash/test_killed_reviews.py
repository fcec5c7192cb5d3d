"""Approvals and rejections killed at every saved move and on both sides of every effect."""

from __future__ import annotations

import signal

import pytest

from reflector.core.run import Outcome
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.review import NotWaitingError, approve, asking, reject
from reflector.store import reservations, unwanted
from tests.support.auditor import git
from tests.support.deaths import HUMAN, LESSON, Mortal

pytestmark = [pytest.mark.crash, pytest.mark.slow]

KILLED = -signal.SIGKILL


def waits(mortal: Mortal) -> str:
    (run,) = reflect(asking(mortal.now()), Options(), Quiet()).runs
    assert run.outcome is Outcome.AWAITING_REVIEW
    return run.id


def outcome(mortal: Mortal, run_id: str) -> Outcome | None:
    with mortal.now().state() as state:
        return reservations.find(state.connection, run_id).outcome


def repeated(mortal: Mortal, decide, run_id: str) -> None:
    """Do it again: it is done then, or it says that it was done already."""
    try:
        decide(mortal.now(), run_id)
    except NotWaitingError as error:
        assert "merged by" in error.message or "rejected" in error.message


def both(*names: str) -> list[str]:
    return [f"{when}:{name}" for name in names for when in ("before", "after")]


APPROVE = [
    *both("approve", "lock", "commit", "copy", "saved", "ref", "written", "files", "exchange"),
    *both("index", "release", "integrated", "settled", "block", "forget"),
    "half:written",
]


@pytest.mark.parametrize(("point", "then"), [
    (point, ("approve", "reflect", "event")[number % 3]) for number, point in enumerate(APPROVE)
])  # fmt: skip
def test_a_killed_approval_is_not_made_or_merged_once(nursery, mortal, point, then):
    run = waits(mortal)
    words = ("review", "approve", run, "--home", mortal.home)
    code, said = nursery.run(f"supervisor:{point}", mortal.home, *words)
    assert code == KILLED, said
    if then != "approve":
        mortal.recovered(then)
        assert outcome(mortal, run) in (Outcome.AWAITING_REVIEW, Outcome.MERGED)
    repeated(mortal, approve, run)
    assert outcome(mortal, run) is Outcome.MERGED
    mortal.judge(LESSON)
    assert git(mortal.repo, "for-each-ref", "refs/reflector") == b""


@pytest.mark.parametrize("point", both("reject", "forget"))
@pytest.mark.parametrize("then", ["reject", "reflect", "event"])
def test_a_killed_rejection_is_not_made_or_made_whole(nursery, mortal, point, then):
    run = waits(mortal)
    words = ("review", "reject", run, "--home", mortal.home)
    code, said = nursery.run(f"supervisor:{point}", mortal.home, *words)
    assert code == KILLED, said
    if then != "reject":
        mortal.recovered(then)
        mortal.judge(merges=0)
    repeated(mortal, reject, run)
    assert outcome(mortal, run) is Outcome.REJECTED
    mortal.judge(merges=0)
    assert git(mortal.repo, "for-each-ref", "refs/reflector") == b""
    assert LESSON.encode().rstrip(b".") not in git(mortal.repo, "show", f"main:{HUMAN}")
    with mortal.now().state() as state:
        assert len(unwanted.lines(state.connection)) == 1


@pytest.mark.parametrize("point", both("keep", "settled"))
def test_a_run_that_is_to_wait_waits_though_its_supervisor_dies(nursery, mortal, point):
    (mortal.home / "config.toml").write_text(
        'merge = "review"\n[trigger]\nstep_count = 1\n', "utf-8"
    )
    assert mortal.killed(nursery, f"supervisor:{point}", "event")[0] == KILLED
    mortal.recovered("event")
    mortal.judge(merges=0)
    assert git(mortal.repo, "for-each-ref", "refs/reflector/review").count(b"\n") == 1
    (mortal.home / "config.toml").write_text("", "utf-8")
    with mortal.now().state() as state:
        (run,) = reservations.recent(state.connection, 1)
    approve(mortal.now(), run.id)
    mortal.judge(LESSON)
