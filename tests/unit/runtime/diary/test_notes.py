"""A note is kept before its call returns: without secrets, and with nobody else in it by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.core.errors import UsageError
from reflector.runtime.diary.notes import note
from reflector.runtime.diary.repository import DiaryOffError, Repository
from tests.support.repos import Repo
from tests.support.scenes import Scene

SECRET = "ghp_" + "A1b2C3d4E5" * 4


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, "diary.enabled = true\n")


def test_a_note_is_committed_when_the_call_returns(scene):
    done = note(scene.context(), "Be slow\n before ten. ", conversation="claude-code/x", turn=3)
    repo = Repo(scene.context().agent.diary)
    assert done.commit == repo.sha("main")
    (kept,) = Repository(scene.context()).read().entries.values()
    assert (kept.id, kept.kind, kept.text) == (done.id, "note", "Be slow before ten.")
    assert (kept.conversation, kept.turn, kept.date) == ("claude-code/x", 3, kept.reinforced_on)
    assert "slow" not in repo.git("log", "-1", "--format=%B")


def test_a_note_holds_no_secret_and_nobody_elses_name(scene):
    done = note(scene.context(), f"My friend Anna has {SECRET} and owes me $120.")
    assert done.text == "A friend has [REDACTED:github-token] and owes me some money." or (
        "A friend has [REDACTED:" in done.text and SECRET not in done.text
    )
    assert SECRET not in Repo(scene.context().agent.diary).git("log", "-p", "--all")


def test_the_persons_own_name_stays_and_generalising_can_be_turned_off(tmp_path):
    own = Scene(tmp_path / "a", '[diary]\nenabled = true\nnickname = "Sam"\n')
    assert note(own.context(), "Sam said it was fine.").text == "Sam said it was fine."
    off = Scene(tmp_path / "b", "[diary]\nenabled = true\ngeneralise_third_parties = false\n")
    assert note(off.context(), "Anna said no.").text == "Anna said no."


def test_the_same_note_is_kept_once(scene):
    first = note(scene.context(), "Be slow before ten.")
    again = note(scene.context(), "Be  slow before ten.")
    assert (again.id, again.commit) == (first.id, None)
    assert len(Repository(scene.context()).read().entries) == 1


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "x" * 1001])
def test_what_is_no_note_is_refused_and_begins_no_diary(scene, text):
    with pytest.raises(UsageError):
        note(scene.context(), text)
    assert not scene.context().agent.diary.exists()


@pytest.mark.parametrize("name", ["jsonl/a\nb", "jsonl/\x1b[31m", "j" * 513])
def test_what_is_no_name_of_a_conversation_is_refused(scene, name):
    with pytest.raises(UsageError, match="no name of a conversation"):
        note(scene.context(), "Be slow before ten.", conversation=name)


def test_switched_off_there_are_no_notes(tmp_path):
    scene = Scene(tmp_path)
    with pytest.raises(DiaryOffError):
        note(scene.context(), "Be slow before ten.")
    assert not scene.context().agent.diary.exists()
