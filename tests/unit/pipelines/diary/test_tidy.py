"""Old records put right: every rule, and that a second time changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.diary import Diary, Entry, Term, Trait
from reflector.pipelines.diary import records
from reflector.pipelines.diary.merging import join
from reflector.pipelines.diary.tidy import RULES, tidy


def _entry(name: str, text: str, date: str = "2026-11-30", **other: Any) -> Entry:
    return Entry(name, date, text, "chat", **other)


def _entries(*entries: Entry) -> Diary:
    return Diary(entries={entry.id: entry for entry in entries})


def _traits(*traits: Trait) -> Diary:
    return Diary(traits={trait.id: trait for trait in traits})


def _terms(*terms: str) -> Diary:
    return Diary(lexicon={term: Term(term, 3) for term in terms})


def test_a_tidy_diary_stays_as_it_is():
    diary = Diary(
        entries={"a": _entry("a", "She laughed.")},
        traits={"t": Trait("t", "Keeps late hours.", "Wrote in the night.", "user")},
        lexicon={"red lamp": Term("red lamp", 3)},
    )

    assert tidy(diary) == (diary, [])


def test_every_rule_says_why():
    assert all(rule.reason for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_time_words_are_taken_out_of_entries_and_traits():
    diary = Diary(
        entries={"a": _entry("a", 'Yesterday she said "see you tomorrow" and left.')},
        traits={"t": Trait("t", "Sleeps badly.", "Was awake all night yesterday.", "user")},
    )

    after, changes = tidy(diary)

    assert after.entries["a"].text == 'She said "see you tomorrow" and left.'
    assert "yesterday" not in after.traits["t"].evidence
    assert [change.path for change in changes] == ["entries/2026-11/a.json", "traits/t.json"]
    assert {change.rule for change in changes} == {"time-words"}


@pytest.mark.parametrize(
    "text",
    [
        "Do not joke before coffee.",
        "Never call them by their full name.",
        "Be brief in the evening.",
        "I should ask before I rename things.",
        "Wants me to say when I am unsure.",
        "不要在早上开玩笑。",
        "希望我直接说不知道。",
    ],
)
def test_what_says_how_to_act_is_about_self(text: str):
    after, changes = tidy(_traits(Trait("t", text, "Said so.", "user")))

    assert after.traits["t"].about == "self"
    assert [change.rule for change in changes] == ["misfiled"]


@pytest.mark.parametrize(
    "text",
    [
        "Never drinks coffee.",
        "Keeps late hours.",
        "Asks before every deploy.",
        "Stays calm when a build is red.",
        "Uses short sentences when angry.",
        "Believes that one should listen first.",
        "喜欢在晚上写代码。",
    ],
)
def test_what_a_person_is_like_stays_about_the_person(text: str):
    assert tidy(_traits(Trait("t", text, "Said so.", "user")))[1] == []


def test_twins_are_one_with_all_that_both_had():
    elder = _entry(
        "b", "She laughed.", created_at="2026-11-30T10:00:00.000Z", salience=0.4, tags=("joy",)
    )
    younger = _entry(
        "a", "she  laughed.", created_at="2026-11-30T11:00:00.000Z", resolved=True, tags=("work",)
    )

    after, changes = tidy(_entries(elder, younger))

    kept = after.entries["b"]
    assert set(after.entries) == {"b"}
    assert (kept.salience, kept.resolved, kept.tags) == (0.5, True, ("joy", "work"))
    assert "a" in after.tombstones
    assert [change.rule for change in changes if change.after == ""] == ["twins"]


def test_who_says_that_and_more_takes_the_shorter_in():
    after, _ = tidy(
        _entries(_entry("a", "She laughed."), _entry("b", "She laughed. Then we began."))
    )

    assert [entry.text for entry in after.entries.values()] == ["She laughed. Then we began."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_entry("a", "She laughed."), _entry("b", "She laughed.", "2026-11-29")),
        (_entry("a", "She agreed"), _entry("b", "She agreed to nothing.")),
        (_entry("a", "She ran 5 km."), _entry("b", "She ran 6 km.")),
        (_entry("a", "Good."), replace(_entry("b", "Good."), kind="win")),
    ],
)
def test_what_only_looks_alike_stays_two(one: Entry, other: Entry):
    assert tidy(_entries(one, other))[1] == []


def test_twins_of_traits_keep_both_moments():
    after, _ = tidy(
        _traits(
            Trait("a", "Dislikes noise.", "Closed the window.", "user", confidence=0.4),
            Trait("b", "dislikes noise.", "Left the meeting.", "user", confidence=0.9),
        )
    )

    assert after.traits["a"].evidence == "Closed the window. Left the meeting."
    assert after.traits["a"].confidence == 0.9
    assert set(after.traits) == {"a"}


@pytest.mark.parametrize(
    "term",
    [
        "## Plan",
        "1. Setup",
        "2.3 Errors",
        "Chapter 4",
        "Next steps",
        "Goals:",
        "第三章",
        "总结",
        "待办事项",
    ],
)
def test_titles_leave_the_lexicon(term: str):
    after, changes = tidy(_terms(term))

    assert after.lexicon == {}
    assert [change.rule for change in changes] == ["titles"]


@pytest.mark.parametrize(
    "term", ["like a house of cards", "as slow as glue", "像风一样", "如同昨日"]
)
def test_figures_of_speech_leave_the_lexicon(term: str):
    after, changes = tidy(_terms(term))

    assert after.lexicon == {}
    assert [change.rule for change in changes] == ["metaphors"]


@pytest.mark.parametrize(
    "term",
    [
        "the red lamp",
        "Part-timer",
        "3 musketeers",
        "3.5 stars",
        "the 7.30 bus",
        "as soon as it rains",
        "just like the goat",
        "step a side",
        "老地方",
        "一般般",
    ],
)
def test_what_two_share_stays_in_the_lexicon(term: str):
    assert tidy(_terms(term))[1] == []


def test_a_term_that_left_is_not_brought_back_by_a_replica():
    diary = _terms("Goals:")

    assert join(tidy(diary)[0], diary).lexicon == {}


_TEXTS = st.lists(
    st.sampled_from(
        (
            "Yesterday ",
            "She laughed. ",
            "she laughed.",
            "Never ",
            "today",
            "call me. ",
            "昨天",
            "她笑了。",
        )
    ),
    min_size=1,
    max_size=4,
).map("".join)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(_TEXTS, max_size=6),
    st.lists(st.tuples(_TEXTS, _TEXTS), max_size=5),
    st.lists(st.sampled_from(("lamp", "Goals:", "like a lamp")), max_size=3),
)
def test_a_second_time_changes_nothing(
    texts: list[str], said: list[tuple[str, str]], terms: list[str]
):
    diary = Diary(
        entries={f"e{at}": _entry(f"e{at}", text) for at, text in enumerate(texts)},
        traits={f"t{at}": Trait(f"t{at}", *pair, "user") for at, pair in enumerate(said)},
        lexicon={term: Term(term, 1) for term in terms},
    )

    after, _ = tidy(diary)

    assert tidy(after) == (after, [])
    assert records.read(records.files(after)).damaged == ()
