"""No run begins while the machine has as many as it may."""

from __future__ import annotations

from dataclasses import replace

from reflector.core.ambient import Ambient
from reflector.runtime.reflect import Options, reflect
from reflector.store import reservations
from reflector.store.locks import Lock
from tests.support.clocks import FakeClock
from tests.support.guarded import born
from tests.support.transcripts import conversation
from tests.support.watching import QuietWatch


def test_no_run_begins_while_all_places_of_the_machine_are_taken(tmp_path):
    made = born(tmp_path)
    memory = replace(made, ambient=Ambient(FakeClock(), made.ambient.chance))
    talk = conversation(tmp_path / "talk.jsonl", "Keep it short, please.", "I will.")
    for number in range(made.settings.number("supervisor.max_runs")):
        assert Lock(made.home.path / "locks" / f"place-{number}.lock").take()
    done = reflect(memory, Options(files=[talk]), QuietWatch(stop_after=30), ("false",))
    assert done.interrupted
    with made.state() as state:
        assert reservations.recent(state.connection, 9) == []
