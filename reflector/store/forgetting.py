"""What a person wants forgotten, taken out of the state database, and looked for in it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import BusyError
from reflector.store import left_out
from reflector.store.state import State, translated

FORGOTTEN = "forgotten"
"""Why an entry is noted as left out that was in the journal: a person had it forgotten."""

Holds = Callable[[bytes], bool]

_WAIT_MS = 2000
_SHAS = ("base", "tip", "merge_commit")
_OF_A_RUN = {
    "focus": "''",
    "detail": "''",
    "findings": "'[]'",
    "usage": "'{}'",
    "target": "''",
    "parts": "'[]'",
}
_IDS = frozenset(
    {
        *("conversations", "entries", "runs", "run_snapshots", "set_aside", "boundaries"),
        *("source_rows", "redactions", "left_out", "silences", "rewritten", "segments"),
    }
)
"""Tables that hold ids and counts, or are treated column by column."""
_OF_A_CONVERSATION = ("title", "cwd", "here")
_EMPTY = (
    "UPDATE entries SET hidden = 1, text = '', tool = '', arguments = '', result = NULL "
    "WHERE id = ?"
)
_TAKE_OUT = (
    "UPDATE conversations SET total_steps = total_steps - ?, "
    "reflected_steps = reflected_steps - ?, unreflected_bytes = unreflected_bytes - ? WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """What the database holds: entries and conversations by id, runs by id, rows elsewhere."""

    entries: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    others: int = 0


def texts_of(connection: sqlite3.Connection, conversation: str) -> list[str]:
    """Return what the person and the agent said in a conversation and its subagents."""
    rows = connection.execute(
        "SELECT text FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE (c.key = ?1 OR c.parent = ?1) AND kind IN ('user', 'assistant') AND text <> ''",
        (conversation,),
    )
    return [row["text"] for row in rows]


def entries_of(connection: sqlite3.Connection, conversation: str) -> frozenset[str]:
    """Return the ids of all entries of a conversation and its subagents, forgotten ones too."""
    rows = connection.execute(
        "SELECT entries.id FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE c.key = ?1 OR c.parent = ?1",
        (conversation,),
    )
    return frozenset(row["id"] for row in rows)


def runs_of(connection: sqlite3.Connection, conversation: str) -> list[str]:
    """Return the ids of the runs that read a conversation or a subagent of it."""
    rows = connection.execute(
        "SELECT DISTINCT run FROM run_snapshots WHERE conversation = ?1 OR conversation IN "
        "(SELECT key FROM conversations WHERE parent = ?1) ORDER BY run",
        (conversation,),
    )
    return [row["run"] for row in rows]


def sources_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return every transcript that was read, with its conversation."""
    rows = connection.execute("SELECT path, conversation FROM sources ORDER BY path")
    return [(row["path"], row["conversation"]) for row in rows]


def find(connection: sqlite3.Connection, holds: Holds, conversation: str = "") -> Found:
    """Tell what `erase` would take out."""
    _teach(connection, holds)
    entries = connection.execute(
        "SELECT entries.id FROM entries JOIN conversations AS c ON c.id = conversation WHERE "
        "(?1 <> '' AND (c.key = ?1 OR c.parent = ?1) AND entries.hidden = 0) OR holds(text) OR "
        "holds(tool) OR holds(arguments) OR holds(result) ORDER BY c.id, sequence",
        (conversation,),
    ).fetchall()
    named = connection.execute(
        f"SELECT key FROM conversations WHERE key = ?1 OR parent = ?1 OR {_any(_OF_A_CONVERSATION)}",  # noqa: S608 - constants of this module
        (conversation,),
    ).fetchall()
    runs = connection.execute(f"SELECT id FROM runs WHERE {_any(_OF_A_RUN)}").fetchall()  # noqa: S608
    others = sum(
        connection.execute(f"SELECT count(*) FROM {table} WHERE {_any(columns)}").fetchone()[0]  # noqa: S608
        for table, columns in _other_tables(connection).items()
    )
    return Found(
        tuple(row["id"] for row in entries),
        tuple(row["key"] for row in named),
        tuple(row["id"] for row in runs),
        others,
    )


def erase(state: State, holds: Holds, conversation: str = "", runs: Iterable[str] = ()) -> Found:
    """Take it out, in one transaction; what the runs in `runs` said of their end goes too.

    Entries stay as empty rows and their ids are noted, so that no transcript brings them back.
    """
    with state.transaction() as connection:
        found = find(connection, holds, conversation)
        for entry in found.entries:
            _empty(connection, entry)
        # What was understood of forgotten words goes with them, whatever words it is put in.
        connection.executemany(
            "DELETE FROM deltas WHERE entry = ?", [(entry,) for entry in found.entries]
        )
        _clear(connection, "conversations", _OF_A_CONVERSATION)
        connection.execute(
            "UPDATE conversations SET hidden = 1, title = '' WHERE key = ?1 OR parent = ?1",
            (conversation,),
        )
        connection.execute(
            "DELETE FROM segments WHERE conversation = ?1 OR conversation IN "
            "(SELECT key FROM conversations WHERE parent = ?1)",
            (conversation,),
        )
        for name, nothing in _OF_A_RUN.items():
            connection.execute(f"UPDATE runs SET {name} = {nothing} WHERE holds({name})")  # noqa: S608
        connection.executemany(
            "UPDATE runs SET focus = '', detail = '', findings = '[]' WHERE id = ?",
            [(run,) for run in runs],
        )
        for table, columns in _other_tables(connection).items():
            connection.execute(f"DELETE FROM {table} WHERE {_any(columns)}")  # noqa: S608
    return found


def _other_tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the tables whose rows go as a whole, with their columns.

    They are rebuilt, or worth nothing without the text; the parts of an index are its own affair.
    """
    schema = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
    ).fetchall()
    indexes = tuple(
        f"{row['name']}_" for row in schema if str(row["sql"]).upper().startswith("CREATE VIRTUAL")
    )
    names = (row["name"] for row in schema)
    chosen = [
        name for name in names if not name.startswith(("sqlite_", *indexes)) and name not in _IDS
    ]
    return {
        name: [row["name"] for row in connection.execute(f"PRAGMA table_info({name})")]
        for name in chosen
    }


def _teach(connection: sqlite3.Connection, holds: Holds) -> None:
    def held(value: object) -> bool:
        raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return isinstance(raw, bytes) and holds(raw)

    connection.create_function("holds", 1, held)


def _any(columns: Iterable[str]) -> str:
    return " OR ".join(f"holds({name})" for name in columns)


def _clear(connection: sqlite3.Connection, table: str, columns: Iterable[str]) -> None:
    for name in columns:
        connection.execute(f"UPDATE {table} SET {name} = '' WHERE holds({name})")  # noqa: S608


def _empty(connection: sqlite3.Connection, entry: str) -> None:
    row = connection.execute(
        "SELECT entries.*, c.key, c.cursor FROM entries JOIN conversations AS c "
        "ON c.id = conversation WHERE entries.id = ?",
        (entry,),
    ).fetchone()
    connection.execute(_EMPTY, (entry,))
    if not row["hidden"]:
        read = row["sequence"] <= row["cursor"]
        counted = (row["step"], row["step"] * read, row["size"] * (not read))
        connection.execute(_TAKE_OUT, (*counted, row["conversation"]))
    left_out.note(connection, [(row["key"], entry, FORGOTTEN)])


def note_rewritten(state: State, moved: Mapping[str, str], now: str) -> None:
    """Remember which commit stands for which, and let the ledger name those that are there."""
    pairs = [(old, new, now) for old, new in moved.items() if old != new]
    with state.transaction() as connection:
        connection.executemany(
            "INSERT INTO rewritten (old, new, at) VALUES (?, ?, ?) "
            "ON CONFLICT (old) DO UPDATE SET new = excluded.new, at = excluded.at",
            pairs,
        )
        for name in _SHAS:
            connection.execute(
                f"UPDATE runs SET {name} = (SELECT new FROM rewritten WHERE old = {name}) "  # noqa: S608
                f"WHERE {name} IN (SELECT old FROM rewritten)"
            )
        connection.execute(
            "UPDATE marks SET value = (SELECT new FROM rewritten WHERE old = value) "
            "WHERE value IN (SELECT old FROM rewritten)"
        )


def now_called(connection: sqlite3.Connection, sha: str) -> tuple[str, str]:
    """Return the commit that stands for one of before a rewrite, and when; itself and "" if none."""
    at = ""
    for _ in range(1000):
        row = connection.execute("SELECT new, at FROM rewritten WHERE old = ?", (sha,)).fetchone()
        if row is None:
            break
        sha, at = row["new"], row["at"]
    return sha, at


def rewritten_at(connection: sqlite3.Connection, sha: str) -> str:
    """Return when history was rewritten so that a commit got this id, "" if it never was."""
    row = connection.execute("SELECT max(at) AS at FROM rewritten WHERE new = ?", (sha,)).fetchone()
    return row["at"] or ""


def drop_kept(state: State, ref: str) -> None:
    """Let no run name this ref any more: its tip is gone."""
    with state.transaction() as connection:
        connection.execute("UPDATE runs SET kept_ref = NULL WHERE kept_ref = ?", (ref,))


def compact(state: State, path: Path) -> None:
    """Write the database anew and empty its log: deleted text stays in free pages otherwise.

    Raises BusyError when somebody keeps reading it; calling again goes on.
    """
    try:
        state.connection.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
        state.connection.execute("VACUUM")
        if not state.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            return
    except sqlite3.Error as error:
        raise translated(error, path) from error
    raise BusyError(
        f"Others keep the state database {path} open, so its log cannot be emptied.",
        hint="End the other Reflector processes of this home, then run the same command again.",
    )


def places(path: Path, holds: Holds) -> Iterator[str]:
    """Yield every table and column of any database file in which it stands."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            for (table,) in tables.fetchall():
                yield from _columns(database, path, table, holds)
    except sqlite3.DatabaseError:
        return  # damaged: its bytes are looked at anyway


def _columns(database: sqlite3.Connection, path: Path, table: str, holds: Holds) -> Iterator[str]:
    quoted = '"' + table.replace('"', '""') + '"'
    cursor = database.execute(f"SELECT * FROM {quoted}")  # noqa: S608 - a name from the schema, quoted
    names = [column[0] for column in cursor.description]
    hits: dict[str, int] = {}
    for row in cursor:
        for name, value in zip(names, row, strict=True):
            raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
            if isinstance(raw, bytes) and holds(raw):
                hits[name] = hits.get(name, 0) + 1
    yield from (f"{path}: {table}.{name} ({count} rows)" for name, count in hits.items())
