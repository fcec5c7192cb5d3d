"""What a simulated year came to, for a person: a table, and ten previews spread over it.

`python -m tests.longrun.report [DAYS]` lives it, has it audited, and prints both.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.longrun.living import Home
from tests.longrun.plan import SMALL, WHOLE
from tests.longrun.year import Year, year
from tests.support import diary_auditor, diary_year
from tests.support.diary_auditor import files, history, parsed, places, rows

MEMORY = Path("/dev/shm")
SHOWN = 10


def table(lived: Year) -> Iterator[str]:
    """Yield the lines of the table."""
    plan, count = lived.plan, lived.count
    yield f"{plan.days} days from {plan.start}, seed {plan.seed}; {count.turns} turns, "
    yield f"  {count.notes} notes, {count.exchanges} exchanges of packs, {len(lived.zones)} zones"
    yield f"asked for something old {count.asked} times, beside prompts {count.beside} lines"
    for home in lived.homes.values():
        yield from _home(home)
    yield f"{'month':>6}{'turns':>7}{'calls':>7}{'in':>10}{'out':>8}{'in a call':>11}"
    for number, each in sorted(lived.months.items()):
        share = each.asked // max(1, each.calls)
        yield f"{number:>6}{each.turns:>7}{each.calls:>7}{each.asked:>10}{each.said:>8}{share:>11}"


def heavy() -> Iterator[str]:
    """Yield what a heavy user costs each month."""
    yield f"a heavy user, {diary_year.TURNS} turns a day, {len(diary_year.KEPT)} of them kept:"
    for number, month in enumerate(diary_year.months(), 1):
        yield f"{number:>6}{month.asked:>10} in{month.said:>8} out{month.entries:>7} entries"


def _home(home: Home) -> Iterator[str]:
    repo, database = places(home.companion.home)
    entries = parsed(files(repo), "entries").values()
    kinds = Counter(each["kind"] for each in entries)
    done = Counter((each.trailers("Diary-Change") or ["?"])[0] for each in history(repo))
    ends = Counter(
        f"{row['state']} {row['why']}".strip()
        for row in rows(database, "SELECT state, why FROM diary_jobs")
    )
    yield f"{home.name}: {len(entries)} entries ({_counted(kinds)})"
    yield f"  commits: {_counted(done)}"
    yield f"  turns: {_counted(ends)}"
    sizes = [each["explain"] for each in home.previews]
    inside = [each["tokens"] - each["frame_tokens"] for each in sizes]
    near = [each["shares"]["recent"] + each["shares"]["recalled"] for each in sizes[10:]]
    yield f"  {len(sizes)} blocks of at most {max(inside)} tokens beside the frame, of {sizes[0]['budget_tokens']}"
    if near:
        yield (
            f"  recent and recalled hold {sum(near) // len(near)} % of them on average, at least "
            f"{min(near)} %"
        )


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())


def previews(home: Home, most: int = SHOWN) -> Iterator[str]:
    """Yield blocks spread over the life, each with the moment and what was said first."""
    step = max(1, len(home.previews) // most)
    for each in home.previews[step - 1 :: step][:most]:
        yield f"\n===== day {each['day']}, {each['at']} in {each['zone']}; said: {each['query']}\n"
        yield each["text"]


def _audited(told: dict[str, Any]) -> str:
    try:
        diary_auditor.audit(told)
    except AssertionError as error:
        return f"WRONG:\n{error}"
    return "audited: nothing is wrong"


def main(words: list[str]) -> None:
    """Live it and print."""
    days = int(words[0]) if words else WHOLE.days
    plan = SMALL if days <= SMALL.days else replace(WHOLE, days=days)
    before = time.monotonic()
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, year(Path(folder), plan) as lived:
        lived.live()
        print(*table(lived), *heavy(), sep="\n")
        print(_audited(lived.told()), f"({time.monotonic() - before:.0f} s)")
        print(*previews(lived.first), sep="")


if __name__ == "__main__":
    main(sys.argv[1:])
