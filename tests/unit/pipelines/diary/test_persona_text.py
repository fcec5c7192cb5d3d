"""The persona's anchors and headings hold against every automatic change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.diary.persona_text import anchored, lines, may_change
from tests.support.diaries import PERSONA

HEADINGS = ("Faults I admit", "What not to do to me")
GROWN = PERSONA.replace(
    "<!-- /anchor -->\n\n", "<!-- /anchor -->\nI hum when a build is slow.\n\n", 1
)


def test_the_default_persona_has_both_headings_anchored() -> None:
    assert {f"## {heading}" for heading in HEADINGS} <= set(anchored(PERSONA))


def test_a_run_may_add_lines_and_take_its_own_away_again() -> None:
    assert GROWN != PERSONA
    assert may_change(PERSONA, GROWN) is None
    assert may_change(GROWN, PERSONA) is None
    assert may_change(GROWN, GROWN.replace("hum", "whistle")) is None


@pytest.mark.parametrize("number", range(len(anchored(PERSONA))))
def test_no_anchored_line_goes_or_changes_by_a_run(number: int) -> None:
    line = anchored(PERSONA)[number]

    for after in (GROWN.replace(f"{line}\n", ""), GROWN.replace(line, line + "!")):
        found = may_change(GROWN, after)
        assert found is not None
        assert found.code == "persona-anchor-changed"
        assert GROWN.split("\n")[found.line - 1] == line


def test_anchors_cannot_be_taken_off_moved_or_put_on() -> None:
    bare = "\n".join(line for line in PERSONA.split("\n") if "anchor" not in line)

    assert may_change(PERSONA, bare) is not None
    assert may_change(bare, PERSONA) is not None
    assert may_change(GROWN, GROWN.replace("<!-- /anchor -->\nI hum", "I hum", 1)) is not None


@pytest.mark.parametrize("heading", HEADINGS)
def test_both_headings_stay_even_where_nothing_is_anchored(heading: str) -> None:
    own = "# Me\n\n## faults i admit\n- x\n\n## What not to do to me\n- y\n"
    without = "\n".join(
        line for line in own.split("\n") if heading.casefold() not in line.casefold()
    )
    found = may_change(own, without)

    assert found is not None
    assert heading.casefold() in found.message.casefold()
    assert may_change(own, own + "- z\n") is None
    assert may_change(own, own.replace("## faults I", "## Faults i")) is None
    assert may_change("## 别对我做的事\n- 催我\n", "- 催我\n") is not None


def test_no_comment_and_no_heading_mark_is_shown() -> None:
    shown = lines(GROWN + "\n### ## Lately\n<!-- a\nsecret -->- said\n---\n")

    assert not any(line.startswith("#") or "anchor" in line or "secret" in line for line in shown)
    assert "Faults I admit:" in shown
    assert shown[-1] == "- said"


@given(
    st.lists(
        st.sampled_from(["<!-- anchor -->", "<!-- /anchor -->", "a", "b", "## Faults I admit", ""])
    )
)
def test_any_text_may_stay_as_it_is(given_: list[str]) -> None:
    text = "\n".join(given_)

    assert may_change(text, text) is None
    assert may_change(text.replace("\n", "\r\n"), text) is None
