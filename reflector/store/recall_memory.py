"""The index of a memory's documents at one commit of main."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from reflector.core.tokens import terms
from reflector.memory.indexed import ACTIVE, Indexed, Passage, Standing
from reflector.store.recall_order import Hit, in_order

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  keys TEXT NOT NULL,
  bank TEXT NOT NULL,
  at TEXT NOT NULL,
  layer TEXT NOT NULL,
  item TEXT NOT NULL,
  status TEXT NOT NULL,
  branch TEXT NOT NULL,
  confidence REAL NOT NULL,
  verified INTEGER NOT NULL,
  links TEXT NOT NULL,
  evidence TEXT NOT NULL
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
_SCORED = 10_000
_SHARE = 5
"""So many passages are scored for one query, or one in so many: its commonest terms wait outside."""
_AHEAD = 3
_LEAST = 20

_FIND = f"""
SELECT scored.id, documents.path, scored.score
FROM (
  SELECT rowid AS id, -bm25(found, {", ".join(map(str, _WEIGHTS))}) AS score
  FROM found WHERE found MATCH ?1 ORDER BY score DESC, rowid LIMIT -1
) AS scored
CROSS JOIN passages ON passages.id = scored.id
CROSS JOIN documents ON documents.id = passages.document
WHERE (?2 = '' OR substr(documents.path, 1, length(?2)) = ?2)
  AND (documents.bank = ?3 OR documents.bank = '' AND NOT ?4)
  AND documents.at >= ?5 AND (?6 = '' OR documents.at <= ?6)
  AND (?7 = '' OR substr(documents.path, 1, length(?7)) <> ?7)
  AND (?8 = '' OR documents.status = ?8)
  AND (?9 = '' OR documents.branch = ?9)
  AND (?10 = '' OR documents.layer = ?10)
"""  # noqa: S608 - constants of this module
# The limit keeps the inner query whole, and in its order: the documents of thousands of passages
# that nobody will see are then never looked up. The outer rows come as they are asked for.

_PUT = (
    "INSERT INTO documents (path, description, keys, bank, at, layer, item, status, branch, "
    "confidence, verified, links, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SHOW = (
    "SELECT documents.*, passages.heading, passages.text FROM passages "
    "JOIN documents ON documents.id = document WHERE passages.id = ?"
)


@dataclass(frozen=True, slots=True)
class Only:
    """Which documents may be found; "" is any of them.

    `path` and `outside` are beginnings of paths, `since` and `until` instants of the last change.
    Of `bank` and of no project; with `bound` of that project alone.
    """

    path: str = ""
    bank: str = ""
    since: str = ""
    outside: str = ""
    until: str = ""
    status: str = ACTIVE
    branch: str = ""
    layer: str = ""
    bound: bool = False

    def values(self) -> tuple[str | bool, ...]:
        """Return the values of the query, behind what it matches."""
        when = (self.since, self.until)
        which = (self.outside, self.status, self.branch, self.layer)
        return (self.path, self.bank, self.bound, *when, *which)


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
        made = connection.execute(_PUT, _row(document, at)).lastrowid
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


def _row(document: Indexed, at: str) -> tuple[str | float, ...]:
    said = document.standing
    return (
        *(document.path, document.description, document.keys, document.bank, at, document.layer),
        *(said.item, said.status, said.branch, said.confidence, said.verified),
        *("\n".join(said.links), "\n".join(said.evidence)),
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
    best: dict[str, tuple[int, float]] = {}
    for row in connection.execute(_FIND, (match(chosen), *only.values())):
        best.setdefault(row["path"], (row["id"], row["score"]))
        if len(best) >= max(_AHEAD * limit, _LEAST):
            break
    return in_order([_hit(connection, *each) for each in best.values()], limit)


def _hit(connection: sqlite3.Connection, passage: int, score: float) -> Hit:
    # Looked up for the few that are shown: sorting thousands of matches with their texts is slow.
    row = connection.execute(_SHOW, (passage,)).fetchone()
    about, shown = _about(row["description"], row["keys"]), Passage(row["heading"], row["text"])
    standing = Standing(
        *(row["item"], row["status"], row["branch"], row["confidence"], bool(row["verified"])),
        links=tuple(row["links"].splitlines()),
        evidence=tuple(row["evidence"].splitlines()),
    )
    return Hit(row["path"], about, shown, score, row["at"], row["layer"], standing)


def match(wanted: Iterable[str]) -> str:
    """Write terms as an expression of the index: each in quotes, so that none is syntax (F126)."""
    return " OR ".join(
        f'"{term.removesuffix("*")}"{"*" if term.endswith("*") else ""}' for term in wanted
    )


def counted(connection: sqlite3.Connection, wanted: Iterable[str]) -> tuple[int, dict[str, int]]:
    """Return about how many passages there are, and how many have each term that any has."""
    # Counting the passages would cost more than the search.
    total = connection.execute("SELECT max(id) FROM passages").fetchone()[0] or 0
    counts: dict[str, int] = {}
    for term in wanted:
        row = connection.execute("SELECT doc FROM found_terms WHERE term = ?", (term,)).fetchone()
        if row is not None or term.endswith("*"):
            counts[term] = row["doc"] if row else 0
    return total, counts


def telling(
    connection: sqlite3.Connection, wanted: Mapping[str, str], most: int = _SCORED
) -> dict[str, str]:
    """Return the terms of a query by which documents are told apart.

    Left out are those that no document has or very many have, and the commonest of a query whose
    terms together stand in more passages than are scored, about `most`: what they would add to the
    order is little, and all of the time is theirs.
    """
    total, counts = counted(connection, wanted)
    rare = [term for term, count in counts.items() if count <= max(total // _COMMON, _FEW)]
    # BM25 gives nothing for a term that every second passage has.
    kept = rare or [term for term, count in counts.items() if count <= total // 2] or list(counts)
    room, chosen = max(most, total // _SHARE), set[str]()
    for term in sorted(kept, key=lambda term: counts[term])[:_MOST_TERMS]:
        room -= counts[term]
        if chosen and room < 0:
            break
        chosen.add(term)
    return {term: word for term, word in wanted.items() if term in chosen}


def _shared(path: str, about: str) -> tuple[str, str]:
    return _written(path.removesuffix(".md")), _written(about)


def _about(description: str, keys: str) -> str:
    return f"{description}\n{keys}" if keys else description


def _written(text: str) -> str:
    return " ".join(terms(text))
