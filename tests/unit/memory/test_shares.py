"""How the sections share a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.rooms import rooms
from reflector.memory.shares import (
    CEILINGS,
    DIARY,
    FLOORS,
    REST,
    SHARES,
    SYSTEM_TIER,
    WEIGHTS,
    Share,
    shares_of,
)

MUCH = 10_000


def test_the_written_defaults_are_the_table():
    assert shares_of(FLOORS, CEILINGS, WEIGHTS) == SHARES
    assert FLOORS[0] == "self=15"


def test_the_defaults_leave_room_for_everybody():
    tier = sum(share.floor for name, share in SHARES.items() if name in ("self", "memory"))
    own = ("self", "memory", "diary")
    rest = sum(share.floor for name, share in SHARES.items() if name not in own)
    assert (tier, SHARES["diary"].floor, rest) == (SYSTEM_TIER, DIARY, REST)
    assert all(share.floor <= share.ceiling for share in SHARES.values())


def test_what_the_settings_leave_out_keeps_its_default():
    table = shares_of(["skills=9"], ["self=50"], [])
    assert table["skills"] == Share(9, 40, 2)
    assert table["self"] == Share(15, 50, 3)
    assert table["memory"] == SHARES["memory"]


def test_the_system_tier_gets_its_share_as_one():
    sizes = {"self": 50, "memory": 400, "external_projection": MUCH, "skills": MUCH}
    found = rooms(sizes, room=550, total=1000, shares=SHARES)
    assert (found["self"], found["memory"]) == (50, 400)
    assert found["external_projection"] + found["skills"] == 100


def test_everything_else_keeps_a_tenth_however_large_the_system_tier_is():
    sizes = {name: MUCH for name in SHARES if name != "diary"}
    found = rooms(sizes, room=550, total=1000, shares=SHARES)
    rest = [found[name] for name in ("decisions", "external_projection", "skills")]
    assert sum(rest) >= 100
    assert min(rest) >= 20


def test_a_diary_has_a_tenth_of_its_own_and_the_others_make_room_in_proportion():
    found = rooms(dict.fromkeys(SHARES, MUCH), room=550, total=1000, shares=SHARES)
    assert 80 <= found["diary"] <= 90
    assert 80 <= sum(found[name] for name in ("decisions", "external_projection", "skills")) <= 90


_SIZES = st.fixed_dictionaries(
    {}, optional={name: st.integers(0, 2000) for name in (*SHARES, "unnamed")}
)
_SHARE = st.builds(Share, st.integers(0, 90), st.integers(0, 100), st.integers(1, 99))
_TABLE = st.fixed_dictionaries(dict.fromkeys(SHARES, _SHARE))


@given(_SIZES, st.integers(0, 1000), _TABLE)
def test_no_more_is_given_than_there_is_whatever_the_settings_say(sizes, room, table):
    found = rooms(sizes, room, 1000, table)
    assert found.keys() == sizes.keys()
    assert sum(found.values()) <= room
    assert all(0 <= found[name] <= sizes[name] for name in sizes)


@given(_SIZES, st.integers(100, 1000))
def test_nobody_with_a_floor_is_starved(sizes, room):
    found = rooms(sizes, room, 1000, SHARES)
    for name, size in sizes.items():
        floor = SHARES[name].floor if name in SHARES else 0
        # Floors are lowered in proportion where they do not fit together.
        assert found[name] >= min(size, floor * 10) * room // 1000 - 1
