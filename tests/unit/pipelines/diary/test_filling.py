"""A section within its room: what fits is shown whole, and what does not is shared out."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.diary import sections
from reflector.pipelines.diary.filling import cost, filled, size
from reflector.pipelines.diary.sections import Line, Passage, Voice
from tests.support.diaries import TODAY, told

LINES = st.lists(st.integers(1, 90).map(lambda words: Line("- " + "rain " * words)), max_size=5)
LONG, SHORT = Line(f"- {'It rained. ' * 30}".rstrip()), Line("- He hummed.")


def passage(*lines: Line) -> Passage:
    return Passage("recent", "## Lately", lines)


@given(LINES)
def test_lines_that_fit_together_are_shown_whole_however_uneven_they_are(lines):
    made = passage(*lines)
    text, omitted = filled(made, size(made))
    assert omitted == 0
    assert text.count("rain") == sum(line.text.count("rain") for line in lines)


@given(LINES, st.integers(0, 900))
def test_a_section_never_takes_more_than_its_room(lines, room):
    text, _ = filled(passage(*lines), room)
    assert cost(text) <= room


def test_a_long_line_gives_way_to_the_others_and_takes_what_they_leave():
    made = passage(LONG, SHORT, LONG)
    text, omitted = filled(made, size(made) - 40)
    assert SHORT.text in text
    assert omitted == 2
    assert cost(text) > size(made) - 60


def test_what_was_written_down_late_stands_at_its_day():
    now = f"{TODAY.isoformat()}T20:00:00.000Z"
    late = replace(told("late", 3, "He laughed about the lid."), updated_at=now)
    entries = [late, told("now", 0, "He hummed."), told("then", 1, "He was quiet.")]
    voice = Voice("en", "Kiwi", TODAY)
    shown = sections.recent(entries, voice)
    assert [line.text.split(":")[0] for line in shown.lines] == [
        "- Today",
        "- Yesterday",
        "- A few days ago",
    ]


def test_the_second_failure_that_is_open_says_so_in_other_words():
    entries = [
        told("one", 0, "I took the wrong lid.", "failure"),
        told("two", 1, "He hummed."),
        told("three", 2, "我看错了分支。", "failure"),
        told("four", 3, "I was late.", "failure", resolved=True),
    ]
    shown = sections.recent(entries, Voice("en", "Kiwi", TODAY))
    assert [re.split(": |：", line.text)[0] for line in shown.lines] == [
        "- Today, and it still sits between us",
        "- Yesterday",
        "- 前天，这件也还没过去",
        "- A few days ago, but settled since, and not mine to bring up",
    ]


def test_what_is_said_of_a_failure_is_about_all_that_it_tells_and_is_never_cut():
    three = "I took the wrong lid. I lost his list. I was late, and he waited in the rain."
    entry = told("one", 0, three, "failure")
    shown = sections.recent([entry], Voice("en", "Kiwi", TODAY))
    text, omitted = filled(shown, 30)
    assert omitted == 1
    assert "- Today, and it still sits between us: I took the wrong lid." in text
