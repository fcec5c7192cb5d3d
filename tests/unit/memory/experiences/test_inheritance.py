"""An item forgotten: its own words, those before it, and what was taken over from them are gone."""

from __future__ import annotations

from dataclasses import replace

from reflector.memory.experiences.chains import broken
from reflector.memory.experiences.inheritance import without
from tests.support.stored import linked, stored


def fact(number: int, body: str, **values):
    return replace(stored(number, "fact", title="nightly backup", **values), body=body)


def left(known, which):
    """Return what stays after an item is forgotten, and check that its links hold."""
    done = without(known, which)
    gone = {one.id for one in done.gone}
    stay = {each: one for each, one in known.items() if each not in gone}
    stay |= {one.id: one for one in done.changed}
    assert [each for one in stay.values() for each in broken(stay, one)] == []
    assert set(done.files) == {one.path for one in (*done.gone, *done.changed)}
    return stay


CHAIN = linked(
    fact(1, "It runs at two. The host is alpha-7."),
    fact(2, "It runs at three. The host is alpha-7."),
    fact(3, "It runs at four.\nThe host is alpha-7.", details="The host is alpha-7.\nrow 4"),
)
ONE, TWO, THREE = CHAIN


def test_the_last_one_takes_its_whole_chain_with_it():
    assert left(CHAIN, THREE) == {}


def test_what_follows_keeps_its_own_words_and_loses_those_it_took_over():
    stay = left(CHAIN, ONE)
    assert [one.body for one in stay.values()] == ["It runs at three.", "It runs at four."]
    assert stay[THREE].details == "row 4"
    assert stay[TWO].supersedes == ()
    middle = left(CHAIN, TWO)
    assert list(middle) == [THREE]
    assert (middle[THREE].body, middle[THREE].status) == ("It runs at four.", "active")


def test_what_has_nothing_of_its_own_goes_and_nobody_comes_back_in_its_place():
    known = linked(
        fact(1, "It runs at two o'clock."),
        fact(2, "It runs at three o'clock."),
        fact(3, "- it runs  at two o'clock.  "),
    )
    assert left(known, ONE) == {}


def test_chinese_sentences_and_keys_go_and_others_are_not_touched():
    first = replace(stored(1, search_keys=("轮转日志怎么做",)), body="先停服务。再删旧日志文件。")
    second = replace(
        stored(2, search_keys=("轮转日志怎么做", "own key")),
        body="再删旧日志文件。最后启动。\nDone.",
    )
    known = linked(first, second) | {"0000000a": stored(10)}
    stay = left(known, first.id)
    assert (stay[second.id].body, stay[second.id].search_keys) == (
        "最后启动。\nDone.",
        ("own key",),
    )
    assert stay["0000000a"] == stored(10)


def test_one_that_stands_alone_takes_nothing_else():
    known = {one.id: one for one in (stored(1), stored(2))}
    assert list(left(known, f"{1:08x}")) == [f"{2:08x}"]
