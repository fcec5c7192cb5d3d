"""Which kind of work a segment holds, and what is true of one without tools."""

from __future__ import annotations

import pytest

from reflector.core.experience import Scene
from reflector.pipelines.experiences.rows import Row
from reflector.pipelines.experiences.scene import chosen, facts_only, fallback, known

GREETING = [Row("u", "user", "hi there"), Row("a", "assistant", "Hello! 2 things…")]
LOOKED = [Row("t", "tool_call", "", "Read", '{"file_path": "a.py"}', "x")]
EDITED = [*LOOKED, Row("t2", "tool_call", "", "Edit", '{"file_path": "a.py"}', "ok")]
STATED = [Row("u", "user", "The budget must stay under 400 EUR.")]


def test_a_known_setting_wins_and_an_unknown_one_counts_as_unset() -> None:
    assert chosen("chat", {"scene": "coding"}, EDITED) is Scene.CHAT
    assert chosen("codign", {"scene": "working"}, EDITED) is Scene.WORKING
    assert chosen("", {"scene": "coding"}, LOOKED) is Scene.CODING
    assert known("Working ") is Scene.WORKING
    assert known("codign") is None


@pytest.mark.parametrize("answer", [None, {}, {"scene": "play"}, {"scene": 3}, "?", [], 7])
def test_what_the_tools_did_decides_when_no_model_says(answer: object) -> None:
    assert chosen("", answer, EDITED) is Scene.CODING
    assert chosen("", answer, LOOKED) is Scene.WORKING
    assert fallback(GREETING) is Scene.WORKING


def test_small_talk_is_chat_only_when_nothing_was_done_or_stated() -> None:
    assert chosen("", {"scene": "chat"}, GREETING) is Scene.CHAT
    assert chosen("", {"scene": "chat"}, LOOKED) is Scene.CHAT
    assert chosen("", {"scene": "chat"}, EDITED) is Scene.CODING
    assert chosen("", {"scene": "chat"}, STATED) is Scene.WORKING


@pytest.mark.parametrize(
    "text",
    [
        "The NAS has 4 bays.",
        "Exports must be sorted.",
        "预算不能超过四百欧",
        "必ず毎晩バックアップ",
        "We use Postgres everywhere.",
        "Please read what follows and remember it, " * 5,
    ],
)
def test_what_a_user_states_without_tools_gives_a_fact_alone(text: str) -> None:
    assert facts_only([Row("u", "user", text)])
    assert not facts_only([Row("u", "user", text), *LOOKED])


@pytest.mark.parametrize("text", ["hi", "thanks, that was great!", "谢谢", "how are you?", " "])
def test_greetings_state_nothing(text: str) -> None:
    assert not facts_only([Row("u", "user", text)])


def test_what_only_the_assistant_said_states_nothing() -> None:
    assert not facts_only([Row("a", "assistant", "It must be 4.")])
