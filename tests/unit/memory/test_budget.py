from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.budget import Claim, Limits, allot, estimate_tokens, settled


def test_the_estimate_knows_that_scripts_differ():
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd" * 10) == 10
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("密码安全") == 4
    assert estimate_tokens("привет") == 3
    assert estimate_tokens("🙂") == 2


@given(st.text(), st.text())
def test_the_whole_is_never_estimated_above_its_parts(one, other):
    both = estimate_tokens(one + other)
    assert max(estimate_tokens(one), estimate_tokens(other)) <= both
    assert both <= estimate_tokens(one) + estimate_tokens(other)


@given(st.lists(st.text(max_size=30)), st.integers(1, 60), st.integers(1, 300))
def test_costs_within_the_total_are_within_both_limits(parts, tokens, chars):
    limits = Limits(tokens, chars)
    if sum(map(limits.cost, parts)) <= limits.total:
        assert estimate_tokens("".join(parts)) <= tokens
        assert len("".join(parts)) <= chars


def test_floors_come_first_and_the_rest_goes_by_weight():
    claims = [Claim(1000, 100, 1000, 1), Claim(1000, 100, 1000, 3)]
    assert allot(claims, 600) == (200, 400)


def test_what_one_does_not_need_goes_to_the_others():
    assert allot([Claim(10, 100, 1000, 5), Claim(1000, 100, 1000, 1)], 500) == (10, 490)


def test_a_ceiling_holds_even_when_room_is_left():
    assert allot([Claim(1000, 0, 50, 1)], 500) == (50,)


def test_floors_that_do_not_fit_are_lowered_in_proportion():
    assert allot([Claim(900, 300, 900, 1), Claim(900, 100, 900, 1)], 200) == (150, 50)


_CLAIM = st.builds(Claim, *(st.integers(0, 500),) * 3, st.integers(1, 9))


@given(st.lists(_CLAIM, max_size=6), st.integers(0, 1500))
def test_no_more_is_given_than_there_is_or_than_is_asked(claims, total):
    given_out = allot(claims, total)
    assert sum(given_out) <= total
    floors = sum(min(claim.floor, claim.size) for claim in claims)
    for claim, got in zip(claims, given_out, strict=True):
        assert got <= claim.size
        if floors <= total:
            assert got >= min(claim.floor, claim.size)


def test_the_whole_is_measured_and_the_room_shrunk_until_it_fits():
    rooms = []

    def assemble(room: int) -> tuple[str, int]:
        rooms.append(room)
        return "x" * (room // 200 + 1), room

    limits = Limits(tokens=10, chars=10)
    text, room = settled(assemble, limits.total * 9, limits)
    assert limits.cost(text) <= limits.total
    assert rooms == sorted(set(rooms), reverse=True)
    assert rooms[-1] == room


def test_what_never_fits_comes_to_an_end():
    assert settled(lambda room: ("x" * 999, room), 50, Limits(10, 10)) == ("x" * 999, 0)
