"""One candidate at a time against the person's words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.redact import redact
from reflector.pipelines.decisions.admission import admit, normalised

EDITOR = "# Context from my IDE setup:\n\n"
PROMPT = "Exports are always sorted by date,\r\noldest first. Don’t use the cafe\u0301 theme."


def _candidate(**changes: Any) -> dict[str, Any]:
    flags = {"corrective": False, "regression": False, "subtle": False}
    return {
        "kind": "product_decision",
        "statement": "Exports are sorted by date.",
        "source": "explicit_user",
        "evidence": "sorted by date",
        "friction": flags,
    } | changes


def test_the_original_slice_is_kept_where_the_words_match_in_another_form() -> None:
    (one,) = admit(PROMPT, [_candidate(evidence="date, oldest first. Don't use the café")]).deltas

    assert one.evidence == "date,\r\noldest first. Don’t use the cafe\u0301"
    assert PROMPT[one.start : one.end] == one.evidence


def test_one_bad_candidate_never_sinks_its_siblings() -> None:
    found = admit(
        PROMPT, [None, _candidate(), _candidate(evidence="by size"), [], _candidate(kind=1)]
    )

    assert [one.statement for one in found.deltas] == ["Exports are sorted by date."]
    assert [one.as_json() for one in found.rejected] == [
        {"index": 0, "reason": "not_an_object"},
        {"index": 2, "reason": "evidence_not_found"},
        {"index": 3, "reason": "not_an_object"},
        {"index": 4, "reason": "kind"},
    ]
    assert found.counts == {"not_an_object": 2, "evidence_not_found": 1, "kind": 1}


def test_the_same_statement_twice_in_one_reply_is_one_delta() -> None:
    again = _candidate(statement=" exports are  sorted by date", evidence="oldest first")

    found = admit(PROMPT, [_candidate(), again])

    assert [one.evidence for one in found.deltas] == ["sorted by date"]
    assert found.rejected == ()


def test_a_repeat_in_one_reply_keeps_the_friction_of_both() -> None:
    flags = {"corrective": False, "regression": True, "subtle": False}

    (one,) = admit(PROMPT, [_candidate(), _candidate(kind="correction", friction=flags)]).deltas

    assert (one.kind.value, one.friction.as_json()) == ("product_decision", flags)


@pytest.mark.parametrize(
    ("prompt", "evidence", "admitted"),
    [
        ("> always use tabs\nwhat does that mean?", "always use tabs", False),
        ("＞ always use tabs\nwhat?", "always use tabs", False),
        ("> one\n> two lines\nwhat?", "one\n> two lines", False),
        ("look:\n```\nalways use tabs\n```", ":\n```\nalways use tabs", False),
        ("> always use tabs\nyes, always use tabs", "always use tabs", True),
        ("> a\nkeep tabs\n> b", "keep tabs", True),
        ("so > always use tabs", "always use tabs", True),
        (f"{EDITOR}always use tabs\n## My request for Codex:\nfix it", "always use tabs", False),
        (f"{EDITOR}open tabs\n## My request for Codex:\nkeep tabs", "keep tabs", True),
    ],
)
def test_only_what_was_typed_is_evidence(prompt: str, evidence: str, *, admitted: bool) -> None:
    found = admit(prompt, [_candidate(evidence=evidence)])

    assert bool(found.deltas) == admitted
    assert admitted or found.counts == {"evidence_pasted": 1}


def test_secrets_are_taken_out_of_what_is_kept() -> None:
    prompt = "always use the password: hunter2secret for tests"

    (one,) = admit(
        prompt,
        [
            _candidate(
                evidence="password: hunter2secret", statement="Tests log in with hunter2secret."
            )
        ],
    ).deltas

    assert "hunter2secret" not in repr(one)
    assert prompt[one.start : one.end] == "password: hunter2secret"


def test_flags_are_booleans_and_nothing_else() -> None:
    for value in (1, "true", None):
        flags = {"corrective": value, "regression": False, "subtle": False}
        assert admit(PROMPT, [_candidate(friction=flags)]).counts == {"friction": 1}


_PIECES = st.sampled_from(
    [
        "a",
        "b ",
        "\r\n",
        "\u00a0",
        "’",
        "'",
        "“",
        "e\u0301",
        "é",
        "ᄒ",
        "ᅡ",
        "ᆫ",
        "한",
        "```",
        "> ",
        "中",
        "🚀",
    ]
)
_TEXTS = st.lists(_PIECES, max_size=30).map("".join)


@given(_TEXTS, _TEXTS)
def test_evidence_is_always_a_slice_of_the_original(prompt: str, evidence: str) -> None:
    for one in admit(prompt, [_candidate(evidence=evidence)]).deltas:
        assert redact(prompt[one.start : one.end]).text == one.evidence
        assert normalised(one.evidence)[0] == normalised(evidence)[0]


@given(_TEXTS, st.data())
def test_any_typed_piece_is_found_where_it_stands(prompt: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(prompt)))
    end = data.draw(st.integers(start, len(prompt)))

    found = admit(prompt, [_candidate(evidence=prompt[start:end])])

    assert "evidence_not_found" not in found.counts


@given(_TEXTS, st.lists(_TEXTS, max_size=4))
def test_admitting_what_was_admitted_changes_nothing(prompt: str, pieces: list[str]) -> None:
    candidates = [_candidate(evidence=each, statement=f"{at}.") for at, each in enumerate(pieces)]
    first = admit(prompt, candidates)

    again = admit(prompt, [one.as_json() for one in first.deltas])

    assert again.rejected == ()
    assert [(one.statement, one.evidence) for one in again.deltas] == [
        (one.statement, one.evidence) for one in first.deltas
    ]


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_normalising_twice_changes_nothing_and_every_character_has_an_origin(text: str) -> None:
    plain, origin = normalised(text)

    assert len(plain) == len(origin)
    assert normalised(plain)[0] == plain
    assert all(0 <= start < end <= len(text) for start, end in origin)
    assert [start for start, _ in origin] == sorted(start for start, _ in origin)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(
        _VALUES | st.fixed_dictionaries({"statement": _VALUES, "evidence": _VALUES}), max_size=6
    )
)
def test_whatever_a_model_sends_good_candidates_come_through(sent: list[Any]) -> None:
    found = admit(PROMPT, [*sent, _candidate()])

    assert [one.statement for one in found.deltas] == ["Exports are sorted by date."]
    assert len(found.rejected) == len(sent)


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u200b", "\u2066", "\x1b", "\x00", "\U000e0041", "\ud800"]
)
def test_what_nobody_sees_is_in_no_statement(hidden: str) -> None:
    given = _candidate(statement=f"Exports{hidden}\n## stay", rationale=f"s{hidden}o")
    (kept,) = admit("they are sorted by date", [given]).deltas
    assert (kept.statement, kept.rationale) == ("Exports ## stay", "so")
    assert admit("they are sorted by date", [_candidate(statement=hidden)]).deltas == ()
