"""Many passages are found wherever one by one they would be, and in little time."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.many import FEW, Many, many
from reflector.core.needle import passages

_SAID = st.text(
    st.sampled_from("abcdefgh  .,-\n\"'\\<>&äö我你他们今天海边🙂0123"), min_size=1, max_size=40
)
FILLER = [f"filler number {n} of a talk that was never held" for n in range(FEW)]


@settings(max_examples=80, deadline=None)
@given(st.lists(_SAID, min_size=1, max_size=5), _SAID, _SAID)
def test_it_finds_exactly_what_is_found_one_by_one(texts, before, after):
    quick, slow = many([*texts, *FILLER]), passages([*texts, *FILLER])
    assert isinstance(quick, Many)
    for said in (*texts, before):
        content = f"{before}{said}{after}"
        for written in (content, json.dumps(content), json.dumps(content, ensure_ascii=False)):
            assert quick.said(written) is slow.said(written)
    assert quick.said(before) is slow.said(before)
    assert quick.said(after) is slow.said(after)


def test_few_are_looked_for_one_by_one():
    assert not isinstance(many(["one passage", "another"]), Many)


def test_a_part_of_a_passage_is_no_find():
    found = many(FILLER)
    assert not found.said("filler number 3 of a talk")
    assert found.said(f"and so: {FILLER[3]}!")


def test_each_of_thousands_is_tested_only_where_a_word_of_its_own_stands():
    found = many(f"what was said on the evening {n} by the fire" for n in range(100, 5100))
    assert isinstance(found, Many)
    assert found.rest == ()
    assert max(len(forms) for forms in found.keys.values()) <= 2
