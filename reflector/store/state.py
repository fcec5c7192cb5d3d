"""The SQLite file of one identity: opened, migrated, changed in transactions."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from reflector.core.ambient import Clock
from reflector.core.cleaning import clean
from reflector.core.errors import BusyError, ReflectorError, StateError
from reflector.store.locks import Lock
from reflector.store.schema import MIGRATIONS, VERSION

Connection = sqlite3.Connection
"""What layers above hand on inside a transaction; they may not name the library itself."""

_ROOM = 128 * 1024
Durability = Literal["FULL", "NORMAL"]


class State:
    """An open state database. Every write happens inside `transaction()`."""

    def __init__(
        self, connection: sqlite3.Connection, presence: Lock, path: Path | None = None
    ) -> None:
        """Keep an open connection and the shared lock that says so."""
        self.connection = connection
        self._path = path
        self._presence = presence

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run one write transaction; it holds the write lock from its first statement.

        A deferred transaction that reads and then writes fails at once with "locked".
        """
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                # On a full disk SQLite has already rolled back by itself.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise translated(error, self._path) from error

    def close(self) -> None:
        """Close the database; its shared lock ends with it."""
        self.connection.close()
        self._presence.release()


@contextmanager
def opened(
    path: Path, clock: Clock, *, durability: Durability = "FULL", busy_seconds: float = 5
) -> Iterator[State]:
    """Open the database at `path`, creating or migrating it when needed.

    Commit flushes to the disk with FULL; with NORMAL (ingest, which can be read again) a power
    cut may lose the last transactions but never tears one.
    """
    presence = Lock(path.parent / "locks" / "state.lock")
    _enter(presence, clock, path)
    try:
        if emptied(path):
            raise _damaged(path, "it is empty, though runs were made with it")
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
        try:
            if _version(connection, path) < VERSION:
                presence.release()
                _migrate(path, connection, clock)
                _enter(presence, clock, path)
            _configure(connection, durability)
            mine = _inode(path)
            yield State(connection, presence, path)
            if _inode(path) != mine:
                raise StateError(
                    f"The state database {path} was moved or deleted while it was in use; what was "
                    "written meanwhile is lost.",
                    hint="Put it back, or run `reflector init` again; then the same command.",
                )
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise translated(error, path) from error
    finally:
        presence.release()


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _enter(presence: Lock, clock: Clock, path: Path) -> None:
    deadline = clock.monotonic() + 30
    while not presence.take(shared=True):
        if clock.monotonic() > deadline:
            raise BusyError(
                f"The state database {path} is being migrated or repaired.",
                hint="Try again in a moment.",
            )
        clock.sleep(0.05)


def _configure(connection: sqlite3.Connection, durability: Durability) -> None:
    connection.row_factory = sqlite3.Row
    for pragma in (f"synchronous={durability}", "secure_delete=ON", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version < 0:
        raise _damaged(path, f"its schema is {version}")
    if version > VERSION:
        raise StateError(
            f"{path} was written by a newer Reflector (schema {version}, this one knows {VERSION}).",
            hint="Update Reflector; nothing was changed.",
            path=str(path),
        )
    return version


def _migrate(path: Path, connection: sqlite3.Connection, clock: Clock) -> None:
    alone = Lock(path.parent / "locks" / "state.lock")
    deadline = clock.monotonic() + 30
    while not alone.take():
        # Whoever migrated meanwhile may keep the database open for minutes; nothing is left to do.
        if _version(connection, path) == VERSION:
            return
        if clock.monotonic() > deadline:
            raise BusyError(
                f"The state database {path} must be migrated, and others keep it open.",
                hint="End the other Reflector processes of this home, then try again.",
            )
        clock.sleep(0.05)
    try:
        _step_up(path, connection)
    finally:
        alone.release()


def _step_up(path: Path, connection: sqlite3.Connection) -> None:
    # Kept in the file. Only here: it changes even a database that is then refused as too new,
    # and fails at once, whatever the timeout, when another process does the same.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Look again: another process may have migrated while this one waited for the lock.
    for step in range(_version(connection, path), VERSION):
        for statement in MIGRATIONS[step].split(";\n"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")


def emptied(path: Path) -> bool:
    """Tell whether the database was lost: empty by accident is not the same as new."""
    try:
        if path.stat().st_size:
            return False
    except OSError as error:
        if error.errno != errno.ENOENT:
            return False  # opening it says why
    with contextlib.suppress(OSError):
        return any((path.parent / "runs").iterdir())
    return False


def storable(text: str) -> str:
    """Return a text without secrets, and without the surrogates that no database can keep."""
    return clean(text.encode("utf-8", "replace").decode())


def translated(error: sqlite3.Error, path: Path | None = None) -> ReflectorError:
    """Say in our words what SQLite reported."""
    name = getattr(error, "sqlite_errorname", "") or ""
    where = f" {path}" if path else ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyError(
            f"The state database{where} is busy.", hint="Another command is writing; try again."
        )
    if name.startswith("SQLITE_FULL") or (name.startswith("SQLITE_IOERR") and _no_room(path)):
        return StateError(
            f"The disk is full: the state database{where} could not be written.",
            hint="Free some space and run the same command again; nothing was lost.",
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return _damaged(path, str(error))
    return StateError(
        f"The state database{where} could not be used: {error}.",
        hint="Check that it and its folder belong to you and can be written; memory itself is "
        "safe in git.",
    )


def _no_room(path: Path | None) -> bool:
    """Tell whether the disk is full: what shared memory does not find room for is an I/O error."""
    if path is None:
        return False
    with contextlib.suppress(OSError):
        return shutil.disk_usage(path.parent).free < _ROOM
    return False


def _damaged(path: Path | None, why: str) -> StateError:
    where = f" {path}" if path else ""
    return StateError(
        f"The state database{where} is damaged ({why}).",
        hint="Memory itself is safe in git. `reflector doctor --fix` moves the database aside, "
        "reads the transcripts again and sets the cursors from git.",
    )
