"""A lock belongs to a process, and ends with it however that ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reflector.core.errors import BusyError, HomeError
from reflector.store.locks import Lock, held, owner
from tests.support.clocks import FakeClock
from tests.support.journals import ended, heard, python

_HOLDING = """
import sys
from pathlib import Path
from reflector.store.locks import Lock
lock = Lock(Path(sys.argv[1]))
print(lock.take(shared=sys.argv[2] == "shared"), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.lock"


@pytest.mark.crash
@pytest.mark.parametrize("how", ["exclusive", "shared"])
def test_a_lock_ends_with_its_process_even_when_that_is_killed(path, how):
    process = python(_HOLDING, path, how)
    assert heard(process) == "True"
    mine = Lock(path)
    assert not mine.take()
    assert mine.take(shared=True) == (how == "shared")
    mine.release()
    assert ended(process, kill=True) == -9
    assert mine.take()
    mine.release()


def test_an_exclusive_lock_keeps_everybody_out_and_shared_ones_keep_each_other_company(path):
    one, two, three = Lock(path), Lock(path), Lock(path)
    assert one.take(shared=True)
    assert two.take(shared=True)
    assert not three.take()
    one.release()
    assert not three.take()
    two.release()
    assert three.take()
    assert not one.take(shared=True)
    assert not one.take()
    three.release()
    three.release()
    assert one.take()
    one.release()


def test_a_child_process_does_not_inherit_the_lock(path):
    mine = Lock(path)
    assert mine.take()
    child = subprocess.Popen(
        [sys.executable, "-c", "print('here', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        close_fds=False,
    )
    assert heard(child) == "here"
    mine.release()
    other = Lock(path)
    assert other.take()
    other.release()
    child.communicate("\n", timeout=30)


def test_waiting_ends_with_a_busy_error_that_says_what_goes_on(path):
    clock, other = FakeClock(), Lock(path)
    assert other.take()
    with (
        pytest.raises(BusyError, match="migrating the house for 7 seconds") as caught,
        held(path, clock, "migrating the house", seconds=7),
    ):
        pytest.fail("the lock was somebody else's")
    assert 7 <= clock.passed < 8
    assert caught.value.exit_code == 4
    assert caught.value.facts == {"lock": str(path)}
    other.release()


def test_waiting_ends_as_soon_as_the_lock_is_free(path):
    other = Lock(path)
    assert other.take()

    class Freeing(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.passed > 3:
                other.release()

    clock = Freeing()
    with held(path, clock, "working"):
        assert not other.take(shared=True)
    assert 3 < clock.passed < 4
    assert other.take()
    other.release()


def test_a_lock_that_is_free_is_taken_without_waiting_and_given_back_after_a_failure(path):
    clock = FakeClock()
    with pytest.raises(ZeroDivisionError), held(path, clock, "working", seconds=0):
        raise ZeroDivisionError
    with held(path, clock, "working", seconds=0, shared=True), held(path, clock, "x", shared=True):
        assert clock.passed == 0


def test_a_lock_follows_no_link_and_says_what_is_wrong_with_its_folder(path, tmp_path):
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HomeError, match=r"a\.lock cannot be used"):
        Lock(path).take()
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(HomeError, match="No such file or directory") as caught:
        Lock(tmp_path / "missing" / "a.lock").take()
    assert caught.value.exit_code == 3
    assert "init" in caught.value.hint


def test_an_owner_is_described_for_people():
    mine = owner("t" * 32)
    assert (mine.pid, mine.token) == (os.getpid(), "t" * 32)
    assert mine.host == os.uname().nodename
    assert owner("x").boot == mine.boot
