"""The fact of last resort is the user's own words."""

from __future__ import annotations

from reflector.core.experience import EpisodicFact
from reflector.pipelines.experiences import verbatim
from reflector.pipelines.experiences.rows import Row
from tests.support.secret_samples import CAUGHT

SAID = Row("a1", "assistant", "The plan is below.")
READ = Row("t1", "tool_call", "", "Read", '{"file_path": "x"}', "  indented\n\ttab\n")


def test_the_fact_of_last_resort_is_the_head_of_what_the_user_said() -> None:
    rows = [SAID, Row("u1", "user", "Keep the rows. "), READ, Row("u2", "user", "x" * 700)]
    made = verbatim.fallback(rows)

    assert made is not None
    assert made == EpisodicFact(f"Keep the rows.\n\n{'x' * 584}…", evidence=("u1", "u2"))
    assert len(made.statement) == 601


def test_a_short_word_of_the_user_is_kept_without_an_ellipsis() -> None:
    made = verbatim.fallback([Row("u1", "user", "N = 4")])
    assert made == EpisodicFact("N = 4", evidence=("u1",))


def test_the_head_of_the_segment_stands_in_for_a_silent_user() -> None:
    made = verbatim.fallback([Row("r", "reasoning", "hm"), READ, SAID])

    assert made is not None
    assert made.statement.startswith("Read\n\nfile_path\n\nx\n\nindented")
    assert verbatim.fallback([]) is None
    assert verbatim.fallback([Row("r", "reasoning", "hm")]) is None


def test_the_fact_of_last_resort_holds_no_secret() -> None:
    secret = CAUGHT["github"][0]
    made = verbatim.fallback([Row("u1", "user", f"use {secret} please")])
    assert made is not None
    assert secret not in made.statement
