"""What a sweep chooses, whatever it finds."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from reflector.core.sweep import DAY, GRACE_SECONDS, ORDER, RETENTION_DAYS, Kind, Leftover, select

RUNS = ("", "one", "two", "three")
LEFTOVERS = st.builds(
    Leftover,
    kind=st.sampled_from(get_args(Kind)),
    target=st.sampled_from("abcdef"),
    run=st.sampled_from(RUNS),
    age=st.one_of(
        st.floats(-400 * DAY, 400 * DAY),
        st.sampled_from([0, GRACE_SECONDS, 14 * DAY, 14 * DAY + GRACE_SECONDS, 90 * DAY]),
    ),
    needed=st.booleans(),
)
FOUND = st.lists(LEFTOVERS, max_size=30)
LIVE = st.frozensets(st.sampled_from(RUNS[1:]))


def test_every_kind_has_its_place_in_the_order():
    assert sorted(ORDER) == sorted(get_args(Kind))


@given(FOUND, LIVE)
def test_nothing_that_lives_or_is_needed_or_is_kept_for_its_time_is_chosen(found, live):
    for each in select(found, live):
        assert each.run not in live
        assert not each.needed
        least = RETENTION_DAYS.get(each.kind, 0) * DAY + GRACE_SECONDS
        assert each.age >= least or each.kind == "registration"


@given(FOUND, LIVE)
def test_everything_else_is_chosen(found, live):
    chosen = select(found, live)
    for each in found:
        spared = each in chosen or each.needed or each.run in live
        assert spared or each.age < RETENTION_DAYS.get(each.kind, 0) * DAY + GRACE_SECONDS


@given(FOUND, LIVE)
def test_what_holds_others_goes_first(found, live):
    places = [ORDER.index(each.kind) for each in select(found, live)]
    assert places == sorted(places)


@given(FOUND, LIVE)
def test_a_clock_that_was_set_back_spares_everything_but_dead_registrations(found, live):
    back = [Leftover(each.kind, each.target, each.run, -abs(each.age)) for each in found]
    assert {each.kind for each in select(back, live)} <= {"registration"}
