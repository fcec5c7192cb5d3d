from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reflector.core.backoff import Backoff, Suspect
from reflector.core.completion import Completed, Ended, Record, complete
from reflector.core.park import Parked, Watching
from reflector.core.run import Outcome, Reason
from reflector.core.snapshot import Snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FULL = 1000


def _snapshot(name: str, mode="advance") -> Snapshot:
    return Snapshot(name, 1, 2, f"{name}:1", f"{name}:2", 2, FULL, 0, mode)


A, B, OLD = _snapshot("h/a"), _snapshot("h/b"), _snapshot("h/a", "replay")
FAILED = Ended(
    run="r",
    pipeline="reflection",
    automatic=True,
    dry_run=False,
    outcome=Outcome.FAILED,
    reason=Reason.VALIDATION,
    detail="no",
    snapshots=(A,),
    settings="s",
)
MERGED = replace(FAILED, outcome=Outcome.MERGED, reason=None)
BAD = Record(Backoff(3, NOW), Suspect("h/a", "h/a:1", (), 10))


def _complete(ended: Ended, records=None, before=Watching()) -> Completed:  # noqa: B008
    return complete(ended, records or {}, before, FULL, NOW, 0.5)


@pytest.mark.parametrize("outcome", [Outcome.MERGED, Outcome.NO_CHANGES, Outcome.AWAITING_REVIEW])
@pytest.mark.parametrize("automatic", [True, False])
def test_a_success_moves_the_cursors_and_clears_everything(outcome, automatic):
    ended = replace(MERGED, outcome=outcome, automatic=automatic, snapshots=(A, B))
    done = _complete(ended, {"h/a": BAD}, _complete(replace(FAILED, reason=Reason.AUTH)).park)
    assert done == Completed(
        Watching(), consumed=(A, B), records={"h/a": Record(), "h/b": Record()}
    )


def test_a_replay_moves_no_cursor_and_clears_no_back_off():
    done = _complete(replace(MERGED, snapshots=(OLD, B)), {"h/a": BAD})
    assert (done.consumed, set(done.records)) == ((B,), {"h/b"})
    failed = _complete(replace(FAILED, snapshots=(OLD,)))
    assert (failed.set_aside, failed.records) == ((), {})


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_dry_run_changes_nothing(outcome):
    before = _complete(FAILED).park
    ended = replace(FAILED, outcome=outcome, dry_run=True)
    assert _complete(ended, {"h/a": BAD}, before) == Completed(before)


@pytest.mark.parametrize(
    "outcome",
    [Outcome.PARENT_DIRTY, Outcome.MERGE_CONFLICT, Outcome.CANCELLED, Outcome.REJECTED],
)
def test_what_counts_for_nothing_changes_nothing(outcome):
    before = _complete(FAILED).park
    ended = replace(FAILED, outcome=outcome, reason=None)
    assert _complete(ended, {"h/a": BAD}, before) == Completed(before)


def test_a_failed_automatic_run_makes_all_its_conversations_wait():
    done = _complete(replace(FAILED, reason=Reason.OVERLOADED, snapshots=(A, B)))
    waits = Backoff(1, NOW + timedelta(seconds=5))
    assert done.records == {"h/a": Record(waits), "h/b": Record(waits)}
    assert done.consumed == ()


@pytest.mark.parametrize("how", [{"automatic": False}, {"pipeline": "dream"}])
def test_manual_and_dream_failures_make_nobody_wait(how):
    done = _complete(replace(FAILED, reason=Reason.OVERLOADED, **how), {"h/a": BAD})
    assert done.records == {"h/a": BAD}


def test_a_manual_failure_counts_for_suspicion_and_not_for_the_park():
    done = _complete(replace(FAILED, automatic=False))
    assert done.park == Watching()
    suspect = done.records["h/a"].suspect
    assert suspect is not None
    assert suspect.strikes[0].failures == 1


def test_what_is_set_aside_starts_its_conversation_afresh():
    ended = replace(FAILED, smallest=frozenset({"h/a"}))
    once = _complete(ended)
    twice = _complete(ended, once.records, once.park)
    assert [each.snapshot for each in twice.set_aside] == [A]
    assert twice.records == {"h/a": Record()}
    assert twice.consumed == ()


def test_a_fatal_failure_parks_with_its_settings():
    done = _complete(replace(FAILED, reason=Reason.AUTH, detail="x" * 600))
    assert done.parked
    assert isinstance(done.park, Parked)
    assert done.park.settings == "s"
    assert done.park.streak.last.reason == "auth"
    assert len(done.park.streak.last.detail) == 512


def test_an_outcome_without_a_reason_is_named_by_itself():
    done = _complete(replace(FAILED, outcome=Outcome.DIRTY_UNCOMMITTED, reason=None))
    assert isinstance(done.park, Watching)
    assert done.park.streak is not None
    assert done.park.streak.last.reason == "dirty_uncommitted"
