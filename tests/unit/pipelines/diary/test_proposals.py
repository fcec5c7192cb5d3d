"""What a night may do to numbered items, to the persona, and with what was noted by day."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.diary import Diary, Entry, Mood, Term, Trait
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.diary import folding, guard_rails, proposals
from reflector.pipelines.diary.folding import Mentioned
from reflector.pipelines.diary.guard_rails import Past, Proposal
from reflector.pipelines.diary.proposals import Item, batches, dispose, items, read

TODAY = date(2026, 11, 30)
ONE = Entry("1" * 16, "2026-11-29", "They came late and laughed.", "chat", updated_at="2")
TWO = replace(ONE, id="2" * 16, text="They came late and laughed again.", salience=0.9)
NOTE = replace(ONE, id="3" * 16, kind="note")
LIKES = Trait("4" * 16, "likes rain", "went out", "user")
ALSO = replace(LIKES, id="5" * 16, text="does like rain", confidence=0.9)
ACTS = replace(LIKES, id="6" * 16, text="say it short", about="self")
TERM = Term("the yellow page", 2, "2026-11-01")
ALL = Diary(
    entries={one.id: one for one in (ONE, TWO, NOTE)},
    traits={one.id: one for one in (LIKES, ALSO, ACTS)},
    lexicon={"the yellow page": TERM},
)


def asked(said: object, fade: int = 3) -> Diary:
    night = read(json.dumps(said))
    assert night
    return dispose(ALL, items(ALL, ""), night, lambda text: text, fade).diary


def test_items_are_what_is_new_with_what_is_near_it_then_all_that_is_small():
    old = {one.id: replace(one, updated_at="1") for one in (ONE, NOTE)}
    known = replace(ALL, entries={**old, TWO.id: TWO})
    assert [one.key for one in items(known, "1")] == [
        TWO.id,
        ONE.id,
        ACTS.id,
        ALSO.id,
        LIKES.id,
        "the yellow page",
    ]
    assert items(known, "2") == []


def test_what_is_joined_is_of_the_earlier_day():
    late = replace(TWO, date="2026-12-01", created_at="2026-12-01T09:00:00.000Z")
    early = replace(ONE, created_at="2026-11-29T09:00:00.000Z")
    both = Diary(entries={late.id: late, early.id: early})
    listed = [Item("entry", one.id, one.kind, one.text) for one in (late, early)]
    night = read(json.dumps({"same": [{"items": [1, 2]}]}))
    assert night
    (one,) = dispose(both, listed, night, lambda text: text).diary.entries.values()
    assert (one.date, one.created_at) == (early.date, early.created_at)


def test_twins_are_joined_and_nothing_of_them_is_lost():
    after = asked({"same": [{"items": [1, 2], "text": "They came late, laughed, and again."}]})
    assert [*after.entries] == [ONE.id, NOTE.id]
    one = after.entries[ONE.id]
    assert (one.text, one.salience) == ("They came late, laughed, and again.", 0.9)


@pytest.mark.parametrize("text", ["", "Late.", "x" * 400])
def test_a_text_that_loses_or_invents_much_is_not_taken(text: str):
    after = asked({"same": [{"items": [1, 2], "text": text}]})
    assert after.entries[ONE.id].text == TWO.text


@pytest.mark.parametrize(
    "numbers", [[1, 3], [1, 4], [4, 6], [1], [1, 1], [1, 99], [0, 1], ["1", "2"], [True, 2]]
)
def test_an_event_and_a_note_are_two_and_so_is_what_differs_in_sort(numbers: list[object]):
    assert asked({"same": [{"items": numbers}]}) == ALL


def test_impressions_are_joined_filed_and_faded_but_only_a_few():
    after = asked({"same": [{"items": [6, 5]}], "about": {"4": "user", "6": "us", "x": "self"}})
    assert [*after.traits] == [LIKES.id, ACTS.id]
    assert (after.traits[LIKES.id].confidence, after.traits[ACTS.id].about) == (0.9, "user")
    few = asked({"fade": [1, 2, 4, 5, 6, 7]}, fade=2)
    assert [*few.traits] == [LIKES.id]
    assert len(few.entries) == 3


@given(
    st.recursive(
        st.integers(-2, 9) | st.text(max_size=3) | st.none(),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(["items", "text", "1", "dimension", "new"]), each, max_size=3
            )
        ),
    )
)
def test_whatever_is_proposed_no_entry_goes_without_its_twin(value: object):
    night = read(json.dumps(dict.fromkeys(("same", "about", "fade", "persona"), value)))
    assert night
    after = dispose(ALL, items(ALL, ""), night, lambda text: text).diary
    assert len(after.entries) >= 2
    assert len(after.traits) >= 1


@given(st.lists(st.text(max_size=400), max_size=30), st.integers(50, 500))
def test_batches_are_cut_by_tokens_and_lose_nothing(texts: list[str], most: int):
    listed = [Item("entry", str(at), "chat", text) for at, text in enumerate(texts)]
    made = list(batches(listed, most))
    assert [one for batch in made for one in batch] == listed
    for batch in made:
        size = sum(estimate_tokens(one.text) + estimate_tokens(one.name) + 4 for one in batch)
        assert size <= most or len(batch) == 1


# By day


def test_what_was_mentioned_is_reinforced_and_a_term_rises_and_falls():
    said = {
        ONE.id: Mentioned(3, "2026-11-28"),
        LIKES.id: Mentioned(1, "2026-11-28"),
        "term:the yellow page": Mentioned(4, "2026-11-28"),
        "gone": Mentioned(1, "2026-11-28"),
    }
    after = folding.fold(ALL, said, Mood(-0.5, "2026-11-29"), TODAY)
    assert after.entries[ONE.id].reinforced_on == "2026-11-28"
    assert after.traits[LIKES.id].last_reinforced == "2026-11-28"
    assert (after.lexicon["the yellow page"].count, after.mood.day) == (6, "2026-11-30")
    assert folding.fold(ALL, {}, None, TODAY) == ALL
    assert folding.fold(ALL, {}, None, date(2027, 1, 2)).lexicon == {}
    assert folding.fold(ALL, {}, None, date(2026, 12, 31)).lexicon
    assert folding.fallen(replace(TERM, count=99), date(2027, 5, 1))
    assert not folding.fallen(replace(TERM, last_used=""), TODAY)


# The persona

SHIPPED = "<!-- anchor -->\n## Faults I admit\n- I explain.\n<!-- /anchor -->\n"
PERSONA = "I am calm.\n\n" + SHIPPED + "- I hate mornings.\n"


def judged(*given_: tuple[str, str, str], past: Past | None = None) -> list[str]:
    persona, past = PERSONA, past or Past()
    found: list[str] = []
    for dimension, old, new in given_:
        one = Proposal(dimension, "tone", old, new, 0.5)
        done = guard_rails.judged(persona, one, past, TODAY, "I am calm.", lambda _a, _b: None)
        persona, past = done.persona, done.past
        found.append(done.why or "done")
    return found


def test_two_lines_a_day_may_change_and_no_third():
    steps = [("a", "", "One."), ("b", "I am calm.", "I am dry."), ("c", "", "Three.")]
    assert judged(*steps) == ["done", "done", "day"]


def test_a_dimension_that_flips_back_within_a_week_is_locked():
    there = [("a", "I am calm.", "I am dry."), ("a", "I am dry.", "I am calm.")]
    assert judged(*there) == ["done", "flips"]
    first = guard_rails.judged(
        PERSONA, Proposal("a", "tone", "I am calm.", "I am dry.", 1), Past(), TODAY, "I am calm.",
        lambda _a, _b: None,
    )  # fmt: skip
    back = Proposal("a", "tone", "I am dry.", "I am calm.", 1)
    for days, why in ((7, "flips"), (8, None)):  # of December, the change was in November
        later = date(2026, 12, days)
        done = guard_rails.judged(
            first.persona, back, first.past, later, "I am calm.", lambda _a, _b: None
        )
        assert done.why == why
        assert ("a" in done.past.locked) is (why == "flips")
    locked = guard_rails.past(json.loads(json.dumps(Past((), frozenset("a")).as_json())))
    assert judged(("a", "", "New."), ("b", "", "New."), past=locked) == ["locked", "done"]


def test_what_a_person_wrote_is_theirs_and_what_is_not_there_is_stale():
    assert judged(("a", "- I hate mornings.", "I love mornings.")) == ["theirs"]
    assert judged(("a", "I am loud.", "I am quiet.")) == ["stale"]
    assert judged(("a", "I am calm.", "- I am calm.")) == ["same"]


def test_a_line_that_was_taken_out_does_not_come_back():
    gone = Past((guard_rails.Move("a", "", "I hum.", "2026-11-01"),))
    assert judged(("b", "", "- I hum."), past=gone) == ["again"]


def test_a_fact_has_to_be_nearly_sure():
    for sure, why in ((0.89, "unsure"), (0.9, None)):
        one = Proposal("a", "fact", "", "I live by the sea.", sure)
        done = guard_rails.judged(PERSONA, one, Past(), TODAY, "", lambda _a, _b: None)
        assert done.why == why


def test_a_persona_that_is_full_or_would_lose_its_anchors_stays():
    long = Proposal("a", "tone", "", "word " * 46, 1)
    full = guard_rails.judged("x " * 600, long, Past(), TODAY, "", lambda _a, _b: None)
    kept = guard_rails.judged(PERSONA, long, Past(), TODAY, "", lambda _a, _b: "anchored")
    assert (full.why, kept.why) == ("full", "anchored")


@given(st.sampled_from(["", "I am calm."]), st.text(alphabet="ab #-*\n", min_size=1, max_size=20))
def test_a_change_can_be_undone_to_the_byte(old: str, new: str):
    given_ = {"dimension": "a", "kind": "tone", "old": old, "new": new, "confidence": 1}
    for one in guard_rails.proposals([given_]):
        if guard_rails.bare(one.new) not in map(guard_rails.bare, PERSONA.splitlines()):
            after = guard_rails.with_line(PERSONA, one.old, one.new)
            assert one.new in after.split("\n")
            assert guard_rails.undone(after, one.old, one.new) == PERSONA


def test_what_is_remembered_of_changes_is_read_back_and_rubbish_is_none():
    known = Past((guard_rails.Move("a", "", "x", "2026-11-30"),), frozenset({"b"}))
    assert guard_rails.past(json.loads(json.dumps(known.as_json()))) == known
    assert guard_rails.past({"moves": [3, {"dimension": 1}], "locked": "a"}) == Past()
    assert proposals.read('{"persona": [{"dimension": "a"}, 3, {"new": "x"}]}')
