"""A stuck owner is named, ended after it was verified, and its run brought to an end (ENGINE 4.4)."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psutil
import pytest

from reflector.core.ambient import Ambient, stamp
from reflector.runtime import loop, unseat
from reflector.runtime.doctor import doctor
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import REFLECTION, Quiet, drain
from reflector.runtime.overdue import is_late, overdue
from reflector.runtime.unseat import unseated
from reflector.runtime.wiring import context
from reflector.store import reservations
from reflector.store.locks import Lock, Owner, owner, process_start
from tests.support.auditor import rows
from tests.support.clocks import WHEN
from tests.support.guarded import born
from tests.support.journals import REQUEST, ended, heard, python
from tests.support.paused import Paused
from tests.support.repos import RUN
from tests.support.scenes import Shifted, outcomes
from tests.support.transcripts import conversation

MINUTE = timedelta(minutes=1)
TOKEN = "a" * 32
_HOLDS = """
import sys
from reflector.store.locks import Lock, owner
from pathlib import Path
lock = Lock(Path({path!r}))
assert lock.take()
lock.sign(owner({token!r}))
print("here", flush=True)
input()
"""


class Impatient(Shifted):
    """A clock that is so many seconds further on, and waits for nothing but does something."""

    def __init__(self, seconds: float = 0, meanwhile: Callable[[], object] = lambda: None) -> None:
        super().__init__(seconds)
        self._meanwhile = meanwhile

    def sleep(self, seconds: float) -> None:
        if seconds > 1:
            self._meanwhile()
        else:
            super().sleep(seconds)


@pytest.mark.parametrize(
    ("began", "seen", "late"),
    [(41, 11, True), (40, 11, False), (41, 10, False), (41, 0, False), (600, 0, False)],
)
def test_late_is_ten_minutes_past_the_deadline_without_a_sign_of_life(began, seen, late):
    assert is_late(WHEN - began * MINUTE, WHEN - seen * MINUTE, WHEN, 30) is late


def test_a_process_is_told_from_a_later_one_with_its_id():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        first = process_start(sleeper.pid)
        assert first
        assert process_start(sleeper.pid) == first
    finally:
        sleeper.kill()
        sleeper.wait()
    assert process_start(sleeper.pid) == ""


class Seat:
    """A slot with a living owner whose run began an hour ago."""

    def __init__(self, folder) -> None:
        self.memory = born(folder)
        self.lock = Lock(self.memory.agent.lock(f"run-{REFLECTION}"))
        self.process = python(_HOLDS.format(path=str(self.lock.path), token=TOKEN))
        heard(self.process)
        signed = self.lock.signature()
        assert signed is not None
        self.signed = signed

    def reserved(self, **differs: Any) -> None:
        """Write the ledger's row, as the owner would have but for what differs."""
        then = stamp(self.memory.ambient.clock.now() - 60 * MINUTE)
        with self.memory.state() as state, state.transaction() as connection:
            who = replace(self.signed, **differs)
            reservations.reserve(connection, RUN, REFLECTION, REQUEST, (), who, then)

    def at(self, clock: Impatient) -> bool:
        """Be the next supervisor."""
        return unseated(
            replace(self.memory, ambient=Ambient(clock, self.memory.ambient.chance)), REFLECTION
        )

    def lives(self) -> bool:
        return self.process.poll() is None


@pytest.fixture
def seat(tmp_path):
    made = Seat(tmp_path)
    yield made
    with suppress(OSError):
        made.process.kill()
    ended(made.process)


def test_a_stuck_owner_is_ended(seat):
    seat.reserved()
    seat.process.send_signal(signal.SIGSTOP)
    assert seat.at(Impatient())
    assert seat.process.wait(10) == -signal.SIGKILL
    assert seat.lock.take()


def test_an_owner_that_is_not_late_is_left_alone(seat):
    seat.reserved()
    assert not seat.at(Impatient(-25 * 60))
    assert seat.lives()


def test_an_owner_that_gives_a_sign_of_life_meanwhile_is_left_alone(seat):
    seat.reserved()

    def beats() -> None:
        with seat.memory.state() as state:
            phase = reservations.find(state.connection, RUN).phase
            now = stamp(seat.memory.ambient.clock.now())
            reservations.note(state, RUN, TOKEN, phase, heartbeat_at=now)

    assert not seat.at(Impatient(meanwhile=beats))
    assert seat.lives()


@pytest.mark.parametrize(
    "differs", [{"host": "elsewhere"}, {"boot": "before"}, {"pid": 1}, {"token": "b" * 32}]
)
def test_an_owner_of_whom_something_else_was_recorded_is_left_alone(seat, differs):
    seat.reserved(**differs)
    assert not seat.at(Impatient())
    assert seat.lives()


def forged(seat: Seat, **differs: Any) -> Owner:
    """Sign the owner's lock in its place."""
    signed = replace(seat.signed, **differs)
    taken = Lock(seat.lock.path.with_name("forged.lock"))
    assert taken.take()
    taken.sign(signed)
    taken.release()
    seat.lock.path.write_bytes(taken.path.read_bytes())
    return signed


def test_a_process_that_started_at_another_time_is_left_alone(seat):
    forged(seat, started="1")
    seat.reserved()
    assert not seat.at(Impatient())
    assert seat.lives()


def test_a_process_that_does_not_hold_the_lock_is_left_alone(seat):
    other = python("print('here', flush=True)\ninput()")
    heard(other)
    signed = forged(seat, pid=other.pid, started=process_start(other.pid))
    seat.reserved(pid=signed.pid)
    assert not seat.at(Impatient())
    assert (other.poll(), seat.lives()) == (None, True)
    other.kill()
    ended(other)


def test_an_adopted_run_is_as_young_as_its_owner(tmp_path):
    memory = born(tmp_path)
    now = memory.ambient.clock.now()
    with memory.state() as state:
        with state.transaction() as connection:
            who, then = owner(TOKEN), stamp(now - 600 * MINUTE)
            reservations.reserve(connection, RUN, REFLECTION, REQUEST, (), who, then)
        assert overdue(memory, REFLECTION) is not None
        reservations.adopt(state, RUN, who, stamp(now))
    assert overdue(memory, REFLECTION) is None


@pytest.mark.slow
def test_a_supervisor_that_was_stopped_is_named_killed_and_its_run_recovered(tmp_path):
    cli = Paused(tmp_path / "home")
    assert cli("init").code == 0
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs.", "Noted.")
    process = cli.start("reflect", talk)
    child = cli.child()
    process.send_signal(signal.SIGSTOP)
    found = context(str(cli.home), "default")
    later = replace(found, ambient=Ambient(Impatient(41 * 60), found.ambient.chance))
    named = [each for each in doctor(later) if each.name == "owner_stuck"]
    assert [f"process {process.pid} " in each.message for each in named] == [True]
    runs = drain(later, REFLECTION, Quiet(), CHILD)
    assert outcomes(runs or []) == ["failed/supervisor_died"]
    assert process.wait(10) == -signal.SIGKILL
    assert _is_gone(child)
    assert not [each for each in doctor(later) if each.name == "owner_stuck"]
    process.communicate()


def _is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.slow
def test_the_next_detached_supervisor_ends_a_stuck_one(seat, monkeypatch, capsys):
    seat.reserved()
    monkeypatch.setattr(unseat, "_LOOK_AGAIN_SECONDS", 0)
    seat.process.send_signal(signal.SIGSTOP)
    assert loop.main([str(seat.memory.home.path), "default"]) == 0
    assert capsys.readouterr().out == "busy\n"
    found = rows(seat.memory.agent.state, "SELECT outcome, reason FROM runs")
    assert [tuple(row) for row in found] == [("failed", "supervisor_died")]
