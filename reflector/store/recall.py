"""The files that are searched: derived, opened by whoever asks, written by one process at a time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.ambient import Clock
from reflector.core.errors import BusyError, ReflectorError, StateError
from reflector.core.tokens import VERSION
from reflector.store.disk import AgentHome
from reflector.store.locks import held

MEMORY = "recall.db"
JOURNAL = "search.db"

_SCHEMA = 2
_BESIDE = ("-journal", "-wal", "-shm", ".new", ".new-journal")
_BUSY_SECONDS = 5


Connection = sqlite3.Connection
"""What layers above hand on; they may not name the library itself."""

_DAMAGES = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_SCHEMA", "SQLITE_MISMATCH")


class UnusableError(Exception):
    """The file is damaged, or of something else than what is searched: it is to be made anew."""


@dataclass(frozen=True, slots=True)
class Index:
    """One of the files. `tables` makes it when it is empty."""

    agent: AgentHome
    name: str
    tables: str

    @property
    def path(self) -> Path:
        """Return where it lies."""
        return self.agent.path / self.name

    @contextmanager
    def alone(self, clock: Clock) -> Iterator[None]:
        """Be the only process that changes it, or forgets what is in it."""
        with held(self.agent.lock("recall"), clock, "reading what is searched"):
            yield

    def open(self) -> sqlite3.Connection | None:
        """Open it; None when there is none that can be used: it is to be made anew."""
        if not self.path.is_file() or self.path.is_symlink():
            return None
        connection = _connected(self.path)
        try:
            with understood(self.path):
                found = connection.execute("PRAGMA user_version").fetchone()[0]
        except UnusableError:
            found = 0
        except BaseException:
            connection.close()
            raise
        if found == _version():
            return connection
        connection.close()
        return None

    def make(self, fill: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
        """Make it anew beside the old one and put it in its place; the caller is alone.

        Whoever reads the old one goes on with that.
        """
        fresh = self.path.with_name(f"{self.name}.new")
        _remove(fresh)
        try:
            with understood(self.path), contextlib.closing(_connected(fresh)) as connection:
                # Nobody else sees it before it is whole, so nothing has to be undone.
                connection.execute("PRAGMA journal_mode=OFF")
                connection.execute("PRAGMA synchronous=OFF")
                connection.executescript(self.tables)
                connection.execute("BEGIN IMMEDIATE")
                fill(connection)
                connection.execute(f"PRAGMA user_version={_version()}")
                connection.execute("COMMIT")
            _flush(fresh)
            self._forget_journal()
            fresh.replace(self.path)
        finally:
            _remove(fresh)
        return _connected(self.path)

    def remove(self) -> None:
        """Remove it; the caller is alone."""
        _remove(self.path)

    def _forget_journal(self) -> None:
        # What a killed writer left to be undone belongs to the old file alone.
        self.path.with_name(f"{self.name}-journal").unlink(missing_ok=True)


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Change it in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Say in our words what SQLite reports; raise UnusableError where another file would do."""
    try:
        yield
    except sqlite3.Error as error:
        if (getattr(error, "sqlite_errorname", "") or "").startswith(_DAMAGES):
            raise UnusableError(str(error)) from error
        raise _said(error, path) from error


def unusable(path: Path, why: str) -> StateError:
    """Return the error for a file that cannot be used even when it was just made."""
    return StateError(
        f"The search index {path} could not be used: {why}.",
        hint="It is derived from memory and journal: see that its folder can be written and has "
        "room, delete that file, and search again.",
        path=str(path),
    )


def _said(error: sqlite3.Error, path: Path) -> ReflectorError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyError(
            f"The search index {path} is being written.", hint="Try again in a moment."
        )
    return unusable(path, str(error))


def drop(agent: AgentHome, clock: Clock, *names: str) -> None:
    """Remove what is searched; the next search makes it anew.

    Waits for whoever is making it: what that process has read may be what is to be gone.
    """
    if not any(
        (agent.path / f"{name}{more}").exists() for name in names for more in ("", *_BESIDE)
    ):
        return
    with held(agent.lock("recall"), clock, "reading what is searched"):
        for name in names:
            _remove(agent.path / name)


def _remove(path: Path) -> None:
    for more in _BESIDE:  # first what would be replayed into another file of this name
        path.with_name(f"{path.name}{more}").unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA secure_delete=ON")
    return connection


def _version() -> int:
    return _SCHEMA * 1000 + VERSION


def _flush(path: Path) -> None:
    path.chmod(0o600)
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
