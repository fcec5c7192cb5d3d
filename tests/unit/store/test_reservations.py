"""A run is moved by its owner alone, phase by phase, and its end moves the cursors with it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import pairwise

import pytest

from reflector.core.errors import BusyError, NotFoundError, StateError
from reflector.core.run import CONSUMING, NEXT, Outcome, Phase, Reason, Run, Settlement
from reflector.core.snapshot import Snapshot
from reflector.store import journal, reservations
from reflector.store.locks import Owner
from reflector.store.state import State
from tests.support.journals import (
    ME,
    NOW,
    OTHER,
    REQUEST,
    about,
    append,
    assistant,
    ended,
    heard,
    journal_in,
    python,
    say,
    user,
)

RUN = "20261130T120000-00000001"
STRANGER = Owner("host", "boot", 3, "c" * 32)
_PATH = [Phase.RESERVED, *(then for (then,) in list(NEXT.values())[:-1])]


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as opened:
        yield opened


def reserve(
    state: State,
    run: str = RUN,
    *,
    slot: str = "reflection",
    who: Owner = ME,
    snapshots: tuple[Snapshot, ...] = (),
    now: str = NOW,
    dry_run: bool = False,
) -> Run:
    with state.transaction() as connection:
        request = replace(REQUEST, dry_run=dry_run)
        reservations.reserve(connection, run, slot, request, snapshots, who, now)
    return reservations.find(state.connection, run)


def settle(state: State, outcome: Outcome, run: str = RUN, who: Owner = ME, **values) -> None:
    reservations.settle(state, run, who.token, Settlement(outcome, **values), NOW)


def advance_to(state: State, phase: Phase, run: str = RUN) -> None:
    for now, then in pairwise(_PATH[: _PATH.index(phase) + 1]):
        reservations.advance(state, run, ME.token, now, then)


def spoken(state: State) -> Snapshot:
    append(state, [user("u"), assistant("a")])
    taken = journal.snapshot(state.connection, about(state), 10**6)
    assert taken is not None
    return taken


# Reserving


def test_a_reserved_run_is_active_and_carries_everything_that_was_asked(state):
    taken = spoken(state)
    run = reserve(state, snapshots=(taken, replace(taken, mode="replay")))
    assert run.request == REQUEST
    assert run.snapshots == (taken, replace(taken, mode="replay"))
    assert (run.phase, run.outcome, run.settlement) == (Phase.RESERVED, None, None)
    assert (run.repository, run.reserved_at, run.sandboxed) == ("memory", NOW, False)
    assert reservations.active(state.connection) == [run]


def test_a_slot_has_one_active_run_and_other_slots_are_free(state):
    reserve(state)
    with pytest.raises(BusyError, match="holds the reflection slot"):
        reserve(state, "20261130T120001-00000002", who=OTHER)
    other = reserve(state, "20261130T120001-00000003", slot="diary", who=OTHER)
    assert reservations.active(state.connection, "diary") == [other]
    assert len(reservations.active(state.connection)) == 2
    settle(state, Outcome.FAILED)
    reserve(state, "20261130T120002-00000004", who=OTHER)


def test_a_refused_reservation_leaves_nothing_of_itself(state):
    taken = spoken(state)
    reserve(state)
    with pytest.raises(BusyError):
        reserve(state, "20261130T120001-00000002", snapshots=(taken,))
    assert len(reservations.recent(state.connection, 9)) == 1
    assert state.connection.execute("SELECT count(*) FROM run_snapshots").fetchone()[0] == 0


_RESERVING = """
import sys
from pathlib import Path
from reflector.core.errors import BusyError
from reflector.store import reservations
from reflector.store.locks import owner
from tests.support.journals import NOW, REQUEST, journal_in
with journal_in(Path(sys.argv[1])) as state:
    print("here", flush=True)
    sys.stdin.readline()
    try:
        with state.transaction() as connection:
            who = owner(sys.argv[2])
            reservations.reserve(connection, sys.argv[2], "reflection", REQUEST, (), who, NOW)
        print("won", flush=True)
    except BusyError:
        print("busy", flush=True)
"""


@pytest.mark.race
def test_of_two_processes_that_reserve_at_once_exactly_one_wins(tmp_path):
    both = [python(_RESERVING, tmp_path, f"run-{number}") for number in range(2)]
    for process in both:
        heard(process)
    for process in both:
        say(process, "go")
    said = [heard(process) for process in both]
    assert [ended(process) for process in both] == [0, 0]
    assert sorted(said) == ["busy", "won"]
    with journal_in(tmp_path) as state:
        (active,) = reservations.active(state.connection)
        assert active.id == f"run-{said.index('won')}"


def test_lone_surrogates_in_a_focus_or_a_detail_are_replaced(state):
    with state.transaction() as connection:
        asked = replace(REQUEST, focus="look at \udcff")
        reservations.reserve(connection, RUN, "reflection", asked, (), ME, NOW)
    settle(state, Outcome.FAILED, detail="/home/\udcff: no")
    run = reservations.find(state.connection, RUN)
    assert run.request.focus == "look at ?"
    assert run.settlement is not None
    assert run.settlement.detail == "/home/?: no"


# Moving


def test_a_run_goes_through_its_phases_and_keeps_what_each_move_saved(state):
    reserve(state)
    reservations.advance(
        state, RUN, ME.token, Phase.RESERVED, Phase.PROVISIONING, branch="b", base="1" * 40
    )
    reservations.advance(
        state, RUN, ME.token, Phase.PROVISIONING, Phase.RUNNING, started_at=NOW, sandboxed=1
    )
    reservations.note(state, RUN, ME.token, Phase.RUNNING, heartbeat_at=NOW)
    reservations.advance(state, RUN, ME.token, Phase.RUNNING, Phase.VALIDATING, tip="2" * 40)
    run = reservations.find(state.connection, RUN)
    assert (run.phase, run.branch, run.base) == (Phase.VALIDATING, "b", "1" * 40)
    assert (run.started_at, run.sandboxed, run.tip) == (NOW, True, "2" * 40)


@pytest.mark.parametrize("now", Phase)
@pytest.mark.parametrize("then", Phase)
def test_no_run_skips_a_phase_or_goes_back(state, now, then):
    reserve(state)
    advance_to(state, now)
    if then in NEXT[now]:
        reservations.advance(state, RUN, ME.token, now, then)
        return
    with pytest.raises(StateError, match=f"cannot move from {now} to {then}"):
        reservations.advance(state, RUN, ME.token, now, then)
    assert reservations.find(state.connection, RUN).phase is now


def test_a_wrong_token_a_wrong_phase_and_a_settled_run_are_refused(state):
    reserve(state)
    moves = [
        (OTHER, Phase.RESERVED, Phase.PROVISIONING),
        (ME, Phase.RUNNING, Phase.VALIDATING),
    ]
    before = reservations.find(state.connection, RUN)
    for who, now, then in moves:
        with pytest.raises(BusyError, match="no longer in phase"):
            reservations.advance(state, RUN, who.token, now, then, tip="3" * 40)
        with pytest.raises(BusyError):
            reservations.note(state, RUN, who.token, now, tip="3" * 40)
    with pytest.raises(BusyError, match="settled by somebody else"):
        settle(state, Outcome.MERGED, who=OTHER)
    assert reservations.find(state.connection, RUN) == before
    settle(state, Outcome.FAILED)
    settled = reservations.find(state.connection, RUN)
    with pytest.raises(BusyError):
        reservations.advance(state, RUN, ME.token, Phase.RESERVED, Phase.PROVISIONING)
    with pytest.raises(BusyError):
        settle(state, Outcome.MERGED)
    assert reservations.find(state.connection, RUN) == settled


def test_only_the_changeable_fields_of_a_run_can_be_changed(state):
    reserve(state)
    for name in ("owner_pid", "outcome", "engine", "branch = 'x', outcome"):
        with pytest.raises(StateError, match="no changeable"):
            reservations.note(state, RUN, ME.token, Phase.RESERVED, **{name: "x"})


def test_an_adopted_run_obeys_its_new_owner_alone(state):
    reserve(state)
    reservations.adopt(state, RUN, OTHER)
    with pytest.raises(BusyError):
        reservations.advance(state, RUN, ME.token, Phase.RESERVED, Phase.PROVISIONING)
    reservations.advance(state, RUN, OTHER.token, Phase.RESERVED, Phase.PROVISIONING)
    settle(state, Outcome.FAILED, who=OTHER)
    reservations.adopt(state, RUN, ME)
    with pytest.raises(BusyError):
        settle(state, Outcome.FAILED)


# Settling


@pytest.mark.parametrize("outcome", Outcome)
def test_only_consuming_outcomes_move_the_cursor_and_the_counters(state, outcome):
    taken = spoken(state)
    before = about(state)
    reserve(state, snapshots=(taken,))
    settle(state, outcome)
    after = about(state)
    if outcome in CONSUMING:
        assert outcome.value in {"merged", "no_changes", "awaiting_review"}
        assert (after.cursor, after.steps_since_reflection) == (taken.last_sequence, 0)
        assert after.unreflected_bytes == 0
    else:
        assert after == before
    assert reservations.find(state.connection, RUN).outcome is outcome


@pytest.mark.parametrize("outcome", sorted(CONSUMING))
def test_a_dry_run_and_a_replay_never_move_a_cursor_however_they_end(state, outcome):
    taken = spoken(state)
    before = about(state)
    reserve(state, snapshots=(taken,), dry_run=True)
    settle(state, outcome)
    reserve(state, "20261130T120001-00000002", snapshots=(replace(taken, mode="replay"),))
    settle(state, outcome, "20261130T120001-00000002")
    assert about(state) == before


def test_a_settled_run_tells_how_it_ended_in_full(state):
    reserve(state)
    findings: tuple[dict[str, str | int], ...] = (
        {"code": "secret", "severity": "error", "path": "ä.md", "line": 3, "message": "m"},
    )
    usage: dict[str, int | float | None] = {"input_tokens": 5, "cost_usd": None}
    end = Settlement(
        Outcome.FAILED,
        Reason.VALIDATION,
        "x" * 600,
        findings,
        usage,
        tip="1" * 40,
        kept_ref="refs/reflector/backup/x",
    )
    reservations.settle(state, RUN, ME.token, end, "2026-11-30T12:05:00.000Z")
    run = reservations.find(state.connection, RUN)
    assert run.settlement == replace(end, detail="x" * 512)
    assert (run.phase, run.tip) == (Phase.COMPLETED, "1" * 40)
    assert run.ended_at == "2026-11-30T12:05:00.000Z"


def test_settling_without_a_tip_keeps_the_tip_that_was_known(state):
    reserve(state)
    reservations.note(state, RUN, ME.token, Phase.RESERVED, tip="4" * 40)
    settle(state, Outcome.FAILED)
    assert reservations.find(state.connection, RUN).tip == "4" * 40


_SETTLING = """
import sqlite3, sys
from pathlib import Path
from reflector.core.run import Outcome, Settlement
from reflector.store import reservations
from tests.support.journals import ME, NOW, journal_in

def consume(connection, taken):
    move(connection, taken)
    print("between", flush=True)
    sys.stdin.readline()

move, reservations.consume = reservations.consume, consume
with journal_in(Path(sys.argv[1])) as state:
    reservations.settle(state, sys.argv[2], ME.token, Settlement(Outcome.MERGED), NOW)
"""


@pytest.mark.crash
def test_killed_between_outcome_and_commit_neither_is_there(tmp_path):
    with journal_in(tmp_path) as state:
        taken = spoken(state)
        before = reserve(state, snapshots=(taken,))
        waiting = about(state)
    process = python(_SETTLING, tmp_path, RUN)
    assert heard(process) == "between"
    assert ended(process, kill=True) == -9
    with journal_in(tmp_path) as state:
        assert reservations.find(state.connection, RUN) == before
        assert about(state) == waiting
        settle(state, Outcome.MERGED)
        assert about(state).cursor == taken.last_sequence


# Taking up again


def test_a_kept_tip_is_taken_up_again_at_integrating_by_its_new_owner(state):
    taken = spoken(state)
    reserve(state, snapshots=(taken,))
    settle(state, Outcome.PARENT_DIRTY, tip="1" * 40, kept_ref="refs/reflector/kept/x")
    (kept,) = reservations.kept(state.connection)
    assert kept.settlement is not None
    assert kept.settlement.kept_ref == "refs/reflector/kept/x"
    reservations.reopen(state, RUN, OTHER)
    (active,) = reservations.active(state.connection)
    assert (active.phase, active.outcome) == (Phase.INTEGRATING, None)
    assert reservations.kept(state.connection) == []
    with pytest.raises(BusyError):
        settle(state, Outcome.MERGED)
    settle(state, Outcome.MERGED, who=OTHER)
    assert about(state).cursor == taken.last_sequence


@pytest.mark.parametrize(
    ("outcome", "ref"),
    [
        *((outcome, "refs/x") for outcome in Outcome if outcome is not Outcome.PARENT_DIRTY),
        (Outcome.PARENT_DIRTY, None),
    ],
)
def test_nothing_but_a_kept_tip_is_taken_up_again(state, outcome, ref):
    reserve(state)
    with pytest.raises(BusyError, match="no kept tip"):
        reservations.reopen(state, RUN, OTHER)
    settle(state, outcome, kept_ref=ref)
    with pytest.raises(BusyError, match="no kept tip"):
        reservations.reopen(state, RUN, OTHER)
    assert reservations.active(state.connection) == []


def test_a_kept_tip_waits_while_its_slot_is_taken(state):
    reserve(state)
    settle(state, Outcome.PARENT_DIRTY, kept_ref="refs/x")
    reserve(state, "20261130T120001-00000002", who=OTHER)
    with pytest.raises(BusyError, match="cannot be taken up again now"):
        reservations.reopen(state, RUN, STRANGER)
    assert len(reservations.kept(state.connection)) == 1


def test_a_database_that_cannot_be_written_is_not_called_busy(state):
    reserve(state)
    settle(state, Outcome.PARENT_DIRTY, kept_ref="refs/x")
    state.connection.execute("PRAGMA query_only=ON")
    with pytest.raises(StateError, match="could not be used"):
        reservations.reopen(state, RUN, OTHER)


# Finding


def test_a_run_is_found_by_its_id_or_by_an_unambiguous_beginning(state):
    other = "20261130T120000-0000000a"
    for run in (RUN, other):
        reserve(state, run)
        settle(state, Outcome.FAILED, run)
    assert reservations.find(state.connection, RUN).id == RUN
    assert reservations.find(state.connection, other[:-1] + "a").id == other
    with pytest.raises(NotFoundError, match="more than one"):
        reservations.find(state.connection, "20261130T12")
    with pytest.raises(NotFoundError, match="no run begins"):
        reservations.find(state.connection, "20261201")


def test_a_whole_id_is_found_though_another_begins_with_it(state):
    for run in ("r1", "r10"):
        reserve(state, run)
        settle(state, Outcome.FAILED, run)
    assert reservations.find(state.connection, "r1").id == "r1"
    assert reservations.find(state.connection, "r10").id == "r10"


@pytest.mark.parametrize(
    "strange",
    ["", "*", "?", "%", "_", "[0-9]", "[", "2026*", "2026%", "2_26", "*2026", "' OR 1=1 --", "\0"],
)
def test_signs_that_mean_something_to_a_database_match_nothing(state, strange):
    reserve(state)
    with pytest.raises(NotFoundError):
        reservations.find(state.connection, strange)
    with pytest.raises(NotFoundError):
        reservations.find(state.connection, f"{strange}\udcff")


def test_the_newest_runs_come_first(state):
    made = []
    for second in range(4):
        made.append(f"20261130T12000{second}-00000001")
        reserve(state, made[-1], now=f"2026-11-30T12:00:0{second}.000Z")
        settle(state, Outcome.FAILED, made[-1])
    assert [run.id for run in reservations.recent(state.connection, 3)] == made[:0:-1]


def test_the_database_itself_refuses_a_second_active_run_and_an_end_without_outcome(state):
    reserve(state)
    for broken in (
        "UPDATE runs SET state = 'settled'",
        "UPDATE runs SET outcome = 'merged'",
        "UPDATE runs SET state = 'resting'",
        "INSERT INTO run_snapshots VALUES ('none', 0, 'c', 'advance', 1, 1, 'a', 'a', 1, 1, 0)",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            state.connection.execute(broken)


# Runs of one moment


def test_the_last_run_of_a_slot_is_the_newest_whatever_chance_made_of_its_id(state):
    first, second = "20261130T120000-ffffffff", "20261130T120000-00000002"
    reserve(state, first)
    settle(state, Outcome.PARENT_DIRTY, first, detail="not on main")
    assert reservations.could_not_begin(state.connection, "reflection") == "not on main"
    reserve(state, second)
    settle(state, Outcome.NO_CHANGES, second)
    assert reservations.could_not_begin(state.connection, "reflection") == ""


def test_runs_that_were_reserved_at_one_moment_are_told_in_the_order_in_which_they_were(state):
    order = [f"20261130T120000-0000000{digit}" for digit in "8192"]
    for run in order:
        reserve(state, run)
        settle(state, Outcome.PARENT_DIRTY, run, kept_ref=f"refs/reflector/kept/{run}")
    connection = state.connection
    assert [run.id for run in reservations.kept(connection)] == order
    assert [run.id for run in reservations.ended_since(connection, NOW)] == order
    assert [run.id for run in reservations.recent(connection, 9)] == order[::-1]
