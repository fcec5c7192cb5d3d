"""The diary at its largest: what comes to mind, and the block, against reading every entry anew."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

from benchmarks.measure import Row, both, ms, repeated
from reflector.core.diary import Diary, Entry, Trait
from reflector.core.tokens import asked, satisfied, terms
from reflector.pipelines.diary import block
from reflector.pipelines.diary.recalling import Index, recall

_TODAY = date(2026, 11, 30)
_LARGE = 20_000
_MOST_SECONDS = 0.05
_SEED = 20261130
_WORDS = 4000
_HAN = "他我们今年把那个问题修好以后就笑着走开没有再说一句话下雨时候才写得下去"


def bench(_folder: Path, *, quick: bool) -> list[Row]:
    """Recall and compile at one size."""
    size, rounds = (200, 2) if quick else (_LARGE, 7)
    entries = _entries(size)
    index = Index(entries)
    diary = Diary(
        {each.id: each for each in entries},
        {f"t{n}": Trait(f"t{n}", f"Impression {n}.", "a moment", "user") for n in range(40)},
    )
    rows = [
        _recalled(name, query, entries, index, rounds)
        for name, query in (
            ("a sentence", f"{entries[7].text[:60]} again"),
            ("a page of 4 000 characters", " ".join(each.text for each in entries[:30])[:4000]),
            ("Chinese", "他那个问题后来修好没有，还下雨吗"),
        )
    ]
    return [*rows, _made(entries, rounds), _compiled(diary, rounds)]


def _recalled(name: str, query: str, entries: list[Entry], index: Index, rounds: int) -> Row:
    draw = random.Random(_SEED).random  # noqa: S311 - a bench draws the same each time

    def ours() -> object:
        return recall(index, query, _TODAY, {}, (), draw)

    def anew() -> object:
        wanted = asked(query)
        held = [set(terms(each.text)) for each in entries]
        return [sum(satisfied(term, each) for term in wanted) for each in held]

    found, against = repeated(rounds, ours), repeated(2, anew)
    return Row(
        f"recall in {len(entries)} entries, {name}, against reading all",
        both(found),
        both(against),
        found.least / against.least,
        shown_goal=f"< {ms(_MOST_SECONDS)}",
        met=found.middle < _MOST_SECONDS,
    )


def _made(entries: list[Entry], rounds: int) -> Row:
    whole = repeated(2, lambda: Index(entries))
    index = Index(entries)
    fresh = iter([Entry(f"n{n}", "2026-11-30", entries[n].text, "chat") for n in range(rounds)])
    one = repeated(rounds, lambda: index.add(next(fresh)))
    ratio = one.least / whole.least
    return Row(
        f"one entry more, against an index of {len(entries)} made anew",
        both(one),
        both(whole),
        ratio,
        0.01,
    )


def _compiled(diary: Diary, rounds: int) -> Row:
    wanted = block.Wanted(_TODAY, known_since="2026-01-01", note_tool="note")
    whole = repeated(rounds, lambda: block.compile(diary, wanted))
    ids = repeated(rounds, lambda: block.shown(diary, _TODAY))
    return Row(
        f"the block of {len(diary.entries)} entries, against only choosing what is shown",
        both(whole),
        both(ids),
        whole.least / ids.least,
        note="choosing looks at every entry",
    )


def _entries(size: int) -> list[Entry]:
    """Make entries whose words are as unevenly common as those of a language."""
    chance = random.Random(_SEED)  # noqa: S311 - the same diary in every run
    words = [
        "".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(3, 9)))
        for _ in range(_WORDS)
    ]
    weights = [1 / (rank + 3) for rank in range(_WORDS)]
    made = []
    for number in range(size):
        english = " ".join(chance.choices(words, weights, k=45))
        text = "".join(chance.choices(_HAN, k=90)) if number % 4 == 0 else english
        day = (_TODAY - timedelta(days=number % 360)).isoformat()
        made.append(
            Entry(f"{number:06x}", day, text, "note" if number % 9 == 0 else "chat", salience=0.9,
                  updated_at=f"{day}T12:00:00.000Z", reinforced_on=day)
        )  # fmt: skip
    return made
