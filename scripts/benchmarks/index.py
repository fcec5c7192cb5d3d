"""What the search index costs at several sizes: making it, one changed document, a query."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles

from benchmarks.measure import Cost, Row, Series, both, cost, ms, repeated
from benchmarks.memories import git, path_of
from benchmarks.place import environment
from reflector.core.ambient import SystemClock
from reflector.memory.indexed import indexed
from reflector.runtime import birth
from reflector.runtime.recall import recall, search
from reflector.runtime.wiring import Context, context
from reflector.store import recall as files
from reflector.store import recall_memory
from tests.quality.recall.evaluate import fts, rank_bm25

_RATIO = 2.0
_WORDS = 20_000
_SAID = 150
_QUERIES = 200
_FEW = 3
_LARGE_ENOUGH = 1000
_LIBRARY = 10_000
_CHILD = (
    "import sys\n"
    "from reflector.runtime.recall import recall\n"
    "from reflector.runtime.wiring import context\n"
    "found = context(sys.argv[1], 'default')\n"
    "for query in sys.argv[2:]:\n"
    "    recall(found, query)\n"
    "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
)


@dataclass(frozen=True, slots=True)
class _Size:
    """What was measured at one size."""

    documents: int
    built: Cost
    change: Series
    update: Series
    queries: Mapping[str, tuple[float, ...]]
    megabytes: float
    on_disk: float


def bench(folder: Path, *, quick: bool, large: bool = False) -> list[Row]:
    """Measure at a thousand and ten thousand documents, with `large` at a hundred thousand."""
    sizes, rounds = ([20, 40], 2) if quick else ([1000, 10_000], 9)
    if large and not quick:
        sizes.append(100_000)
    found = [_measured(folder / f"index-{size}", size, rounds) for size in sizes]
    rows = [row for each in found for row in _rows(each)]
    first, last = found[0], found[-1]
    names = f"{last.documents} documents against {first.documents}"
    goal = _RATIO if last.documents > _LARGE_ENOUGH else None
    for what, ours, against, most in (
        ("one document changed in the index", last.change, first.change, goal),
        ("recall after one commit", last.update, first.update, None),
    ):
        ratio = ours.least / against.least
        rows.append(Row(f"{what}, {names}", both(ours), both(against), ratio, most))
    return [*rows, *_journal(folder / "index-journal", 200 if quick else 20_000)]


def _rows(size: _Size) -> list[Row]:
    memory = f"{size.megabytes:.0f} MB more than without a query, {size.on_disk:.0f} MB on disk"
    return [
        Row(f"index of {size.documents} documents made", ms(size.built.wall), "", note=memory),
        Row(f"one document changed, {size.documents} documents", both(size.change), ""),
        Row(f"recall after one commit, {size.documents} documents", both(size.update), ""),
        *_asked(size),
    ]


def _asked(size: _Size) -> list[Row]:
    """Compare the middle and the slowest of the queries with those of the best of the others."""
    cuts = {name: quantiles(times, n=100) for name, times in size.queries.items()}
    ours = cuts.pop("ours")
    goal = 1.0 if size.documents > _LARGE_ENOUGH else None
    rows = []
    for what, at in (("p50", 49), ("p99", 98)):
        best = min(cuts, key=lambda name: cuts[name][at])
        ratio, theirs = ours[at] / cuts[best][at], f"{ms(cuts[best][at])} ({best})"
        name = f"query, {size.documents} documents, {what}, against the quickest other"
        rows.append(Row(name, ms(ours[at]), theirs, ratio, goal))
    return rows


def _measured(folder: Path, documents: int, rounds: int) -> _Size:
    folder.mkdir()
    environ = environment(folder / "person")
    found = context(str(folder / "home"), "default")
    birth.init(found)
    _fill(found, documents, environ)
    recall(found, "warm")  # what is imported only once is no part of making the index
    files.drop(found.agent, SystemClock(), files.MEMORY)
    with cost() as built:
        recall(found, _word(12))
    costs = [_after_one_commit(found, number, environ) for number in range(rounds)]
    queries = [_query(number) for number in range(_QUERIES if rounds > _FEW else _FEW)]
    sides: dict[str, Callable[[str], object]] = {"ours": partial(recall, found)}
    times = _in_turns(sides | _others(documents), queries)
    size = (found.agent.path / files.MEMORY).stat().st_size / 1e6
    asked = _peak(found, queries[:20]) - _peak(found, []) if rounds > _FEW else 0
    change = Series([_changed(found, number) for number in range(rounds * 3)])
    return _Size(documents, built, change, Series(costs), times, asked, size)


def _in_turns(
    sides: Mapping[str, Callable[[str], object]], queries: list[str]
) -> dict[str, tuple[float, ...]]:
    """Ask every side each query, one after the other, and return how long each took."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for query in queries:
        for name, ask in sides.items():
            times[name].append(repeated(1, partial(ask, query)).least)
    return {name: tuple(each) for name, each in times.items()}


def _others(documents: int) -> dict[str, Callable[[str], object]]:
    """Return other ways to search the same documents: ten paths, and no excerpts or reasons."""
    texts = {path_of(number): _document(number).encode() for number in range(documents)}
    found: dict[str, Callable[[str], object]] = {"FTS5 unicode61": fts(texts, "unicode61")}
    # Above that the library holds gigabytes.
    library = rank_bm25(texts) if documents <= _LIBRARY else None
    return found | ({"rank-bm25": library} if library else {})


def _changed(found: Context, number: int) -> Cost:
    """Measure the index alone: one document taken out and another put in its place."""
    path = path_of(number + 50)
    document = indexed(path, _document(number + 8_000_000).encode())
    connection = files.Index(found.agent, files.MEMORY, recall_memory.TABLES).open()
    if document is None or connection is None:
        raise RuntimeError("there is no index")
    with closing(connection), cost() as spent, files.writing(connection):
        recall_memory.take_out(connection, [path])
        recall_memory.put(connection, [(document, found.ambient.now())])
    return spent


def _after_one_commit(found: Context, number: int, environ: dict[str, str]) -> Cost:
    place = found.agent.repo / path_of(number)
    place.write_text(_document(number + 7_000_000), "utf-8")
    git(found.agent.repo, environ, "commit", "-q", "-a", "-m", "chore(bench): one more")
    with cost() as spent:
        recall(found, "nobodysaid")  # what is measured is the update, not what is found
    return spent


def _peak(found: Context, queries: list[str]) -> float:
    """Return the most memory that a fresh process had, in MB."""
    if sys.platform != "linux":
        return 0  # what `getrusage` tells of a child counts its parent as well
    words = [sys.executable, "-c", _CHILD, str(found.home.path), *queries]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    return int(done.stdout) / 1024


def _fill(found: Context, documents: int, environ: dict[str, str]) -> None:
    repo = found.agent.repo
    for number in range(documents):
        place = repo / path_of(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_document(number), "utf-8")
    git(repo, environ, "add", "-A")
    git(repo, environ, "commit", "-q", "-m", "chore(bench): documents")
    git(repo, environ, "gc", "-q")


def _document(number: int) -> str:
    said = _said(number, _SAID)
    lines = "".join(f"- {' '.join(said[at : at + 15])}\n" for at in range(10, _SAID, 15))
    return f"---\ndescription: {' '.join(said[:10])}\n---\n\n# Topic {number}\n\n{lines}"


def _said(seed: int, words: int) -> list[str]:
    """Return made-up words, few of them often and many of them seldom, as in any language."""
    chance = random.Random(seed)  # noqa: S311 - the same words every time
    return [_word(int(_WORDS ** chance.random())) for _ in range(words)]


def _word(number: int) -> str:
    """Write a number in consonants and vowels."""
    found = ""
    while number or not found:
        number, at = divmod(number, 85)
        found += "bcdfghjklmnprstvz"[at % 17] + "aeiou"[at // 17]
    return found + "n"


def _query(number: int) -> str:
    return " ".join(_said(900_000 + number, 4))


def _journal(folder: Path, entries: int) -> list[Row]:
    """Measure the first search of a journal, and one after a new entry."""
    from benchmarks.memories import talk  # noqa: PLC0415 - this part alone needs it
    from reflector.runtime.ingest import ingest  # noqa: PLC0415
    from reflector.runtime.loop import Quiet  # noqa: PLC0415

    folder.mkdir()
    environment(folder / "person")
    found = context(str(folder / "home"), "default")
    birth.init(found)
    said = [" ".join(_said(number, 60)) for number in range(entries // 2)]
    ingest(found, talk(folder / "talk.jsonl", "talk", said), Quiet())
    with cost() as first:
        search(found, _word(12))
    ingest(found, talk(folder / "more.jsonl", "more", [f"{_word(7)} {_word(8)}"]), Quiet())
    with cost() as second:
        search(found, _word(7))
    again = repeated(20, lambda: search(found, f"{_word(300)} {_word(4000)}"))
    name = f"search of a journal of {entries} entries"
    return [
        Row(f"{name}, the first", ms(first.wall), ""),
        Row(f"{name}, after a new one", ms(second.wall), ""),
        Row(f"{name}, nothing new", both(again), ""),
    ]
