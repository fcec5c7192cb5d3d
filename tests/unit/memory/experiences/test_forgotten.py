"""What was forgotten is known again by where it came from and by its sentences, never by its words."""

from __future__ import annotations

import pytest

from reflector.memory.commit_message import parse
from reflector.memory.experiences.forgotten import TRAILER, Forgotten, Gone, gone_in
from tests.support.secret_samples import ALNUM
from tests.support.stored import stored

GONE = Gone("fact", "00000011", ("claude-code:4f1d:0", "claude-code:4f1d:4"))
READ = ("claude-code:4f1d:0", "claude-code:4f1d:1")


def message(*trailers: str) -> str:
    return "\n".join(("forgot fact 00000011", "", "Memory-Writer: person", *trailers))


def test_a_commit_says_what_was_forgotten_and_is_read_back():
    other = Gone("fact", "00000012")
    text = message(*(f"{TRAILER}: {one}" for one in (GONE, other)))
    assert list(gone_in(parse(text))) == [GONE, other]


def test_a_run_cannot_say_that_something_was_forgotten():
    text = message(f"{TRAILER}: {GONE}", "Generated-By: agent memory")
    assert list(gone_in(parse(text))) == []


@pytest.mark.parametrize(
    "said", ["", "fact", "story 00000011 a:b:1", "Memory-Forgot", "system/human.md"]
)
def test_what_a_commit_says_otherwise_is_nothing(said):
    assert list(gone_in(parse(message(f"{TRAILER}: {said}".rstrip())))) == []


@pytest.mark.parametrize(
    "entry", ["", " ", "a b", "a\nMemory-Writer: agent", "a\u2028b", "\x1b[2J", f"ghp_{ALNUM[:36]}"]
)
def test_an_entry_that_is_no_id_never_gets_into_a_commit(entry):
    assert str(Gone("fact", "00000011", (entry, "h:s:1"))) == "fact 00000011 h:s:1"


def test_what_rests_on_an_entry_of_something_forgotten_comes_back_in_no_other_words():
    known = Forgotten((GONE,))
    assert known.holds("fact", "Quite other words.", ["claude-code:4f1d:0"], READ)
    assert not known.holds("fact", "Quite other words.", ["claude-code:4f1d:1"], READ)
    assert not known.holds("experience", "Quite other words.", ["claude-code:4f1d:0"], READ)


def test_what_was_only_mentioned_in_passing_before_a_new_segment_does_not_count():
    known = Forgotten((GONE,))
    assert not known.holds("fact", "Other words.", ["claude-code:4f1d:0"], ["claude-code:4f1d:9"])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The backup runs on alpha-seven. It takes an hour.", True),
        ("- It takes  an hour.\n- the backup runs on ALPHA-SEVEN.", True),
        ("It takes an hour.", True),
        ("The backup runs on alpha-seven. It takes two hours.", False),
        ("The backup ran on alpha-seven.", False),
        ("Done.", False),
        ("", False),
    ],
)
def test_a_text_is_the_same_when_each_of_its_sentences_was_forgotten(text, same):
    was = stored(0x11, "fact", body="The backup runs on alpha-seven. It takes an hour.")
    known = Forgotten((Gone("fact", "00000011"),), (was,))
    assert known.holds("fact", text, (), ()) is same
    assert not Forgotten().holds("fact", text, (), ())
