"""What a consolidation gives: read with tolerance, judged, continued, bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.diary import Diary, Entry, Term
from reflector.pipelines.diary import consolidation, continuing, judge
from reflector.pipelines.diary.consolidation import Answer, Draft, Host, Impression, read, written

HOST = Host("c", 5, "2026-11-30", "2026-11-30T12:00:00.000Z", ["a" * 16, "b" * 16, "c" * 16])
KNOWN = Entry(
    "e" * 16,
    "2026-11-30",
    "They came late.",
    "chat",
    conversation="c",
    turn=2,
    salience=0.4,
    created_at="2026-11-30T11:00:00.000Z",
    updated_at="2026-11-30T11:00:00.000Z",
)


def diary(*entries: Entry) -> Diary:
    return Diary(entries={one.id: one for one in entries})


@pytest.mark.parametrize(
    "said",
    [
        '{"entry": {"text": "It rained."}}',
        'Here it is:\n```json\n{"entry": {"text": "It rained."},}\n```\nThat is all.',
        '{"note": 1} {"entry": {"text": "It\n rained.",},}',
    ],
)
def test_an_answer_is_found_whatever_stands_around_it(said: str):
    found = read(said)
    assert found
    assert found.entry == Draft("It rained.", tags=("chat",))


@pytest.mark.parametrize("said", ["{}", "```json\n{}\n```", '{"entry": null}'])
def test_an_empty_answer_says_that_there_is_nothing(said: str):
    assert read(said) == Answer()


@pytest.mark.parametrize(
    "said", ["", "no", "[1, 2]", '{"entry": {"text": "It rained."', '{"entry": {}', '{"a": 1}']
)
def test_a_cut_answer_and_one_without_json_is_none(said: str):
    assert read(said) is None


@given(st.text(max_size=200))
def test_any_answer_can_be_read(said: str):
    read(said)
    read('{"entry": ' + said)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(["text", "kind", "tags", "salience", "about", "again", "evidence"]),
                each,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_whatever_stands_in_the_fields_what_comes_out_is_of_the_schema(value: Any):
    found = read(json.dumps({"entry": value, "traits": [value], "lexicon": value, "mood": value}))
    assert found
    assert -1 <= found.mood <= 1
    if found.entry:
        assert found.entry.text
        assert 0 <= found.entry.salience <= 1
        assert found.entry.tags


def test_half_a_character_and_a_number_without_end_are_no_fault():
    found = read('{"entry": {"text": "It \\ud800 rained.", "salience": 1' + "0" * 400 + "}}")
    assert found
    assert found.entry
    found.entry.text.encode("utf-8")
    assert found.entry.salience == 0.5


def test_what_is_missing_gets_a_default_and_what_is_wrong_costs_no_sibling():
    found = read(
        json.dumps(
            {
                "entry": {
                    "text": "It rained.",
                    "kind": "note",
                    "salience": "much",
                    "tags": [3, ""],
                },
                "traits": [
                    {"text": "likes rain", "evidence": "went out", "about": "user"},
                    {"text": "likes rain", "about": "user"},
                    {"text": "likes fog", "evidence": "stayed out"},
                    {"text": "likes rain", "evidence": "went out", "about": "us"},
                    {"again": 2},
                ],
                "lexicon": ["# Plan", "x" * 41, 3, "the yellow page"],
            }
        )
    )
    assert found
    assert found.entry == Draft("It rained.", "chat", ("chat",), 0.5)
    assert [(one.text, one.again) for one in found.impressions] == [
        ("likes rain", 0),
        ("likes fog", 0),
        ("", 2),
    ]
    assert found.terms == ("the yellow page",)


@pytest.mark.parametrize(("salience", "kept"), [(0.14, False), (0.15, True)])
def test_what_hardly_matters_is_not_kept(salience: float, kept: bool):  # noqa: FBT001 - a case
    answer = Answer(Draft("It rained.", salience=salience))
    found = consolidation.cleaned(answer, lambda text: text, ())
    assert (found.entry is not None) is kept


def test_a_term_is_kept_only_if_the_person_said_it():
    answer = Answer(terms=("The Yellow  Page", "section one", "sk-secret"))
    found = consolidation.cleaned(
        answer, lambda text: text.replace("sk-secret", ""), ["the yellow page, sk-secret"]
    )
    assert found.terms == ("The Yellow  Page",)


def test_a_phrase_that_is_known_is_not_counted_by_the_model_as_well():
    known = replace(diary(), lexicon={"the goat": Term("the goat", 3, "2026-11-01")})
    after, came = written(known, Answer(terms=("The goat", "the lid", "The lid")), HOST)
    assert came == "traits"
    assert {key: term.count for key, term in after.lexicon.items()} == {"the goat": 3, "the lid": 1}


def test_what_goes_on_is_appended_and_its_making_stays():
    answer = Answer(Draft("They came late. Then they laughed.", "win", salience=0.8))
    after, came = written(diary(KNOWN), answer, HOST)
    one = after.entries[KNOWN.id]
    assert came == "continued"
    assert one.text == "They came late. Then they laughed."
    assert (one.created_at, one.updated_at, one.salience) == (KNOWN.created_at, HOST.now, 0.8)
    assert (one.kind, one.turn, one.version) == ("chat", 2, 2)


@pytest.mark.parametrize(
    "other",
    [
        replace(KNOWN, turn=0),
        replace(KNOWN, turn=6),
        replace(KNOWN, turn=None),
        replace(KNOWN, kind="note"),
        replace(KNOWN, conversation="d"),
        replace(KNOWN, text="x" * 500),
    ],
)
def test_what_is_old_long_a_note_elsewhere_or_of_no_turn_is_not_continued(other: Entry):
    assert continuing.continued([other], "c", 5) is None
    assert continuing.continued([KNOWN], "c", 5) == KNOWN
    assert continuing.continued([replace(KNOWN, text="x" * 499, turn=1)], "c", 5)
    newer = replace(other, id="f" * 16, created_at="2026-11-30T11:30:00.000Z")
    here = newer.conversation == "c" and newer.kind != "note"
    assert (continuing.continued([KNOWN, newer], "c", 5) is None) is here


def test_what_tells_it_again_changes_nothing():
    after, came = written(diary(KNOWN), Answer(Draft("they came LATE!")), HOST)
    assert (after, came) == (diary(KNOWN), "nothing")


def test_a_full_session_still_goes_on_and_learns_but_gives_no_entry():
    full = replace(HOST, may_add=False)
    learned = Answer(Draft("It rained."), (Impression("likes rain", "went out", "user"),))
    after, came = written(diary(), learned, full)
    assert (dict(after.entries), len(after.traits), came) == ({}, 1, "traits")
    assert written(diary(KNOWN), learned, full)[1] == "continued"


def test_a_number_that_was_not_shown_names_nothing():
    first, _ = written(
        diary(), Answer(impressions=(Impression("likes rain", "out", "user"),)), HOST
    )
    (name,) = first.traits
    again = Answer(impressions=(Impression("", "", "user", 0.9, 0.9, 2),))
    assert written(first, again, replace(HOST, known=[name]))[1] == "nothing"
    same = Answer(impressions=(Impression("Likes rain!", "out", "user", 0.9, 0.9),))
    after, _ = written(first, same, HOST)
    assert [one.confidence for one in after.traits.values()] == [0.9]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Fix it. My mother called.", "My mother called."),
        ("修一下这个。我妈打电话来了！", "我妈打电话来了！"),
        ("see\n```\nTraceback: it failed.\n```", "see"),
        ("...", ""),
        ("x" * 999, "x" * 240),
    ],
)
def test_the_last_sentence_is_the_last_that_was_typed(text: str, last: str):
    assert judge.last_sentence(text) == last


@pytest.mark.parametrize("answer", ["no", "No.", "**no**", "NO, a task", "不", "否"])
def test_a_plain_no_is_a_no(answer: str):
    assert not judge.keeps(answer)


@pytest.mark.parametrize("answer", ["yes", "", "Not sure", "Nothing urges it, so yes", "maybe"])
def test_everything_else_is_a_yes(answer: str):
    assert judge.keeps(answer)
