"""Real journals for tests, a recount of them from their rows, and other processes that use them."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reflector.core.ambient import SystemClock
from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.core.run import Request
from reflector.store import journal
from reflector.store.journal import Appender, Conversation
from reflector.store.locks import Owner
from reflector.store.state import State, opened

ROOT = Path(__file__).resolve().parents[2]
NOW = "2026-11-30T12:00:00.000Z"
MAIN = ConversationKey("claude-code", "main")
ME = Owner("host", "boot", 1, "a" * 32)
OTHER = Owner("host", "boot", 2, "b" * 32)
REQUEST = Request("reflection", "manual", "cli", 30, "rules")


@contextmanager
def journal_in(folder: Path) -> Iterator[State]:
    """Open the state database of a folder."""
    (folder / "locks").mkdir(parents=True, exist_ok=True)
    with opened(folder / "state.db", SystemClock()) as state:
        yield state


def user(name: str, text: str = "please") -> Entry:
    return Entry(f"claude-code:{name}:0", name, Kind.USER, text)


def assistant(name: str, text: str = "done", block: int = 0) -> Entry:
    return Entry(f"claude-code:{name}:{block}", name, Kind.ASSISTANT, text)


def tool(name: str, block: int = 1, result: str | None = "ok") -> Entry:
    return Entry(
        f"claude-code:{name}:{block}",
        name,
        Kind.TOOL_CALL,
        tool="Bash",
        arguments="{}",
        result=result,
    )


def reasoning(name: str, block: int = 0) -> Entry:
    return Entry(f"claude-code:{name}:{block}", name, Kind.REASONING, "[reasoning]")


def talk(turns: int, prefix: str = "m") -> list[Entry]:
    """Each turn: a person's row, an answer in three blocks, the second one a tool call."""
    return [
        entry
        for turn in range(turns)
        for entry in (
            user(f"{prefix}{turn}u"),
            assistant(f"{prefix}{turn}a"),
            tool(f"{prefix}{turn}a"),
            assistant(f"{prefix}{turn}a", "more", block=2),
        )
    ]


def append(state: State, entries: Iterable[Entry], key: ConversationKey = MAIN) -> int:
    """Append in one transaction; return how many were new."""
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        return sum(appender.append(appender.conversation(key, None), each) for each in entries)


def hide(state: State, message: str = "", key: ConversationKey = MAIN) -> None:
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        appender.hide_newest_assistant(appender.conversation(key, None), message)


def about(state: State, key: ConversationKey = MAIN) -> Conversation:
    found = journal.conversation(state.connection, str(key))
    assert found is not None
    return found


def counters(state: State, key: ConversationKey = MAIN) -> tuple[int, int, int]:
    known = about(state, key)
    return known.total_steps, known.reflected_steps, known.unreflected_bytes


def rows(connection: sqlite3.Connection, key: ConversationKey = MAIN) -> list[sqlite3.Row]:
    return connection.execute(
        "SELECT e.*, c.cursor FROM entries AS e JOIN conversations AS c ON c.id = e.conversation "
        "WHERE c.key = ? ORDER BY sequence",
        (str(key),),
    ).fetchall()


def ids(state: State, key: ConversationKey = MAIN) -> list[str]:
    return [row["id"] for row in rows(state.connection, key)]


def recount(state: State, key: ConversationKey = MAIN) -> tuple[int, int, int]:
    """Count steps, steps behind the cursor and bytes before it from the visible rows alone."""
    seen = [row for row in rows(state.connection, key) if not row["hidden"]]
    spoken = [row for row in seen if row["kind"] == "assistant" and row["text"].strip()]
    firsts: dict[str, int] = {}
    for row in spoken:
        firsts.setdefault(row["message_id"], row["sequence"])
    cursor = about(state, key).cursor
    return (
        len(firsts),
        sum(first <= cursor for first in firsts.values()),
        sum(row["size"] for row in seen if row["sequence"] > cursor),
    )


def python(code: str, *words: object, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """Start another Python process that can import the product and this module."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def say(process: subprocess.Popen[str], word: str) -> None:
    """Tell a process to go on."""
    assert process.stdin is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    """Wait for the next line of a process."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    return line.strip()


def ended(process: subprocess.Popen[str], *, kill: bool = False) -> int:
    """Wait for the end of a process, or bring it about the hard way."""
    if kill:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    return process.returncode


@contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small file system of its own; skips where a process may not."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
