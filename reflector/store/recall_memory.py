"""The index of a memory's documents at one commit of main."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from reflector.core.tokens import terms
from reflector.memory.indexed import Indexed, Passage

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  keys TEXT NOT NULL,
  bank TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (id),
  heading TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX passages_of_document ON passages (document);
CREATE VIRTUAL TABLE found USING fts5 (
  path, description, heading, text, content='', tokenize="ascii tokenchars '.'"
);
CREATE VIRTUAL TABLE found_terms USING fts5vocab (found, 'row');
"""
# Contentless: the texts are in the tables. SQLite 3.40 takes a row out of such an index only when
# it is told the row's terms, which are made again from the text.

_WEIGHTS = (1.0, 1.5, 1.0, 1.0)
# Of path, description, heading, text. Tuned on one half of the benchmark; higher ones lose more
# identifiers in texts than they win descriptions.
_COMMON = 10
"""A term in more than one of so many passages tells them apart no more."""
_FEW = 200
_MOST_TERMS = 48
_NEWER = 0.03
_YEAR = timedelta(days=365)
_AHEAD = 3
_LEAST = 20


_FIND = f"""
SELECT passages.id, documents.path, -bm25(found, {", ".join(map(str, _WEIGHTS))}) AS score
FROM found JOIN passages ON passages.id = found.rowid
JOIN documents ON documents.id = passages.document
WHERE found MATCH ?1
  AND (?2 = '' OR substr(documents.path, 1, length(?2)) = ?2)
  AND (documents.bank = '' OR documents.bank = ?3) AND documents.at >= ?4
  AND (?5 = '' OR substr(documents.path, 1, length(?5)) <> ?5)
ORDER BY score DESC, documents.path
"""  # noqa: S608 - constants of this module

_SHOW = (
    "SELECT documents.*, passages.heading, passages.text FROM passages "
    "JOIN documents ON documents.id = document WHERE passages.id = ?"
)


@dataclass(frozen=True, slots=True)
class Only:
    """Which documents may be found: below a path, of a project or of none, changed since."""

    path: str = ""
    bank: str = ""
    since: str = ""
    outside: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found by its best passage; the higher the score the better.

    `at` is when main last changed it.
    """

    path: str
    about: str
    passage: Passage
    score: float
    at: str


def revision(connection: sqlite3.Connection) -> str:
    """Return the commit whose documents are in the index."""
    row = connection.execute("SELECT value FROM facts WHERE name = 'revision'").fetchone()
    return row["value"] if row else ""


def set_revision(connection: sqlite3.Connection, commit: str) -> None:
    """Note the commit whose documents are in the index now."""
    connection.execute(
        "INSERT INTO facts (name, value) VALUES ('revision', ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (commit,),
    )


def put(connection: sqlite3.Connection, documents: Iterable[tuple[Indexed, str]]) -> None:
    """Add documents that are not there, each with the time of its last change."""
    for document, at in documents:
        made = connection.execute(
            "INSERT INTO documents (path, description, keys, bank, at) VALUES (?, ?, ?, ?, ?)",
            (document.path, document.description, document.keys, document.bank, at),
        ).lastrowid
        shared = _shared(document.path, _about(document.description, document.keys))
        for passage in document.passages:
            row = connection.execute(
                "INSERT INTO passages (document, heading, text) VALUES (?, ?, ?)",
                (made, passage.heading, passage.text),
            ).lastrowid
            connection.execute(
                "INSERT INTO found (rowid, path, description, heading, text) "
                "VALUES (?, ?, ?, ?, ?)",
                (row, *shared, _written(passage.heading), _written(passage.text)),
            )


def take_out(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Take documents out; those that are not there are no error."""
    for path in paths:
        document = connection.execute("SELECT * FROM documents WHERE path = ?", (path,)).fetchone()
        if document is None:
            continue
        shared = _shared(path, _about(document["description"], document["keys"]))
        rows = connection.execute(
            "SELECT * FROM passages WHERE document = ?", (document["id"],)
        ).fetchall()
        for row in rows:
            connection.execute(
                "INSERT INTO found (found, rowid, path, description, heading, text) "
                "VALUES ('delete', ?, ?, ?, ?, ?)",
                (row["id"], *shared, _written(row["heading"]), _written(row["text"])),
            )
        connection.execute("DELETE FROM passages WHERE document = ?", (document["id"],))
        connection.execute("DELETE FROM documents WHERE id = ?", (document["id"],))


def find(
    connection: sqlite3.Connection, chosen: Collection[str], only: Only, limit: int
) -> list[Hit]:
    """Return the documents with the most of the terms that `telling` chose, the best first."""
    if not chosen:
        return []
    values = (match(chosen), only.path, only.bank, only.since, only.outside)
    best: dict[str, tuple[int, float]] = {}
    for row in connection.execute(_FIND, values):
        best.setdefault(row["path"], (row["id"], row["score"]))
        if len(best) >= max(_AHEAD * limit, _LEAST):
            break
    return newer_first([_hit(connection, *each) for each in best.values()])[:limit]


def _hit(connection: sqlite3.Connection, passage: int, score: float) -> Hit:
    # Looked up for the few that are shown: sorting thousands of matches with their texts is slow.
    row = connection.execute(_SHOW, (passage,)).fetchone()
    shown = Passage(row["heading"], row["text"])
    return Hit(row["path"], _about(row["description"], row["keys"]), shown, score, row["at"])


def newer_first(hits: Sequence[Hit]) -> list[Hit]:
    """Order hits by score, which being newer raises a little: it decides between equals."""
    newest = max((each.at for each in hits), default="")

    def key(hit: Hit) -> tuple[float, str]:
        return -hit.score * (1 + _NEWER * (1 - _years(hit.at, newest))), hit.path

    return sorted(hits, key=key)


def _years(earlier: str, later: str) -> float:
    """Return the time between two instants in years, one at most."""
    try:
        passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except ValueError:
        return 1
    return min(max(passed / _YEAR, 0.0), 1.0)


def match(wanted: Iterable[str]) -> str:
    """Write terms as an expression of the index: each in quotes, so that none is syntax (F126)."""
    return " OR ".join(
        f'"{term.removesuffix("*")}"{"*" if term.endswith("*") else ""}' for term in wanted
    )


def telling(connection: sqlite3.Connection, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the terms of a query by which documents are told apart.

    Left out are those that no document has or very many have, and of a long query the commonest.
    """
    # About so many passages there are; counting them would cost more than the search.
    total = connection.execute("SELECT max(id) FROM passages").fetchone()[0] or 0
    counts: dict[str, int] = {}
    for term in wanted:
        row = connection.execute("SELECT doc FROM found_terms WHERE term = ?", (term,)).fetchone()
        if row is not None or term.endswith("*"):
            counts[term] = row["doc"] if row else 0
    rare = [term for term, count in counts.items() if count <= max(total // _COMMON, _FEW)]
    kept = rare or list(counts)
    chosen = set(sorted(kept, key=lambda term: counts[term])[:_MOST_TERMS])
    return {term: word for term, word in wanted.items() if term in chosen}


def _shared(path: str, about: str) -> tuple[str, str]:
    return _written(path.removesuffix(".md")), _written(about)


def _about(description: str, keys: str) -> str:
    return f"{description}\n{keys}" if keys else description


def _written(text: str) -> str:
    return " ".join(terms(text))
