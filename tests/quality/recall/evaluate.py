"""Ours and other ways to search, side by side over the labelled queries."""

from __future__ import annotations

import hashlib
import importlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reflector.core.tokens import asked
from reflector.memory.document import parse
from reflector.memory.indexed import Passage, indexed
from reflector.store import recall_memory
from reflector.store.recall_memory import Only
from tests.quality.recall.corpus import Query, rendered

TOP = 5
_REORDERED = 50
_WHEN = "2026-11-30T12:00:00.000Z"

Search = Callable[[str], list[str]]


@dataclass(frozen=True)
class Score:
    """How often the answer is among the first five, and the mean of one over its place."""

    recall: float
    mrr: float
    missed: tuple[Query, ...]


def judge(search: Search, queries: Iterable[Query]) -> Score:
    places = [(query, _place(search(query.text), query.path)) for query in queries]
    count = len(places)
    return Score(
        sum(1 <= place <= TOP for _, place in places) / count,
        sum(1 / place for _, place in places if place) / count,
        tuple(query for query, place in places if not 1 <= place <= TOP),
    )


def _place(paths: list[str], wanted: str) -> int:
    return paths.index(wanted) + 1 if wanted in paths else 0


def ours(documents: Mapping[str, bytes], *, whole: bool = False) -> Search:
    """Return our search; with `whole` documents are not cut into passages."""
    connection = memory(documents, whole=whole)

    def search(query: str) -> list[str]:
        chosen = recall_memory.telling(connection, asked(query))
        hits = recall_memory.find(connection, chosen, Only(), 10)
        return [hit.path for hit in hits]

    return search


def memory(documents: Mapping[str, bytes], *, whole: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.executescript(recall_memory.TABLES)
    read = [found for path, raw in documents.items() if (found := indexed(path, raw))]
    # The projects' documents are for everybody here: what is judged is the ranking.
    everybody = [replace(each, bank="") for each in read]
    if whole:
        everybody = [replace(each, passages=_together(each.passages)) for each in everybody]
    connection.execute("BEGIN")
    recall_memory.put(connection, [(each, _WHEN) for each in everybody])
    connection.execute("COMMIT")
    return connection


def _together(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    headings = "\n".join(each.heading for each in passages)
    return (Passage(headings, "\n".join(f"{each.heading}\n{each.text}" for each in passages)),)


def packed(
    documents: Mapping[str, bytes], queries: Iterable[Query], size: int
) -> tuple[dict[str, bytes], list[Query]]:
    """Put so many documents into one, each below a heading, and move the answers with them."""
    names = sorted(documents, key=lambda path: hashlib.sha256(path.encode()).digest())
    where: dict[str, str] = {}
    texts: dict[str, str] = {}
    for number, path in enumerate(names):
        where[path] = place = f"reference/packed-{number // size:04d}.md"
        found = parse(path, documents[path])
        texts[place] = f"{texts.get(place, '')}## {found.description}\n{found.body}\n"
    made = {place: rendered("Notes of many kinds", text) for place, text in texts.items()}
    return made, [replace(query, path=where[query.path]) for query in queries]


def fts(documents: Mapping[str, bytes], tokenize: str) -> Search:
    """SQLite's own search, fed with the whole file; every word of the query in quotes."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5 (path, text, tokenize='{tokenize}')")
    rows = [(path, raw.decode()) for path, raw in documents.items()]
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    least = 3 if tokenize == "trigram" else 1

    def search(query: str) -> list[str]:
        words = [word for word in re.findall(r"\w+", query) if len(word) >= least]
        if not words:
            return []
        wanted = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT path FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10"
        return [path for (path,) in connection.execute(sql, (wanted,))]

    return search


def substring(documents: Mapping[str, bytes]) -> Search:
    """Plain text search: the whole query first, then how many of its words a file holds."""
    texts = {path: f"{path}\n{raw.decode()}".lower() for path, raw in documents.items()}

    def search(query: str) -> list[str]:
        whole, words = query.lower(), query.lower().split()
        scores = {
            path: (whole in text, sum(word in text for word in words))
            for path, text in texts.items()
        }
        found = [path for path, score in scores.items() if any(score)]
        return sorted(found, key=lambda path: (scores[path], path), reverse=True)[:10]

    return search


def rank_bm25(documents: Mapping[str, bytes]) -> Search | None:
    """Return the library's search over words, None where it is not installed."""
    try:
        library = importlib.import_module("rank_bm25")
    except ImportError:
        return None
    paths = list(documents)
    texts = [f"{path} {raw.decode()}" for path, raw in documents.items()]
    index = library.BM25Okapi([re.findall(r"\w+", text.lower()) for text in texts])

    def search(query: str) -> list[str]:
        scores = index.get_scores(re.findall(r"\w+", query.lower()))
        order = sorted(range(len(paths)), key=lambda at: -scores[at])[:10]
        return [paths[at] for at in order if scores[at] > 0]

    return search


def with_vectors(documents: Mapping[str, bytes]) -> Search | None:
    """Return our search with its best ordered anew by words and static vectors together.

    None where `wordllama` is not installed: nothing of the product needs it.
    """
    try:
        library = importlib.import_module("wordllama")
    except ImportError:
        return None
    # It looks for its own tokenizer in another folder than it is installed in, then on the network.
    where = Path(library.__file__ or "").parent
    model = library.WordLlama.load(cache_dir=where, disable_download=True)
    connection = memory(documents)

    def search(query: str) -> list[str]:
        chosen = recall_memory.telling(connection, asked(query))
        hits = recall_memory.find(connection, chosen, Only(), _REORDERED)
        if len(hits) <= 1:
            return [hit.path for hit in hits]
        texts = [f"{hit.about}\n{hit.passage.heading}\n{hit.passage.text}" for hit in hits]
        cosines = [score for _, score in model.rank(query, texts, sort=False)]
        best = hits[0].score
        scores = {
            hit.path: hit.score / best + cosine for hit, cosine in zip(hits, cosines, strict=True)
        }
        return sorted(scores, key=lambda path: -scores[path])[:10]

    return search


def sides(documents: Mapping[str, bytes]) -> dict[str, Search]:
    found: dict[str, Search] = {
        "ours": ours(documents),
        "FTS5 unicode61": fts(documents, "unicode61"),
        "FTS5 trigram": fts(documents, "trigram"),
        "substring": substring(documents),
    }
    library = rank_bm25(documents)
    return found | ({"rank-bm25": library} if library else {})
