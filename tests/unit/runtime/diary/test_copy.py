"""The quick copy of a diary says what the diary says, or is passed over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.diary import Diary, Entry, Mood, Term, Trait
from reflector.runtime.diary import copy
from reflector.runtime.diary.burning import burn
from reflector.runtime.diary.repository import Repository
from tests.support.repos import Repo
from tests.support.scenes import Scene

SAID = "We laughed about the broken kettle."


@pytest.fixture
def diary(tmp_path: Path) -> Repository:
    scene = Scene(tmp_path, "diary.enabled = true\n")
    made = Repository(scene.context())
    entry = Entry("a" * 16, "2026-11-20", SAID, "failure", tags=("kettle", "fun"), turn=3)
    gone = Entry("c" * 16, "2026-11-20", "Gone.", "chat")
    trait = Trait("b" * 16, "Mends things.", "He took the toaster apart.", "user")

    def change(now: Diary) -> Diary:
        return replace(
            now,
            entries={entry.id: entry, gone.id: gone},
            traits={trait.id: trait},
            lexicon={"kettle day": Term("Kettle day", 2)},
            mood=Mood(0.5, "2026-11-20"),
        )

    made.change("1", "x", change)
    made.change("2", "x", lambda now: replace(now, entries={entry.id: entry}))
    return made


def test_it_says_what_the_diary_says_at_its_head(diary):
    found = copy.read(diary.memory.agent.path, diary.head())
    assert found == diary.read(adopt=False)
    assert diary.glance() == found


def test_a_copy_of_another_commit_is_passed_over(diary):
    Repo(diary.path).commit({"NOTES.md": "- By hand.\n"})
    assert copy.read(diary.memory.agent.path, diary.head()) is None
    assert diary.glance().notes == ("By hand.",)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"form": 1}', b'{"head": "HEAD"}'])
def test_a_damaged_copy_is_passed_over(diary, raw):
    place = diary.memory.agent.path / copy.NAME
    place.write_bytes(raw.replace(b"HEAD", diary.head().encode()))
    assert copy.read(diary.memory.agent.path, diary.head()) is None
    assert diary.glance().entries["a" * 16].text == SAID


def test_a_copy_that_lacks_a_field_is_passed_over(diary):
    place = diary.memory.agent.path / copy.NAME
    place.write_text(place.read_text().replace('"salience"', '"weight"', 1))
    assert copy.read(diary.memory.agent.path, diary.head()) is None


def test_it_is_burned_with_the_diary(diary):
    place = diary.memory.agent.path / copy.NAME
    assert SAID in place.read_text()
    burn(diary.memory)
    assert not place.exists() or SAID not in place.read_text()


def test_a_place_that_cannot_be_written_costs_nothing_but_time(diary):
    place = diary.memory.agent.path / copy.NAME
    place.unlink()
    place.mkdir()
    diary.change("3", "x", lambda now: replace(now, lexicon={}))
    assert diary.glance().lexicon == {}
