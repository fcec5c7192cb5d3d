"""What a block names of experiences and facts: a thousand facts are a few names and some counts."""

from __future__ import annotations

from dataclasses import replace

from reflector.memory.compile import BlockOptions, compile_block
from reflector.memory.experiences.form import render
from reflector.memory.experiences.listing import NEWEST
from reflector.memory.view import gist, view_of
from tests.support.stored import BANK, linked, stored


def shown(*items, bank=BANK):
    known = {one.path: gist(one.path, render(one)) for one in items}
    view = view_of("me", "none", {path: each for path, each in known.items() if each}, bank)
    return {one.path: one.description for one in view.others}


def at(number, day, layer="fact", **values):
    return stored(number, layer, created=f"{day}T12:00:00.000Z", **values)


def test_the_newest_facts_are_named_and_the_others_counted_by_month():
    many = [at(n, f"2026-{1 + n % 12:02d}-{1 + n % 28:02d}") for n in range(1000)]
    found = shown(*many)
    named = [path for path in found if path.count("/") > 1]
    newest = sorted((one for one in many), key=lambda one: one.created, reverse=True)
    days = [path[6:13] for path in named]
    assert len(named) == NEWEST
    assert days == ["2026-12"] * NEWEST
    assert {one.created for one in newest[:NEWEST]} >= {
        one.created for one in many if one.path in named
    }
    counted = {path: says for path, says in found.items() if path not in named}
    assert list(counted) == [
        *(f"facts/2026-{month:02d}" for month in range(12, 6, -1)),
        "facts/earlier",
    ]
    assert counted["facts/2026-12"] == "71 more facts; recall finds them"
    told = sum(int(says.split(" ")[0]) for says in counted.values())
    assert told + NEWEST == 1000


def test_a_few_facts_are_all_named_the_newest_first():
    found = shown(at(1, "2026-01-05"), at(2, "2026-03-01"), at(3, "2026-01-07"))
    assert [path[-5:-3] for path in found] == ["02", "03", "01"]


def test_what_was_replaced_and_what_is_of_another_project_is_not_shown():
    chain = linked(at(1, "2026-01-05"), at(2, "2026-01-06"))
    other = replace(at(3, "2026-01-07"), project="other-00000000")
    nobodys = replace(at(4, "2026-01-08"), project="")
    found = shown(*chain.values(), other, nobodys)
    assert [path[-5:-3] for path in found] == ["04", "02"]
    learned = [at(5, "2026-01-05", "experience"), at(6, "2026-02-05", "experience")]
    assert [path[-5:-3] for path in shown(*learned)] == ["06", "05"]
    assert shown(*learned, bank="other-00000000") == {}


def test_a_block_of_a_thousand_facts_still_shows_the_experiences():
    many = [at(n, f"2026-{1 + n % 12:02d}-01") for n in range(1000)]
    items = [*many, at(5000, "2026-01-01", "experience", title="rotate a log")]
    known = {one.path: each for one in items if (each := gist(one.path, render(one)))}
    text = compile_block(view_of("me", "none", known, BANK), BlockOptions(("a memory",))).text
    assert "rotate-a-log" in text
    assert "more facts; recall finds them" in text
