"""Which deltas friction has shown to matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.decision import Delta, Friction, Kind, Recorded, Source, Told
from reflector.pipelines.decisions.law import History, Mode, Ruling, eligible

PLAIN = Friction()
CORRECTIVE = Friction(corrective=True)
REGRESSION = Friction(regression=True)
SUBTLE = Friction(subtle=True)


def _recorded(
    which: int,
    statement: str,
    friction: Friction = PLAIN,
    *,
    kind: Kind = Kind.PRODUCT,
    rejected: str = "",
    bank: str = "app-1",
    conversation: str = "",
) -> Recorded:
    delta = Delta(kind, statement, Source.EXPLICIT, "evidence", 0, 8, friction, rejected)
    return Recorded(which, bank, conversation or f"talk/{which}", f"e{which}", "", "model", delta)


def _told(text: str, *deltas: int, bank: str = "app-1", superseded: bool = False) -> Told:
    return Told(1, bank, "product", text, deltas, "run", "", superseded)


def _rule(*deltas: Recorded, bullets: tuple[Told, ...] = (), mode: Mode = "law") -> list[str]:
    return [one.ground for one in eligible(deltas, History((), bullets), mode)]


SORTED = "Exports are sorted by date."


def test_a_decision_stated_once_waits() -> None:
    assert _rule(_recorded(1, SORTED)) == ["waiting"]


def test_a_decision_repeated_without_friction_waits() -> None:
    assert _rule(_recorded(1, SORTED), _recorded(2, SORTED)) == ["waiting"] * 2


def test_it_enters_with_its_first_regression_and_brings_its_lineage() -> None:
    first = _recorded(1, SORTED)
    broke = _recorded(2, "Exports stay sorted by date.", REGRESSION, kind=Kind.CORRECTION)

    rulings = eligible([first, broke], History(), "law")

    assert [one.ground for one in rulings] == ["regression"] * 2
    assert rulings[0].lineage.deltas == (broke,)


def test_what_the_code_does_not_show_enters_at_once() -> None:
    assert _rule(_recorded(1, SORTED, SUBTLE)) == ["subtle"]


def test_a_correction_enters_when_it_is_repeated_in_another_conversation() -> None:
    one = _recorded(1, SORTED, CORRECTIVE, conversation="talk/a")
    same = _recorded(2, SORTED, CORRECTIVE, conversation="talk/a")
    other = _recorded(3, SORTED, CORRECTIVE, conversation="talk/b")

    assert _rule(one, same) == ["waiting"] * 2
    assert _rule(one, same, other) == ["corrected_twice"] * 3


def test_a_consumed_delta_still_counts() -> None:
    past = replace(_recorded(1, SORTED, CORRECTIVE), consumed_by="run-1")

    (ruling,) = eligible([_recorded(2, SORTED, CORRECTIVE)], History([past]), "law")

    assert ruling.ground == "corrected_twice"


@pytest.mark.parametrize(
    "earlier",
    [
        _recorded(1, "The job queue is stored in Redis."),
        _recorded(1, "The job queue is stored in files.", rejected="Redis"),
    ],
)
def test_a_reversal_of_what_was_used_or_refused_before_enters(earlier: Recorded) -> None:
    reversal = _recorded(2, "The job queue is stored in SQLite.", rejected="Redis")

    assert _rule(earlier, reversal)[1] == "reversal"


def test_a_reversal_in_few_words_is_seen() -> None:
    earlier = _recorded(1, "Use Redis for the queue.")

    assert _rule(earlier, _recorded(2, "Use SQLite for the queue.", rejected="Redis")) == [
        "reversal",
        "reversal",
    ]
    assert _rule(earlier, _recorded(2, "Use SQLite for the queue.")) == ["waiting"] * 2
    assert _rule(earlier, _recorded(2, "Use SQLite for settings.", rejected="YAML files"))[1] == (
        "waiting"
    )


def test_a_reversal_of_a_bullet_enters_even_when_the_bullet_is_superseded() -> None:
    reversal = _recorded(2, "The job queue is stored in SQLite.", rejected="Redis")

    for superseded in (False, True):
        told = _told("The job queue is stored in Redis.", superseded=superseded)
        assert _rule(reversal, bullets=(told,)) == ["reversal"]


def test_an_alternative_that_nobody_used_is_no_reversal() -> None:
    one = _recorded(1, "The job queue is stored in SQLite.", rejected="Redis")
    later = _recorded(2, "The job queue is stored in Redis.")

    assert _rule(one) == ["waiting"]
    assert _rule(one, later) == ["waiting"] * 2


def test_a_bullet_is_no_proof_against_the_delta_that_made_it() -> None:
    one = _recorded(1, "The job queue is stored in SQLite, no Redis.", rejected="Redis")

    assert _rule(one, bullets=(_told(one.delta.statement, 1),)) == ["waiting"]


def test_what_a_model_took_for_the_grounds_of_one_bullet_is_one_lineage() -> None:
    told = _told("The status bar has a solid right edge.", 1)
    shaky = _recorded(1, "No gap at the end of the line at the bottom.", REGRESSION)
    again = _recorded(2, "The right edge of the status bar is solid.")

    assert _rule(shaky, again) == ["regression", "waiting"]
    assert _rule(shaky, again, bullets=(told,)) == ["regression"] * 2


@pytest.mark.parametrize(
    ("other", "ground"),
    [
        (_recorded(2, SORTED, REGRESSION, bank="app-2"), "waiting"),
        (_recorded(2, SORTED, REGRESSION, kind=Kind.STYLE), "waiting"),
        (_recorded(2, SORTED, REGRESSION, kind=Kind.CONSTRAINT), "regression"),
        (_recorded(2, "Cache entries expire after 90 minutes.", REGRESSION), "waiting"),
    ],
)
def test_a_lineage_keeps_to_bank_kind_and_subject(other: Recorded, ground: str) -> None:
    assert _rule(_recorded(1, SORTED), other)[0] == ground


def test_without_the_law_everything_is_eligible_and_friction_is_still_named() -> None:
    assert _rule(_recorded(1, SORTED), _recorded(2, "Logs are JSON.", SUBTLE), mode="all") == [
        "all",
        "subtle",
    ]


def test_what_a_person_adds_by_hand_needs_no_friction() -> None:
    assert _rule(replace(_recorded(1, SORTED), origin="person")) == ["by_hand"]


_STATEMENTS = (SORTED, "Exports are sorted by name.", "Logs are JSON.", "Logs are plain text.")
_ROWS = st.lists(
    st.tuples(
        st.sampled_from(_STATEMENTS),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.sampled_from(list(Kind)),
        st.sampled_from(["", "name", "plain text"]),
        st.sampled_from(["a", "b"]),
    ),
    max_size=6,
).map(
    lambda rows: [
        _recorded(at, said, Friction(*flags), kind=kind, rejected=no, conversation=talk)
        for at, (said, *flags, kind, no, talk) in enumerate(rows, 1)
    ]
)


@given(_ROWS, st.data())
def test_more_friction_never_keeps_a_delta_out(rows: list[Recorded], data: st.DataObject) -> None:
    if not rows:
        return
    before = {one.recorded.id for one in eligible(rows, History(), "law") if one.eligible}
    at = data.draw(st.integers(0, len(rows) - 1))
    flag = data.draw(st.sampled_from(["corrective", "regression", "subtle"]))
    delta = rows[at].delta
    worse = replace(delta, friction=replace(delta.friction, **{flag: True}))
    rows[at] = replace(rows[at], delta=worse)

    after = {one.recorded.id for one in eligible(rows, History(), "law") if one.eligible}

    assert before <= after


@given(_ROWS, _ROWS)
def test_more_history_never_keeps_a_delta_out(rows: list[Recorded], more: list[Recorded]) -> None:
    later = [replace(one, id=one.id + 100) for one in more]

    def _ids(found: list[Ruling]) -> set[int]:
        return {one.recorded.id for one in found if one.eligible}

    assert _ids(eligible(rows, History(), "law")) <= _ids(eligible(rows, History(later), "law"))
