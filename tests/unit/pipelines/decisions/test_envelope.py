"""What an extraction reads, and which messages start one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.decision import Message
from reflector.pipelines.decisions.admission import admit
from reflector.pipelines.decisions.envelope import PROMPT, capped, cleaned, envelope, skipped
from reflector.pipelines.decisions.pasted import fenced, pasted

USER = "user"


def test_a_current_message_that_is_no_user_message_gives_none() -> None:
    said = [Message(USER, "one"), Message("assistant", "two")]

    assert envelope(said, 1) is None
    assert envelope(said, 2) is None
    assert envelope(said, -1) is None


def test_messages_without_text_are_no_referents() -> None:
    said = [
        Message("assistant", "kept"),
        Message(USER, "asked"),
        Message("assistant", " \n"),
        Message(USER, "  "),
        Message(USER, "now"),
    ]

    found = envelope(said)

    assert found is not None
    assert (found.previous_human, found.assistant_context) == ("asked", "kept")


def test_a_long_prompt_keeps_head_and_tail_and_says_what_is_missing() -> None:
    found = capped("a" * 12_000 + "b" * 12_000)

    assert len(found) <= PROMPT
    assert found.startswith("aaa")
    assert found.endswith("bbb")
    assert "characters left out" in found


@pytest.mark.parametrize("before", ["see", "see " * 3000])
def test_what_was_pasted_stays_pasted_in_a_capped_prompt(before: str) -> None:
    log = "line of a log\n" * 2000
    prompt = capped(f"{before}\n```\n{log}never use yaml\n```\nkeep it small")

    verdict = admit(prompt, [_candidate("never use yaml"), _candidate("keep it small")])

    assert [one.reason for one in verdict.rejected] == ["evidence_pasted"]
    assert [one.evidence for one in verdict.deltas] == ["keep it small"]


def test_what_a_person_typed_after_a_cut_block_counts() -> None:
    prompt = capped("```\n" + "log\n" * 3000 + "```\n" + "words " * 3000 + "keep it small")

    assert admit(prompt, [_candidate("keep it small")]).deltas


def _candidate(evidence: str) -> dict[str, object]:
    flags = {"corrective": False, "regression": False, "subtle": False}
    return {
        "kind": "constraint",
        "statement": f"About {evidence}.",
        "source": "explicit_user",
        "evidence": evidence,
        "friction": flags,
    }


@given(st.text("ab`~\n >", max_size=60), st.integers(0, 30))
def test_a_referent_never_exceeds_its_size_and_holds_no_line_end(text: str, most: int) -> None:
    found = cleaned(text, most)

    assert len(found) <= most
    assert "\n" not in found


@given(st.text("ab`~\n >", max_size=80))
def test_pasted_parts_are_apart_and_in_order(text: str) -> None:
    edges = [at for span in pasted(text) for at in span]

    assert edges == sorted(edges)
    assert len(set(edges)) == len(edges)
    assert all(0 <= at <= len(text) for at in edges)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("go~~~ always use tabs", []),
        ("好的~~~\n以后都用制表符", []),
        ("a ~~~\nlog\n~~~ b", ["~~~\nlog\n~~~"]),
        ("a ```x``` b ```y``` c", ["```x```", "```y```"]),
        ("````md\n```\ninner\n```\n````\nafter", ["````md\n```\ninner\n```\n````"]),
        ("```js\nconst a = '```'\n```\nafter", ["```js\nconst a = '```'\n```"]),
        ("```\nnever closed", ["```\nnever closed"]),
    ],
)
def test_a_block_goes_from_its_fence_to_the_one_that_closes_it(
    text: str, blocks: list[str]
) -> None:
    assert [text[start:end] for start, end in fenced(text)] == blocks


def test_ten_thousand_blocks_are_found_in_a_moment() -> None:
    assert len(fenced("```\nx``` " * 10_000)) > 5_000


@pytest.mark.parametrize("text", ["opt 2", "go for it", "no X plz", "yes", "用它", "方案二"])
def test_a_short_reply_to_the_assistant_may_decide_something(text: str) -> None:
    assert skipped(text, after_assistant=True) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ok", "too_short"),
        ("OK, thanks!", "acknowledgement"),
        ("continue", "acknowledgement"),
        ("好的", "acknowledgement"),
        ("好的,谢谢!", "acknowledgement"),
        ("감사합니다", "acknowledgement"),
        ("续", "too_short"),
        ("...!", "too_short"),
        ("/compact", "command"),
        ("[Request interrupted by user]", "program"),
        ("<task-notification>done</task-notification>", "program"),
        ("   ", "empty"),
    ],
)
def test_what_decides_nothing_starts_no_extraction(text: str, why: str) -> None:
    assert skipped(text, after_assistant=True) == why


def test_without_an_answer_before_it_a_message_needs_more_words() -> None:
    assert skipped("go for it", after_assistant=False) == "too_short"
    assert skipped("go for it", after_assistant=True) is None
