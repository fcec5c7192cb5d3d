"""Turns: so many runs at once on a machine, and whoever waits longest comes next."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from reflector.core.ambient import system
from reflector.store.locks import Lock
from reflector.store.turns import turn
from tests.support.clocks import ambient
from tests.support.journals import heard, python, say

TAKES_TURNS = """
import sys
from pathlib import Path
from reflector.core.ambient import system
from reflector.store.turns import turn
folder, name = Path(sys.argv[1]), sys.argv[2]
for line in sys.stdin:
    print("waits", flush=True)
    with turn(folder, 1, system(), lambda: False) as ours:
        with (folder / "order").open("a") as file:
            file.write(name)
        print("has it", flush=True)
        sys.stdin.readline()
    print("done", flush=True)
"""


def never() -> bool:
    return False


def after(times: int) -> Callable[[], bool]:
    left = iter(range(times))
    return lambda: next(left, None) is None


def test_no_more_turns_than_places_are_held_at_once(tmp_path):
    with ExitStack() as stack:
        for _ in range(2):
            assert stack.enter_context(turn(tmp_path, 2, ambient(), never))
        assert not stack.enter_context(turn(tmp_path, 2, ambient(), after(3)))
    with turn(tmp_path, 2, ambient(), never) as ours:
        assert ours


def test_a_turn_that_ends_badly_is_given_back(tmp_path):
    with pytest.raises(ZeroDivisionError), turn(tmp_path, 1, ambient(), never):
        raise ZeroDivisionError
    with turn(tmp_path, 1, ambient(), after(1)) as ours:
        assert ours


def test_told_to_stop_a_waiter_leaves_no_ticket(tmp_path):
    with (
        turn(tmp_path, 1, ambient(), never),
        turn(tmp_path, 1, ambient(), after(2)) as ours,
    ):
        assert not ours
    assert list(tmp_path.glob("turn-*")) == []


def test_the_ticket_of_a_dead_waiter_keeps_nobody_waiting(tmp_path):
    (tmp_path / "turn-20000101000000000000-dead.lock").touch()
    with turn(tmp_path, 1, ambient(), after(1)) as ours:
        assert ours
    assert list(tmp_path.glob("turn-*")) == []


def test_nobody_goes_before_one_who_waits(tmp_path):
    waits = Lock(tmp_path / "turn-20000101000000000000-first.lock")
    assert waits.take()
    with turn(tmp_path, 1, ambient(), after(3)) as ours:
        assert not ours
    waits.release()


def test_a_ticket_that_was_thrown_away_before_it_was_locked_is_drawn_again(tmp_path, monkeypatch):
    take = Lock.take
    thrown: list[Path] = []

    def slow(self, *, shared=False):
        if "turn-" in self.path.name and not thrown:
            thrown.append(self.path)
            return False  # a prober has it at this moment, and removes it
        return take(self, shared=shared)

    with turn(tmp_path, 1, ambient(), never):
        monkeypatch.setattr(Lock, "take", slow)
        seen: list[str] = []

        def looks() -> bool:
            seen.extend(each.name for each in tmp_path.glob("turn-*"))
            return bool(seen)

        with turn(tmp_path, 1, ambient(), looks) as ours:
            assert not ours
    assert seen
    assert seen[0] != thrown[0].name


@pytest.mark.slow
def test_who_just_had_a_turn_queues_up_again_behind_the_others(tmp_path):
    with turn(tmp_path, 1, system(), never):
        waiting = {name: python(TAKES_TURNS, tmp_path, name) for name in "ab"}
        for name in "ab":
            queue(waiting[name], tmp_path)
    for name in "abab":
        process = waiting[name]
        assert heard(process) == "has it"
        say(process, "end")
        assert heard(process) == "done"
        other = waiting["b" if name == "a" else "a"]
        assert other.poll() is None
        queue(process, None)
    for process in waiting.values():
        process.kill()
        process.communicate()
    assert (tmp_path / "order").read_text()[:4] == "abab"


def queue(process: subprocess.Popen[str], folder) -> None:
    """Have a process wait for its turn; with a folder, until its ticket lies there."""
    before = set(folder.glob("turn-*")) if folder else set()
    say(process, "go")
    assert heard(process) == "waits"
    while folder and not set(folder.glob("turn-*")) - before:
        pass
