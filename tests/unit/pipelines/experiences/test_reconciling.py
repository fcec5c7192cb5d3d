"""What one call says about drafts, and how far it is followed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.experience import EpisodicFact, Experience
from reflector.pipelines.experiences.drafts import drafts_of
from reflector.pipelines.experiences.reconciling import (
    SCHEMA,
    Action,
    Candidate,
    decide,
    needs_call,
)
from tests.support.stored import draft

TASK = draft("Use tail -F.")
FACT = draft("It runs at 3.", "fact", title="Nightly  backup")
KNOWN = Candidate("aaaaaaaa", "experience", "tail a log", "tail -f")
OTHER = Candidate("bbbbbbbb", "experience", "tail a file", "cat")
BACKUP = Candidate("cccccccc", "fact", "nightly backup", "It runs at 2.")
OFFERED = {"e1": (KNOWN, OTHER), "f1": (BACKUP,)}


def says(*decisions):
    keys = ("draft", "action", "targets")
    return {"decisions": [dict(zip(keys, one, strict=True)) for one in decisions]}


def choices(answer, *drafts, offered=OFFERED):
    found = decide(drafts or (TASK, FACT), offered, answer).choices
    return [(one.draft, one.action.value, *one.targets) for one in found]


def test_an_answer_is_followed():
    answer = says(("e1", "update", [KNOWN.id]), ("f1", "supersede", [BACKUP.id]))
    assert choices(answer) == [("e1", "update", KNOWN.id), ("f1", "supersede", BACKUP.id)]
    both = says(("e1", "supersede", [KNOWN.id, OTHER.id]), ("f1", "add", []))
    assert choices(both) == [("e1", "supersede", KNOWN.id, OTHER.id), ("f1", "add")]
    assert choices(says(("e1", "skip", [OTHER.id]))) == [("e1", "skip", OTHER.id), ("f1", "add")]
    one = says(("e1", "update", [KNOWN.id, OTHER.id]))
    assert choices(one)[0] == ("e1", "update", KNOWN.id)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"decisions": "e1"},
        {"decisions": [1, None, {"draft": 1}]},
        says(("e9", "skip", [KNOWN.id])),
        says(("e1", "merge", [KNOWN.id])),
        says(("e1", "skip", [])),
        says(("e1", "skip", "aaaaaaaa")),
        says(("e1", "skip", ["dddddddd"])),
        says(("e1", "supersede", [BACKUP.id])),
        says(("f1", "skip", [BACKUP.id])),
        says(("f1", "update", [BACKUP.id])),
    ],
)
def test_what_cannot_be_followed_adds(answer):
    assert choices(answer) == [("e1", "add"), ("f1", "add")]


def test_why_an_answer_was_not_followed_is_told():
    found = decide((TASK, FACT), OFFERED, says(("e1", "skip", ["x"]), ("f1", "skip", [BACKUP.id])))
    assert [one.instead for one in found.choices] == ["not offered", "a fact is always written"]
    assert not found.unreadable
    assert decide((TASK,), OFFERED, {"decisions": 1}).unreadable
    assert not decide((TASK,), {}, None).unreadable


def test_each_known_one_is_touched_by_one_draft_only():
    second = draft("Use cat.")
    two = [TASK, type(second)("e2", "experience", "read a log", "Use cat.")]
    offered = {"e1": (KNOWN,), "e2": (KNOWN,)}
    answer = says(("e1", "update", [KNOWN.id]), ("e2", "supersede", [KNOWN.id]))
    assert choices(answer, *two, offered=offered) == [("e1", "update", KNOWN.id), ("e2", "add")]
    twice = says(("e1", "skip", [KNOWN.id]), ("e1", "supersede", [KNOWN.id]))
    assert choices(twice, TASK) == [("e1", "skip", KNOWN.id)]


@pytest.mark.parametrize("action", ["update", "supersede"])
def test_what_is_not_verified_replaces_nothing_that_is(action):
    doubtful = draft("Perhaps.", verified=False)
    answer = says(("e1", action, [KNOWN.id]))
    assert choices(answer, doubtful) == [("e1", "add")]
    unsure = {"e1": (Candidate(KNOWN.id, "experience", "t", "x", verified=False),)}
    assert choices(answer, doubtful, offered=unsure) == [("e1", action, KNOWN.id)]
    assert choices(says(("e1", "skip", [KNOWN.id])), doubtful) == [("e1", "skip", KNOWN.id)]


@pytest.mark.parametrize("subject", ["", "weekly backup"])
def test_a_fact_replaces_facts_of_its_subject_alone(subject):
    other = {"f1": (Candidate("dddddddd", "fact", subject, "x"),)}
    answer = says(("f1", "supersede", ["dddddddd"]))
    assert choices(answer, FACT, offered=other) == [("f1", "add")]
    nameless = draft("x", "fact", title="")
    assert choices(answer, nameless, offered=other) == [("f1", "add")]
    same = {"f1": (Candidate("dddddddd", "fact", " NIGHTLY\tbackup", "x"),)}
    assert choices(answer, FACT, offered=same) == [("f1", "supersede", "dddddddd")]


def test_without_candidates_nobody_is_asked():
    assert not needs_call((TASK, FACT), {"e1": (), "x": (KNOWN,)})
    assert needs_call((TASK, FACT), {"f1": (BACKUP,)})


_WORD = st.sampled_from(["e1", "f1", "e9", KNOWN.id, OTHER.id, BACKUP.id, *Action, "merge", ""])
_ANY = st.recursive(
    st.none() | st.integers() | _WORD,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["draft", "action", "targets", "decisions"]), inner, max_size=4
        )
    ),
)
_ONE = st.fixed_dictionaries(
    {}, optional={"draft": _WORD | _ANY, "action": _WORD | _ANY, "targets": st.lists(_WORD) | _ANY}
)


@settings(max_examples=25)
@given(_ANY | st.fixed_dictionaries({"decisions": st.lists(_ONE | _ANY)}))
def test_whatever_is_answered_every_draft_has_one_choice_of_what_was_offered(answer):
    found = decide((TASK, FACT), OFFERED, answer).choices
    assert [one.draft for one in found] == ["e1", "f1"]
    for one in found:
        assert set(one.targets) <= {each.id for each in OFFERED[one.draft]}
        assert bool(one.targets) == (one.action is not Action.ADD)
    assert found[1].action in (Action.ADD, Action.SUPERSEDE)


def test_drafts_are_numbered_and_the_fact_rests_on_its_details_too():
    task = Experience("rotate a log", "tail -F", "node: 20", 0.9, ("key",), ("h:s:1",))
    fact = EpisodicFact("It runs.", "backup", ("a.py",), ("h:s:2",), ("h:s:1", "h:s:2"))
    first, second, last = drafts_of([(task, True), (task, False)], (fact, False), "rows")
    assert (first.key, second.key, last.key) == ("e1", "e2", "f1")
    assert (first.verified, second.verified, last.verified) == (True, False, False)
    assert (first.title, first.text, first.search_keys) == ("rotate a log", "tail -F", ("key",))
    assert (last.title, last.details, last.evidence) == ("backup", "rows", ("h:s:1", "h:s:2"))
    assert drafts_of([], None) == ()


def test_the_schema_takes_the_four_actions_and_nothing_beside():
    one = SCHEMA["properties"]["decisions"]["items"]
    assert one["properties"]["action"]["enum"] == ["add", "update", "skip", "supersede"]
    assert one["additionalProperties"] is False
