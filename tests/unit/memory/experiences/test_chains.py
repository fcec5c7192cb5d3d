"""What replaced what: followed to both ends, written on both sides, never in a circle."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.experiences.chains import (
    after,
    against,
    before,
    broken,
    chain,
    superseding,
)
from tests.support.stored import linked, stored

ONE, TWO, THREE, NEW = (stored(number) for number in (1, 2, 3, 4))


def ids(items):
    return [one.id[-1] for one in items]


def test_a_chain_is_whole_and_oldest_first_from_each_of_its_links():
    known = linked(THREE, ONE, TWO)
    for one in known:
        assert ids(chain(known, one)) == ["3", "1", "2"]
    assert ids(before(known, TWO.id)) == ["3", "1"]
    assert ids(after(known, THREE.id)) == ["1", "2"]
    assert chain(known, "ffffffff") == before(known, "ffffffff") == ()


def test_a_replacement_is_written_on_both_sides():
    known = {one.id: one for one in (ONE, TWO)}
    new, *old = superseding(known, NEW, [ONE.id, TWO.id, ONE.id])
    assert new.supersedes == (ONE.id, TWO.id)
    assert [(one.status, one.superseded_by) for one in old] == [("superseded", NEW.id)] * 2
    whole = {one.id: one for one in (new, *old)}
    assert not [each for one in whole.values() for each in broken(whole, one)]


def test_missing_targets_circles_and_what_was_replaced_are_refused():
    known = linked(ONE, TWO)
    assert against(known, NEW, "ffffffff") == "not there"
    assert against(known, known[ONE.id], TWO.id) == "a circle"
    assert against(known, known[TWO.id], TWO.id) == "a circle"
    assert against(known, NEW, ONE.id) == "replaced already"
    fact = stored(9, "fact")
    assert against(known | {fact.id: fact}, NEW, fact.id) == "of another kind"
    assert against(known, NEW, TWO.id) == ""
    (alone,) = superseding(known, known[ONE.id], [TWO.id, "ffffffff"])
    assert alone == known[ONE.id]


def test_every_one_sided_link_is_told():
    one_sided = {ONE.id: replace(ONE, status="superseded", superseded_by=TWO.id), TWO.id: TWO}
    assert list(broken(one_sided, one_sided[ONE.id])) == [
        f"{TWO.id} does not say that it supersedes this."
    ]
    other = replace(TWO, supersedes=(ONE.id, THREE.id))
    assert len(list(broken({ONE.id: ONE, TWO.id: other}, other))) == 2
    assert len(list(broken({}, replace(ONE, superseded_by=TWO.id)))) == 2
    circle = linked(ONE, TWO)
    last = replace(circle[TWO.id], status="superseded", superseded_by=ONE.id)
    first = replace(circle[ONE.id], supersedes=(TWO.id,))
    circle = {ONE.id: first, TWO.id: last}
    assert list(broken(circle, first)) == ["It supersedes itself in a circle."]
    assert sorted(ids(chain(circle, ONE.id))) == ["1", "2"]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_no_order_of_replacements_ever_makes_a_circle_or_a_link_with_one_side(steps):
    known = {one.id: one for one in map(stored, range(8))}
    for new, old in steps:
        made = superseding(known, known[f"{new:08x}"], [f"{old:08x}"])
        known |= {one.id: one for one in made}
    for one in known.values():
        assert list(broken(known, one)) == []
        links = chain(known, one.id)
        assert sum(each.status == "active" for each in links) == 1
        assert links[-1].status == "active"
