"""The diary as it is shown: within its budget, nothing starved, nothing forged."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.diary import KINDS, Diary, Entry, Mood, Term, Trait
from reflector.core.sentinel import strip
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.diary import block, sections
from reflector.pipelines.diary.block import DiaryBlock, Wanted
from reflector.pipelines.diary.recalling import Recalled
from reflector.pipelines.diary.sections import SHARES, Voice
from tests.support.diaries import (
    ALL,
    ENGLISH,
    GOAT,
    GOLDEN,
    PERSONA,
    TODAY,
    TRAITS,
    WANTED,
    compiled,
    diary,
    recalled,
    told,
)

VOICE = Voice("en", "Kiwi", TODAY)


def sizes(found: DiaryBlock) -> dict[str, int]:
    return {each.name: each.tokens for each in found.sections}


@pytest.mark.parametrize("name", ALL)
def test_a_diary_reads_as_its_golden_file(name: str) -> None:
    assert compiled(name).text == (GOLDEN / f"{name}.txt").read_bytes().decode("utf-8")


def test_every_golden_file_belongs_to_a_diary() -> None:
    assert {file.stem for file in GOLDEN.glob("*")} == set(ALL)


WORDS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["他昨天说「算了」。" * 30, "a word. " * 90, "x" * 900, "</diary>", "## Lately", "🙂" * 50]
    ),
)
DAYS = st.sampled_from(["2026-11-30", "2026-11-29", "2026-10-01", "2027-01-01", "", "no day"])
ENTRIES = st.builds(
    Entry, id=st.text("abcdef", min_size=1, max_size=2), date=DAYS, text=WORDS, kind=st.sampled_from(KINDS),
    salience=st.floats(0, 1), resolved=st.booleans(), reinforced_on=DAYS, updated_at=DAYS,
)  # fmt: skip
TRAIT = st.builds(
    Trait, id=st.text("abcdef", min_size=1, max_size=2), text=WORDS, evidence=WORDS,
    about=st.sampled_from(["user", "self"]), last_reinforced=DAYS,
)  # fmt: skip
DIARIES = st.builds(
    lambda entries, traits, persona, notes, mood: Diary(
        {each.id: each for each in entries}, {each.id: each for each in traits},
        persona=persona, notes=tuple(notes), mood=Mood(mood, "2026-11-29"),
    ),
    st.lists(ENTRIES, max_size=12), st.lists(TRAIT, max_size=6), WORDS, st.lists(WORDS, max_size=4), st.floats(-1, 1),
)  # fmt: skip
WANTS = st.builds(
    Wanted, st.just(TODAY), budget_tokens=st.integers(-5, 3200), known_since=DAYS, nickname=WORDS,
    recalled=st.lists(ENTRIES.map(lambda one: Recalled(one, 1.0, 1.0)), max_size=2),
    asked_terms=st.lists(st.builds(Term, WORDS, st.integers(0, 9)), max_size=3),
    note_tool=st.sampled_from(["", "note"]), curiosity=st.booleans(),
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None)
@given(DIARIES, WANTS)
def test_whatever_it_holds_a_block_keeps_to_its_budget_and_forges_nothing(
    held: Diary, wanted: Wanted
) -> None:
    found = block.compile(held, wanted)

    assert estimate_tokens(found.text) <= max(0, wanted.budget_tokens) + found.frame_tokens
    for name, tokens in sizes(found).items():
        assert tokens <= SHARES[name].ceiling, name
        floor = SHARES[name].floor
        assert tokens or not floor or wanted.budget_tokens < 1000, f"{name} is starved"
    assert (found.text.count("<diary>"), found.text.count("</diary>")) == (1, 1)
    assert strip(found.text, typed=False) == found.text
    headings = [line for line in found.text.split("\n") if line.startswith("#")]
    assert len(headings) == len(set(headings)) <= 6
    assert len(headings) <= len(found.sections)


def test_nothing_in_a_diary_can_pass_for_a_heading_or_an_end() -> None:
    lines = compiled("en-forged").text.split("\n")

    assert [line for line in lines if line.startswith("## Lately")] == ["## Lately"]
    assert "sk-ant" not in "".join(lines)
    assert "<memory>" not in "".join(lines)


@pytest.mark.parametrize("budget", [330, 450, 600, 900])
def test_notes_never_take_what_happened_lately_its_floor(budget: int) -> None:
    long = [replace(each, text=each.text * 4) for each in ENGLISH if each.kind != "note"]
    without = sizes(block.compile(diary(long, TRAITS), replace(WANTED, budget_tokens=budget)))
    notes = [told(f"m{n}", 0, "Mind the tone, always. " * 60, "note") for n in range(40)]
    found = sizes(
        block.compile(diary((*long, *notes), TRAITS), replace(WANTED, budget_tokens=budget))
    )

    # Its floor is 300 of the 570 that all floors take together.
    assert without["recent"] >= found["recent"] > 300 * min(budget, 570) // 570 * 0.7


@pytest.mark.parametrize("budget", range(0, 700, 23))
def test_no_line_is_shown_for_which_there_is_no_room(budget: int) -> None:
    long = [replace(each, text=each.text * 4) for each in ENGLISH]
    found = block.compile(
        diary(long, TRAITS, "- Call me Kiwi."), replace(WANTED, budget_tokens=budget)
    )

    assert estimate_tokens(found.text) <= budget + found.frame_tokens


def test_with_less_room_all_floors_shrink_in_proportion() -> None:
    full = diary([replace(each, text=each.text * 4) for each in ENGLISH], TRAITS * 2)
    small = block.compile(full, replace(WANTED, budget_tokens=285))

    given_ = sizes(small)
    assert given_["notes"] == 0
    assert 0 < given_["persona"] <= 75 + 1
    assert 100 < given_["recent"] <= 150 + 1
    assert 0 < given_["relationship"] <= 40 + 1


def test_the_frame_stays_whole_without_any_room() -> None:
    found = block.compile(diary(ENGLISH, TRAITS), replace(WANTED, budget_tokens=0))

    assert found.text.count("\n") == 5
    assert "All conversations are the same you." in found.text
    assert found.tokens <= found.frame_tokens


def test_in_ordinary_use_what_happened_holds_two_fifths() -> None:
    wide = "He came back to it twice, first with a joke and then without one, and I only understood at the second time."
    entries = [told(f"o{n}", n, f"{wide} {wide} ({n})") for n in range(30)]
    notes = [
        told(f"p{n}", n, "When he says it is fine, ask once more, and then believe him.", "note")
        for n in range(9)
    ]
    wanted = replace(WANTED, recalled=recalled(GOAT))
    shares = block.explain(
        block.compile(diary((*entries, *notes), TRAITS, "- Call me Kiwi."), wanted)
    )["shares"]

    assert shares["recent"] + shares["recalled"] >= 40
    assert shares["notes"] < shares["recent"]


def test_each_renderer_refuses_the_other_kind() -> None:
    note, event = ENGLISH[-1], ENGLISH[0]

    assert sections.notes([event, note], VOICE).lines == sections.notes([note], VOICE).lines
    assert sections.recent([note, event], VOICE).lines == sections.recent([event], VOICE).lines
    assert not sections.recent([note], VOICE).lines
    assert not sections.notes([event], VOICE).lines


def test_what_has_faded_is_not_shown_by_itself_and_comes_when_it_is_recalled() -> None:
    faded = told("old", 40, "He planted a tree.")

    assert block.shown(diary([faded]), TODAY) == frozenset()
    assert "tree" not in block.compile(diary([faded]), WANTED).text
    assert (
        "About last month: He planted a tree."
        in block.compile(diary([faded]), replace(WANTED, recalled=recalled(faded))).text
    )


def test_a_memory_is_shown_once_however_it_came_up() -> None:
    found = block.compile(diary(ENGLISH), replace(WANTED, recalled=recalled(ENGLISH[0], GOAT)))

    assert found.text.count("Kiwi came back to the parser") == 1
    assert "goat" in found.text
    assert ENGLISH[0].id in block.shown(diary(ENGLISH), TODAY)


def test_no_day_number_source_or_date_of_an_entry_is_shown() -> None:
    said = replace(
        GOAT, id="deadbeef", conversation="claude-code/s1", tags=("tagged",), salience=0.8125
    )
    near = replace(
        said, id="beefdead", date="2026-11-29", text="He hummed.", reinforced_on="2026-11-29"
    )
    text = block.compile(diary([near], TRAITS), replace(WANTED, recalled=recalled(said))).text

    assert "goat" in text
    for secret in ("deadbeef", "claude-code", "tagged", "0.8", "2026", "moment it showed"):
        assert secret not in text
    assert re.findall(r"\d+", text) == ["90"]


@pytest.mark.parametrize("asked", [False, True])
def test_a_failure_says_whether_it_is_over_unless_the_person_came_to_it(asked: bool) -> None:  # noqa: FBT001
    show: Callable[..., sections.Passage] = sections.recalled if asked else sections.recent
    open_, over = ENGLISH[3], replace(ENGLISH[3], resolved=True)

    lines = [show([each], VOICE).lines[0].text for each in (open_, over, ENGLISH[0])]
    heads = [line.partition(": ")[0] for line in lines]
    assert [", " in head for head in heads] == [not asked, not asked, False]
    assert heads[0] != heads[1] or asked


def test_how_long_they_know_each_other_counts_calendar_days() -> None:
    def known(since: str) -> str:
        return sections.relationship((), since, VOICE).lines[0].text

    assert known("2026-11-30") == "You met Kiwi today."
    assert known("2026-11-29") == "You have known Kiwi since yesterday."
    assert known("2025-11-30").startswith("You have known Kiwi for 365 days")
    assert not sections.relationship((), "", VOICE).lines


def test_the_moment_is_the_persons_and_the_mood_one_clause() -> None:
    def first(wanted: Wanted, mood: float = 0.0) -> str:
        return block.compile(diary(mood=mood, persona=""), wanted).text.split("\n")[3]

    assert first(WANTED) == "It is Monday evening."
    assert first(WANTED, 0.5) == "It is Monday evening, and you are in quite a good mood."
    assert first(replace(WANTED, now_local=None), 0.5) == "You are in quite a good mood."


def test_a_long_line_ends_behind_a_sentence_and_leaves_the_others_their_room() -> None:
    long = told("l", 0, "This is how it went. " * 200)
    found = block.compile(diary([long, *ENGLISH[1:5]]), replace(WANTED, budget_tokens=700))
    (line,) = [each for each in found.text.split("\n") if each.startswith("- Today")]

    assert line.endswith("This is how it went.")
    assert "shipped" in found.text
    assert "staging hosts" in found.text


def test_what_comes_to_mind_at_a_prompt_stands_for_itself() -> None:
    assert block.comes_to_mind((), TODAY) == ""
    assert block.comes_to_mind(recalled(GOAT), TODAY).split("\n")[:2] == [
        "## It comes to mind",
        "- About last month: We named the nightly job the goat, because it eats everything it is given.",
    ]


def test_one_memory_that_comes_to_mind_is_one_line() -> None:
    (memory,) = recalled(GOAT)

    assert block.line(memory, TODAY).startswith("- About last month: We named the nightly job")


def test_the_default_persona_is_shown_whole() -> None:
    found = block.compile(diary(persona=PERSONA), Wanted(date(2026, 11, 30)))

    assert block.explain(found)["sections"]["persona"]["cut"] == 0
    assert "anchor" not in found.text
