"""Which journaled rows wait for extraction: what a person typed in a project, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.harness.reading import About, Appended
from reflector.runtime.banks import bank_of
from reflector.runtime.decisions.hearing import Hearing
from reflector.runtime.repair import _messages
from reflector.store import decisions
from reflector.store.state import State
from tests.support.scenes import Scene

MAIN = ConversationKey("claude-code", "s")
AGENT = ConversationKey("claude-code", "s", "a1")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def state(scene: Scene) -> Iterator[State]:
    with scene.context().state() as state:
        yield state


def hears(
    state: State,
    hearing: Hearing,
    key: ConversationKey = MAIN,
    kind: Kind = Kind.USER,
    *,
    cwd: str = "/src/shop",
    name: str = "m",
    parent: ConversationKey | None = None,
) -> list[str]:
    """Let one row be journaled; return the banks of everything that waits."""
    entry = Entry(f"claude-code:{name}:0", name, kind, "We use tabs, not spaces.", at="")
    record = Appended(key, parent, entry, cwd=cwd)
    with state.transaction() as connection:
        hearing.heard(connection, record, entry, "2026-11-30T12:00:00.000Z")
    return [job.bank for job in decisions.jobs(state.connection)]


def test_a_message_of_a_person_waits_under_the_bank_of_its_folder(state: State):
    assert hears(state, Hearing(wanted=True)) == [bank_of(Path("/src/shop"))]


def test_the_blocks_of_one_message_wait_once(state: State):
    hearing = Hearing(wanted=True)
    hears(state, hearing)
    assert len(hears(state, hearing)) == 1


def test_what_an_assistant_or_a_subagent_says_does_not_wait(state: State):
    hearing = Hearing(wanted=True)
    assert hears(state, hearing, kind=Kind.ASSISTANT) == []
    assert hears(state, hearing, AGENT) == []
    assert hears(state, hearing, parent=MAIN) == []


def test_where_a_row_names_no_folder_the_conversations_own_counts(state: State):
    hearing = Hearing(wanted=True)
    assert hears(state, hearing, cwd="") == []
    about = About(MAIN, None, "/src/other", "", headless=False)
    hearing.heard(state.connection, about, None, "")
    hearing = Hearing(wanted=True)
    hearing.heard(state.connection, about, None, "")
    assert hears(state, hearing, cwd="", name="n") == [bank_of(Path("/src/other"))]


def test_a_row_that_is_not_new_does_not_wait(state: State):
    entry = Entry("claude-code:m:0", "m", Kind.USER, "We use tabs, not spaces.", at="")
    record = Appended(MAIN, None, entry, cwd="/src/shop")
    Hearing(wanted=True).heard(state.connection, record, None, "")
    assert decisions.jobs(state.connection) == []


def test_a_journal_that_was_read_again_asks_no_model_about_it(scene: Scene, state: State):
    hears(state, Hearing(wanted=True))
    assert list(_messages(scene.context())) == [
        "messages that are not read for decisions a second time: 1"
    ]
    assert decisions.jobs(state.connection) == []
