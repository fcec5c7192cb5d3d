"""An index of a few documents in memory, for one question; nothing of it reaches the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from reflector.memory.indexed import Indexed
from reflector.store.recall_memory import TABLES, put


@contextmanager
def scratch(documents: Iterable[tuple[Indexed, str]]) -> Iterator[sqlite3.Connection]:
    """Open an index of these documents, each with the time of its last change."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(TABLES)
        put(connection, documents)
        yield connection
