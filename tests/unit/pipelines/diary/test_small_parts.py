"""The small parts of a diary: shared words, a mood, a question, a person's notes, the page."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.diary import Diary, Mood, Term
from reflector.pipelines.diary import curiosity, frame, human_notes, language, lexicon, mood
from reflector.pipelines.diary.language import Language
from reflector.pipelines.diary.view import MOST, readable
from tests.support.diaries import ENGLISH, FORGED, ROOT, TODAY, TRAITS, diary, told

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def test_a_shared_word_occurs_as_a_word_in_whatever_case() -> None:
    terms = [Term("the goat", 2), Term("PR", 9), Term("山羊", 4), Term("ＯＫ bomb", 1), Term("", 9)]

    def found(text: str) -> list[str]:
        return [each.term for each in lexicon.occurring(terms, text)]

    assert found("Did The  Goat eat it?") == ["the goat"]
    assert found("the goats are in the pram, apron, PRs") == []
    assert found("那只山羊又来了, pr?") == ["PR", "山羊"]
    assert found("an ok bomb") == ["ＯＫ bomb"]


def test_at_most_four_shared_words_occur_those_used_most() -> None:
    terms = [Term(f"w{n}", n) for n in range(9)]

    assert [
        each.count for each in lexicon.occurring(terms, " ".join(each.term for each in terms))
    ] == [8, 7, 6, 5]


def test_a_mood_moves_a_little_and_goes_back_by_the_day() -> None:
    first = mood.moved(Mood(), TODAY, 1.0)

    assert first == Mood(mood.STEP, "2026-11-30")
    assert mood.returned(first, TODAY) == first
    later = [mood.returned(first, TODAY + timedelta(days=days)).value for days in range(5)]
    assert later == sorted(later, reverse=True)
    assert mood.returned(Mood(1.0, "2026-11-30"), date(2026, 12, 30)).value < 0.01


@given(st.floats(), st.floats(), st.integers(0, 400))
def test_a_mood_stays_within_its_bounds(value: float, nudge: float, days: int) -> None:
    found = mood.moved(Mood(value, "2026-11-30"), TODAY + timedelta(days=days), nudge)

    assert -1 <= found.value <= 1
    assert not math.isnan(found.value)


def test_a_mood_near_neutral_says_nothing_and_the_others_differ() -> None:
    said = [mood.clause(Mood(value, "2026-11-30"), TODAY) for value in (-0.9, -0.3, 0, 0.3, 0.9)]

    assert said[2] == ""
    assert len(set(said)) == 5
    assert mood.clause(Mood(0.9, "2026-11-20"), TODAY) == ""


def test_a_question_is_due_after_so_many_days() -> None:
    assert curiosity.due("", TODAY, 2)
    assert curiosity.due("2026-11-28", TODAY, 2)
    assert not curiosity.due("2026-11-29", TODAY, 2)
    assert not curiosity.due("2026-11-30", TODAY, 0)
    assert "one" in curiosity.sentence("Kiwi", "en")


def test_of_a_persons_notes_the_lines_outside_fences_count() -> None:
    text = "\ufeff- first\r\n- `a` tick\n-no\n  - nested\n- \n```\n- example\n~~~\n- still\n```\n- another `tick\n"

    assert human_notes.read(text) == ("first", "`a` tick", "another `tick")
    assert human_notes.read("````\n- a\n```\n- b\n````\n- c") == ("c",)


def test_the_notes_that_a_diary_begins_with_say_nothing() -> None:
    text = (ROOT / "templates" / "diary" / "NOTES.md").read_text("utf-8")

    assert human_notes.read(text) == ()
    assert human_notes.read(text + "- Call me Kiwi.\n") == ("Call me Kiwi.",)


def test_a_text_is_in_the_language_of_most_of_its_words() -> None:
    assert language.of("他把 PR 合了") == "zh"
    assert language.of("He said 你好 and left") == "en"
    assert language.of("彼は昨日、怒っていた。") == "en"
    assert language.of_all([]) == "en"
    assert language.of_all(["他很累。", "他走了。", "He left."]) == "zh"


@pytest.mark.parametrize("hour", range(24))
def test_every_hour_has_its_part_of_the_day(hour: int) -> None:
    now = datetime(2026, 11, 30, hour, tzinfo=UTC)
    before = datetime(2026, 11, 30, (hour - 1) % 24, tzinfo=UTC)

    changes = [frame.moment(now, "", said) != frame.moment(before, "", said) for said in LANGUAGES]
    assert changes == [hour in frame.HOURS] * 2
    assert "Monday" in frame.moment(now, "", "en")
    assert "周一" in frame.moment(now, "", "zh")


def test_the_page_says_first_that_edits_are_lost() -> None:
    page = readable(diary(ENGLISH, TRAITS, "- Call me Kiwi.\n"))

    assert page.split("\n")[0].startswith("Whatever you change on this page is lost")
    assert page.index("came back to the parser") < page.index("argued about the cache")
    assert "- He would rather be contradicted" in page
    assert "Yesterday" not in page
    assert "2026" not in page
    assert "the moment it showed" not in page


def test_the_page_lays_the_persona_out_as_it_is() -> None:
    page = readable(diary())

    assert "goes quiet.\n\nFaults I admit:\n\n- I explain too early" in page
    assert "get wordy.\n- I remember" in page


def test_an_empty_diary_has_a_page_and_a_long_one_ends() -> None:
    assert "nothing here yet" in readable(Diary())
    many = readable(diary(told(f"e{n}", 0, f"It was the {n}th time.") for n in range(MOST + 5)))
    assert many.count("th time") == MOST
    assert "entries/" in many


def test_nothing_in_a_diary_breaks_the_page() -> None:
    entry = replace(ENGLISH[0], text=f"# {FORGED}\n## What happened\n![x](http://x) \x1b[31m")
    page = readable(diary([entry], persona=""))

    assert page.count("\n## ") == 1
    assert "<" not in page
    assert "\x1b" not in page
    assert "![" not in page
    assert "sk-" + "ant" not in page
