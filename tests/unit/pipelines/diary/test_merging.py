"""Two versions of a diary made one: with what both came from, and without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.diary import Diary, Entry, Mood, Term, Tombstone, Trait
from reflector.pipelines.diary import records
from reflector.pipelines.diary.merging import buried, join, merge, replaced

_GOLDEN = Path(__file__).parents[3] / "fixtures" / "diary-merge.jsonl"
_CASES = [json.loads(line) for line in _GOLDEN.read_text("utf-8").splitlines()]


def _entry(text: str, name: str = "a", second: int = 0, **other: Any) -> Entry:
    at = f"2026-11-30T12:00:{second:02d}.000Z"
    known = {"created_at": "2026-11-30T12:00:00.000Z", "updated_at": at} | other
    return Entry(name, "2026-11-30", text, "chat", **known)


def _diary(*entries: Entry, **other: Any) -> Diary:
    return Diary(entries={entry.id: entry for entry in entries}, replica="here", **other)


def _golden(side: Mapping[str, Mapping[str, Any]], second: int) -> Diary:
    return _diary(
        *(
            _entry(f["text"], name, second, salience=f["salience"], resolved=f["resolved"])
            for name, f in side.items()
        )
    )


def _shown(diary: Diary) -> dict[str, dict[str, Any]]:
    return {
        name: {"resolved": one.resolved, "salience": one.salience, "text": one.text}
        for name, one in diary.entries.items()
    }


@pytest.mark.parametrize("case", _CASES, ids=[case["case"] for case in _CASES])
def test_golden(case: dict[str, Any]):
    base, ours, theirs = (
        _golden(case["base"], 0),
        _golden(case["ours"], 1),
        _golden(case["theirs"], 2),
    )
    if "deleted" in case["case"] or "stale" in case["case"]:  # untouched is untouched in time too
        ours, theirs = _golden(case["ours"], 0), _golden(case["theirs"], 0)

    assert _shown(merge(base, ours, theirs)) == case["expected"]


def _terms(count: int, replica: str = "here") -> Diary:
    return Diary(lexicon={"x": Term("x", count)}, replica=replica)


def test_what_both_counted_is_added():
    assert merge(_terms(5), _terms(6), _terms(6)).lexicon["x"].count == 7


def test_what_one_side_counted_is_added_once():
    assert merge(_terms(5), _terms(8), _terms(5)).lexicon["x"].count == 8
    assert merge(_terms(5), _terms(5), _terms(8)).lexicon["x"].count == 8


def test_a_term_that_both_coined_is_counted_from_nothing():
    assert merge(Diary(replica="here"), _terms(2), _terms(2)).lexicon["x"].count == 4


def test_a_count_that_falls_here_and_rises_there_does_both():
    assert merge(_terms(9), _terms(4), _terms(10)).lexicon["x"].count == 5


def test_a_diary_without_a_name_counts_too():
    done = merge(_terms(5, ""), _terms(6, ""), _terms(7, ""))

    assert done.lexicon["x"].count == 8


def test_a_diary_that_was_named_meanwhile_counts_nothing_twice():
    done = merge(_terms(5, ""), _terms(6), _terms(6, ""))

    assert done.lexicon["x"].count == 7


def test_times_are_the_widest():
    base = _diary(_entry("x", second=5))
    ours = _diary(_entry("x", second=7, created_at="2026-11-30T11:00:00.000Z"))
    theirs = _diary(_entry("x", second=9, reinforced_on="2026-11-30"))

    done = merge(base, ours, theirs).entries["a"]

    assert done.created_at == "2026-11-30T11:00:00.000Z"
    assert done.updated_at == "2026-11-30T12:00:09.000Z"
    assert done.reinforced_on == "2026-11-30"


def test_each_field_comes_from_the_side_that_changed_it():
    base = _diary(_entry("x", tags=("a",)))
    ours = _diary(replace(_entry("x", tags=("a",), second=1), kind="win", version=2))
    theirs = _diary(_entry("x", tags=("b",), second=2, turn=4, version=2))

    done = merge(base, ours, theirs).entries["a"]

    assert (done.kind, done.tags, done.turn) == ("win", ("b",), 4)
    assert done.version == 3


def test_a_text_keeps_the_moment_it_rests_on():
    trait = Trait("t", "Likes rain.", "Opened the window.", "user")
    base = Diary(traits={"t": trait})
    ours = Diary(traits={"t": replace(trait, text="A", evidence="moment of A", version=2)})
    theirs = Diary(traits={"t": replace(trait, text="B", evidence="moment of B", version=2)})

    done = merge(base, ours, theirs).traits["t"]

    assert done.evidence == f"moment of {done.text}"


def test_a_rewording_and_an_addition_are_both_kept():
    base = _diary(_entry("It rained yesterday. "))
    ours = _diary(_entry("It rained. ", second=1))
    theirs = _diary(_entry("It rained yesterday. She sang.", second=2))

    assert merge(base, ours, theirs).entries["a"].text == "It rained. She sang."


def test_a_rewording_of_two_pieces_keeps_them_apart():
    base = _diary(_entry("It rained. "))
    longer = _diary(_entry("It rained. She sang.", second=1))
    ours = records.read(records.files(merge(base, longer, base)))
    reworded = replace(ours.entries["a"], text="It poured. She hummed.")
    theirs = replace(ours.entries["a"], text="It rained. She sang. He slept.")

    done = merge(
        ours,
        replace(ours, entries={"a": reworded}),
        replace(ours, entries={"a": theirs}),
    )

    assert done.entries["a"].text == "It poured. She hummed. He slept."


def _appended(diary: Diary, text: str, second: int) -> Diary:
    entry = diary.entries["a"]
    at = f"2026-11-30T12:00:{second:02d}.000Z"
    return replace(diary, entries={"a": replace(entry, text=entry.text + text, updated_at=at)})


def test_what_three_replicas_append_comes_by_time_in_whatever_order_they_meet():
    start = records.read(records.files(_diary(_entry("one."))))
    longer = [_appended(start, f" {word}.", at) for word, at in (("c", 3), ("a", 1), ("b", 2))]

    found = {join(join(a, b), c).entries["a"].text for a, b, c in permutations(longer)}

    assert found == {"one. a. b. c."}


def test_resolved_wins_on_whichever_side():
    open_, resolved = _diary(_entry("x")), _diary(_entry("x", resolved=True))

    assert join(open_, resolved).entries["a"].resolved
    assert join(resolved, open_).entries["a"].resolved


def test_the_same_addition_on_both_sides_is_there_once():
    base, side = _diary(_entry("one.")), _diary(_entry("one. two.", second=1))

    assert merge(base, side, side).entries["a"].text == "one. two."


def test_what_one_side_appends_stays_together():
    base = _diary(_entry("base."))
    ours = records.read(records.files(merge(base, _diary(_entry("base. o1.", second=1)), base)))
    ours = replace(ours, entries={"a": replace(ours.entries["a"], text="base. o1. o2.")})
    theirs = _diary(_entry("base. t.", second=2))

    assert merge(base, ours, theirs).entries["a"].text == "base. o1. o2. t."


def test_what_was_changed_is_not_deleted_by_leaving_it_out():
    base, changed = _diary(_entry("x")), _diary(_entry("x y", second=1))

    assert _shown(merge(base, changed, _diary())) == _shown(changed)


def test_what_was_buried_is_dead_whatever_was_added_meanwhile():
    base, changed = _diary(_entry("x")), _diary(_entry("x y", second=1, version=2))
    burned = _diary(tombstones={"a": Tombstone("a", 1)})

    assert merge(base, burned, changed).entries == {}
    assert merge(base, changed, burned).entries == {}


def test_what_one_side_left_out_gets_a_tombstone():
    base = _diary(_entry("x"))

    assert merge(base, _diary(), base).tombstones == {"a": Tombstone("a", 1)}


def test_a_file_that_could_not_be_read_is_not_deleted():
    base = _diary(_entry("x"))
    unread = replace(_diary(), damaged=("entries/2026-11/a.json",))

    assert merge(base, unread, base).tombstones == {}
    assert merge(base, base, unread).entries == base.entries


def test_a_hand_edit_of_the_persona_wins():
    base, ours, theirs = (Diary(persona=text) for text in ("old", "by hand", "by sleep"))

    assert merge(base, ours, theirs).persona == "by hand"
    assert merge(base, base, theirs).persona == "by sleep"


def test_replicas_that_meet_keep_a_persona_of_their_own():
    assert join(Diary(persona="mine"), Diary(persona="other")).persona == "mine"
    assert join(Diary(), Diary(persona="other")).persona == "other"


def test_an_import_after_a_burn_lives_and_an_old_session_does_not():
    pack = _diary(_entry("x"))
    burned = _diary(tombstones={"a": Tombstone("a", 1)})

    assert join(burned, pack).entries == {}

    restored = replaced(burned, pack)
    assert restored.entries["a"].text == "x"
    assert join(restored, burned).entries == restored.entries
    old = _diary(_entry("x, said by an old session", second=3, version=9))
    assert join(restored, old).entries == restored.entries


def test_replacing_buries_what_the_pack_has_not():
    ours, pack = _diary(_entry("a"), _entry("b", "b")), _diary(_entry("b", "b"))

    done = replaced(ours, pack)

    assert _shown(done) == _shown(pack)
    assert join(done, ours).entries == done.entries


def test_replacing_twice_changes_nothing_more():
    ours, pack = _diary(_entry("mine")), _diary(_entry("theirs", second=2))

    done = replaced(ours, pack)

    assert records.files(replaced(done, pack)) == records.files(done)


def test_a_record_that_is_left_out_is_buried():
    before = _diary(
        _entry("x"), traits={"t": Trait("t", "x", "y", "user")}, lexicon={"x": Term("x", 1)}
    )

    after = buried(before, _diary())

    assert len(after.tombstones) == 3
    assert join(after, before).entries == {}
    assert join(before, after).lexicon == {}


def test_the_later_mood_holds():
    one, other = Diary(mood=Mood(0.5, "2026-11-29")), Diary(mood=Mood(-0.2, "2026-11-30"))

    assert join(one, other).mood == join(other, one).mood == other.mood


# One step of one replica: which, what it does, and on what.
_WHAT = (
    "append",
    "append",
    "append",
    "reword",
    "resolve",
    "count",
    "count",
    "trait",
    "meet",
    "delete",
)


def _steps(*what: str) -> st.SearchStrategy[list[tuple[int, str, int]]]:
    step = st.tuples(st.integers(0, 2), st.sampled_from((*_WHAT, *what)), st.integers(0, 2))
    return st.lists(step, max_size=24)


_STEPS = _steps()


class _World:
    """Three replicas that write, forget and meet, and what has to be found in the end."""

    def __init__(self) -> None:
        begun = {name: _entry(" w90.", name) for name in ("e0", "e1", "e2")}
        start = records.read(records.files(Diary(entries=begun)))
        self.diaries = [replace(start, replica=f"r{number}") for number in range(3)]
        self.said = {(name, "90") for name in begun}
        self.resolved: set[str] = set()
        self.deleted: set[str] = set()
        self.counted = 0

    def step(self, number: int, at: int, what: str, on: int) -> None:
        diary, name, word = self.diaries[at], f"e{on}", f" w{number}."
        entry = diary.entries.get(name)
        if what == "meet":
            self.put(at, join(diary, self.diaries[on]))
        elif what == "replace":
            self.put(at, replaced(diary, self.diaries[on]))
        elif what == "count":
            term = diary.lexicon.get("x") or Term("x", 0)
            self.counted += on
            self.put(at, replace(diary, lexicon={"x": replace(term, count=term.count + on)}))
        elif what == "trait":
            trait = diary.traits.get("t") or Trait("t", "x", "y", "user")
            new = replace(trait, text=word, version=trait.version + 1)
            self.put(at, replace(diary, traits={"t": new}))
        elif entry is not None:
            self.change(number, at, entry, what, word)

    def change(self, number: int, at: int, entry: Entry, what: str, word: str) -> None:
        later = replace(
            entry, version=entry.version + 1, updated_at=_entry("", "", number).updated_at
        )
        if what == "append":
            self.write(at, replace(later, text=entry.text + word))
        elif what == "resolve":
            self.resolved.add(entry.id)
            self.write(at, replace(later, resolved=True))
        elif what == "reword":
            self.write(at, replace(later, text=entry.text.replace(" w", " ww")))
        elif what == "delete":
            self.deleted.add(entry.id)
            diary = self.diaries[at]
            left = {name: one for name, one in diary.entries.items() if name != entry.id}
            self.put(at, buried(diary, replace(diary, entries=left)))

    def write(self, at: int, entry: Entry) -> None:
        words = (part.strip() for part in entry.text.split(".") if part.strip())
        self.said |= {(entry.id, word.lstrip("w")) for word in words}
        self.put(
            at, replace(self.diaries[at], entries={**self.diaries[at].entries, entry.id: entry})
        )

    def put(self, at: int, diary: Diary) -> None:
        self.diaries[at] = records.read(records.files(diary))

    def finds(self, end: Diary) -> None:
        """Fail unless a diary holds all that was said, resolved and counted, and not deleted."""
        found = {
            (name, word.strip().lstrip("w"))
            for name, entry in end.entries.items()
            for word in entry.text.split(".")
            if word.strip()
        }
        assert found == {(name, word) for name, word in self.said if name not in self.deleted}
        resolved = {one.id for one in end.entries.values() if one.resolved}
        assert resolved == self.resolved - self.deleted
        assert (end.lexicon["x"].count if end.lexicon else 0) == self.counted


def _made(steps: list[tuple[int, str, int]]) -> _World:
    world = _World()
    for number, (at, what, on) in enumerate(steps):
        world.step(number, at, what, on)
    return world


def _records(diary: Diary) -> dict[str, bytes]:
    return {path: raw for path, raw in records.files(diary).items() if path != "diary.json"}


@settings(max_examples=60, deadline=None)
@given(_steps("replace"))
def test_replicas_that_meet_in_any_order_become_the_same(steps: list[tuple[int, str, int]]):
    world = _made(steps)

    ends = [_records(join(join(a, b), c)) for a, b, c in permutations(world.diaries)]
    a, b, c = world.diaries
    ends += [_records(join(a, join(b, c))), _records(join(join(a, b), join(b, c)))]

    assert all(end == ends[0] for end in ends)


@settings(max_examples=60, deadline=None)
@given(_STEPS)
def test_replicas_that_meet_lose_nothing_that_was_not_deleted(steps: list[tuple[int, str, int]]):
    world = _made(steps)
    a, b, c = world.diaries

    world.finds(join(join(a, b), c))


@settings(max_examples=60, deadline=None)
@given(_STEPS, _STEPS)
def test_two_sides_of_one_diary_lose_nothing_that_was_not_deleted(
    first: list[tuple[int, str, int]], then: list[tuple[int, str, int]]
):
    world = _World()
    for number, (_, what, on) in enumerate(first):
        world.step(number, 0, what, 0 if what == "meet" else on)
    base = world.diaries[0]
    world.diaries = [base, base, base]
    for number, (side, what, on) in enumerate(then, 30):
        if what != "meet":
            world.step(number, side % 2 + 1, what, on)
    _, ours, theirs = world.diaries

    world.finds(merge(base, ours, theirs))
    assert _records(merge(base, ours, theirs)) == _records(merge(base, theirs, ours))


@settings(max_examples=60, deadline=None)
@given(_steps("replace"))
def test_meeting_again_changes_nothing(steps: list[tuple[int, str, int]]):
    a, b, _ = _made(steps).diaries
    both = join(a, b)

    assert _records(join(both, b)) == _records(join(both, both)) == _records(both)
    assert _records(join(a, a)) == _records(a)


@settings(max_examples=60, deadline=None)
@given(_STEPS, _STEPS)
def test_a_merge_with_an_unchanged_side_is_the_other_side(
    first: list[tuple[int, str, int]], second: list[tuple[int, str, int]]
):
    world = _World()
    for number, (_, what, on) in enumerate(first):
        world.step(number, 0, what, on if what != "meet" else 0)
    base = world.diaries[0]
    for number, (_, what, on) in enumerate(second, 100):
        world.step(number % 60, 0, what, on if what != "meet" else 0)
    side = world.diaries[0]

    assert _records(merge(base, side, base)) == _records(side)
    assert _records(merge(base, base, side)) == _records(side)
