"""What is forgotten is out of the diary, out of its history, and does not come back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from reflector.core.diary import Diary, Entry, Trait
from reflector.core.errors import NotFoundError, UsageError
from reflector.runtime.diary.forgetting import Would, look, take_out
from reflector.runtime.diary.notes import note
from reflector.runtime.diary.repository import DiaryOffError, Repository
from tests.support.forgetting import forgotten
from tests.support.repos import Repo
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

GONE = "The broken kettle made us laugh all evening."
FORMER = "The broken kettle made us laugh."
KEPT = "He would rather mend a thing than buy one."


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, "diary.enabled = true\n")


@pytest.fixture
def diary(scene: Scene) -> Repository:
    made = Repository(scene.context())
    entry = Entry("a" * 16, "2026-11-20", FORMER, "chat", created_at="2026-11-20T09:00:00.000Z")
    trait = Trait("b" * 16, KEPT, "He took the toaster apart.", "user")
    made.change("1", "x", lambda now: replace(now, entries={entry.id: entry}))
    made.change("2", "x", lambda now: replace(now, traits={trait.id: trait}))
    later = replace(entry, text=GONE, version=2)
    made.change("3", "x", lambda now: replace(now, entries={entry.id: later}))
    return made


def with_entry(letter: str, text: str, now: Diary) -> Diary:
    entry = Entry(letter * 16, "2026-11-21", text, "chat")
    return replace(now, entries={**now.entries, entry.id: entry})


def ids(would: Would) -> list[str]:
    return [each.id for each in would.items if isinstance(each, Entry)]


def in_history(diary: Repository, text: str) -> bool:
    return text in Repo(diary.path).git("cat-file", "--batch-all-objects", "--batch")


def test_an_item_goes_by_its_id_from_every_commit_and_the_rest_stays(scene, diary):
    done = take_out(scene.context(), "a" * 16)
    assert (done.ids, done.searched.still) == (("a" * 16,), ())
    assert done.rewritten
    assert not in_history(diary, "kettle")
    assert set(diary.read().traits) == {"b" * 16}
    assert set(diary.read().tombstones) == {"a" * 16}
    repo = Repo(diary.path)
    assert repo.status() == ""
    repo.assert_sound()
    assert "kettle" not in (diary.path / "README.md").read_text()


def test_what_another_item_says_as_well_is_named_and_not_called_left_over(scene, diary):
    twin = Entry("c" * 16, "2026-11-21", f"{GONE} Twice.", "chat")
    diary.change("4", "x", lambda now: replace(now, entries={**now.entries, twin.id: twin}))
    done = take_out(scene.context(), "a" * 16)
    assert (done.ids, done.twins) == (("a" * 16,), (twin.id,))
    assert done.searched.still == ()
    assert set(diary.read().entries) == {twin.id}


def test_everything_that_says_a_text_goes_whatever_its_case(scene, diary):
    note(scene.context(), "Never mention the Kettle.")
    would = look(scene.context(), "kettle")
    done = take_out(scene.context(), "kettle")
    assert len(done.ids) == 2
    assert list(done.ids) == ids(would)
    assert diary.read().entries == {}
    assert not in_history(diary, "kettle")


def test_a_word_within_a_longer_one_is_another_word_now_and_in_every_commit(scene, diary):
    diary.change("4", "x", partial(with_entry, "c", "Tea on the porch."))
    diary.change("5", "x", partial(with_entry, "d", "The team won, and the teapot broke."))
    would = look(scene.context(), "tea")
    assert (ids(would), would.longer) == (["c" * 16], 1)
    done = take_out(scene.context(), "TEA")
    assert (done.ids, done.searched.still) == (("c" * 16,), ())
    assert "d" * 16 in diary.read().entries
    assert in_history(diary, "teapot")
    assert Repo(diary.path).status() == ""


@pytest.mark.parametrize("words", ["chat", "text", "kind", "2026", "salience"])
def test_what_every_record_is_made_of_says_nothing(scene, diary, words):
    before = Repo(diary.path).everything()
    with pytest.raises(NotFoundError):
        take_out(scene.context(), words)
    assert Repo(diary.path).everything() == before


def test_a_word_that_a_record_says_takes_no_record_whose_form_has_it(scene, diary):
    diary.change("4", "x", partial(with_entry, "c", "A chat in the rain."))
    assert take_out(scene.context(), "chat").ids == ("c" * 16,)
    assert diary.read().entries["a" * 16].text == GONE
    assert in_history(diary, FORMER)


@pytest.mark.usefixtures("diary")
def test_what_is_only_inside_longer_words_is_an_error_that_says_so(scene):
    with pytest.raises(NotFoundError) as found:
        look(scene.context(), "kettl")
    assert found.value.hint.startswith("1 item has it inside a longer word")


def test_what_an_item_said_once_goes_though_it_says_something_else_now(scene, diary):
    take_out(scene.context(), "made us laugh.")
    assert diary.read().entries["a" * 16].text == GONE
    assert not in_history(diary, FORMER)
    assert in_history(diary, GONE)


def test_what_was_forgotten_by_halves_is_finished_by_the_same_command(scene, diary):
    # A death behind the commit: HEAD has a tombstone, history still has it.
    diary.change("forget something", "forget", lambda now: replace(now, entries={}))
    take_out(scene.context(), "a" * 16)
    assert not in_history(diary, "kettle")


@pytest.mark.usefixtures("diary")
def test_the_agents_own_words_of_it_go_from_the_journal_too(scene):
    scene.says("What was it?", f"I wrote: {GONE}")
    take_out(scene.context(), "a" * 16)
    with scene.context().state() as state:
        texts = state.connection.execute("SELECT text FROM entries").fetchall()
    assert [row["text"] for row in texts] == ["What was it?", ""]


def test_a_merge_brings_nothing_back(scene, diary):
    old = diary.read()
    take_out(scene.context(), "a" * 16)
    diary.change("an old session", "x", lambda now: replace(now, entries=dict(old.entries)))
    assert diary.read().entries == {}


def test_a_persons_page_that_says_it_is_named_and_left_to_them(scene, diary):
    (diary.path / "NOTES.md").write_text("- The kettle is mine.\n")
    diary.read(quiet=0)
    done = take_out(scene.context(), "kettle")
    assert done.pages == ("NOTES.md",)
    assert (diary.path / "NOTES.md").read_text() == "- The kettle is mine.\n"
    (diary.path / "NOTES.md").write_text("- Nothing.\n")
    diary.read(quiet=0)
    assert take_out(scene.context(), "kettle").pages == ()
    assert not in_history(diary, "kettle")


@pytest.mark.parametrize(("page", "word"), [("NOTES.md", "notes"), ("persona.md", "persona")])
def test_a_persons_page_stays_though_its_name_is_the_word_that_is_forgotten(
    scene, diary, page, word
):
    diary.change("4", "x", partial(with_entry, "c", f"She read her {word} aloud."))
    (diary.path / page).write_text("- I am fond of rain.\n")
    diary.read(quiet=0)
    assert take_out(scene.context(), word).ids == ("c" * 16,)
    assert (diary.path / page).read_text() == "- I am fond of rain.\n"
    assert Repo(diary.path).git("show", f"main:{page}").strip() == "- I am fond of rain."


@pytest.mark.parametrize("words", ["nobody said this", "c" * 16, "anchor: lines up to the end"])
def test_what_is_nowhere_is_an_error_and_changes_nothing(scene, diary, words):
    before = Repo(diary.path).everything()
    with pytest.raises(NotFoundError):
        take_out(scene.context(), words)
    assert Repo(diary.path).everything() == before


@pytest.mark.usefixtures("diary")
def test_what_would_be_found_everywhere_is_refused(scene):
    with pytest.raises(UsageError):
        take_out(scene.context(), " a ")


@pytest.mark.usefixtures("diary")
def test_switched_off_nothing_is_taken_out(scene):
    (scene.home / "config.toml").write_text("")
    with pytest.raises(DiaryOffError):
        take_out(scene.context(), "a" * 16)


# What is forgotten in the memory


def test_what_is_forgotten_in_the_memory_is_forgotten_in_the_diary(scene, diary):
    (scene.home / "config.toml").write_text("")  # kept no more, and forgotten all the same
    done = forgotten(scene, "broken kettle", history=False)
    assert done.proof.still == ()
    assert set(Repository(scene.context()).read().traits) == {"b" * 16}
    assert not in_history(diary, "kettle")
    assert Repo(diary.path).status() == ""


def test_a_forgotten_conversation_takes_its_entries_along(scene, diary):
    entry = Entry("c" * 16, "2026-11-30", "A talk of its own.", "chat", conversation="jsonl/talk")
    diary.change("4", "x", lambda now: replace(now, entries={**now.entries, entry.id: entry}))
    scene.says("Something quite different was said here, and at length.")
    assert forgotten(scene, "jsonl/talk", history=False).proof.still == ()
    assert set(diary.read().entries) == {"a" * 16}
    assert not in_history(diary, "A talk of its own")


def test_a_word_of_the_form_of_records_takes_no_record_of_the_diary_along(scene, diary):
    forgotten(scene, "chat", history=False)
    assert diary.read().entries["a" * 16].text == GONE
    assert Repo(diary.path).status() == ""


def test_a_diary_that_says_nothing_of_it_is_left_alone(scene, diary):
    before = Repo(diary.path).everything()
    scene.says("The lighthouse is closed.")
    forgotten(scene, "lighthouse", history=False)
    assert Repo(diary.path).everything() == before


def test_a_diary_that_cannot_be_read_is_named_by_the_proof(scene, diary):
    Repo(diary.path).commit({"diary.json": '{"schema": 99}\n'})
    still = forgotten(scene, "broken kettle", history=False).proof.still
    assert any(str(diary.path) in place for place in still)
