"""An import killed between two batches, and started again: the same journal as in one go."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path

import pytest

from reflector.runtime.backfill import Wish, backfill
from reflector.runtime.loop import Quiet
from tests.support.journals import ended, python
from tests.support.scenes import Scene
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.crash, pytest.mark.slow]

_DIES = """
import os, signal, sys
from pathlib import Path
from reflector.runtime.backfill import Wish, backfill
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import context
from reflector.store import imports
left, pass_by = int(sys.argv[3]), imports.pass_by
def counted(*given):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    pass_by(*given)
imports.pass_by = counted
backfill(context(sys.argv[1]), [Path(sys.argv[2])], Wish(), Quiet())
"""


def history(folder: Path) -> Path:
    folder.mkdir()
    for number in range(3):
        texts = [f"Rule {number}: use tabs."] * 1500
        conversation(folder / f"talk-{number}.jsonl", *texts, session=f"talk-{number}")
    return folder


def journal(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read entries, cursors, notes and positions with SQLite itself, without times."""
    (file,) = home.glob("agents/*/state.db")
    with sqlite3.connect(file) as database:
        return {
            "entries": database.execute(
                "SELECT c.key, sequence, e.id, text, step FROM entries e "
                "JOIN conversations c ON c.id = conversation ORDER BY 1, 2"
            ).fetchall(),
            "conversations": database.execute(
                "SELECT key, cursor, last_sequence, total_steps, reflected_steps, "
                "unreflected_bytes FROM conversations ORDER BY 1"
            ).fetchall(),
            "sources": database.execute(
                "SELECT path, resume_at, read_to, bad_lines FROM sources ORDER BY 1"
            ).fetchall(),
            "marks": [
                (name, [{**each, "at": ""} for each in json.loads(value)])
                for name, value in database.execute(
                    "SELECT name, value FROM marks WHERE name LIKE 'passed_by/%' ORDER BY 1"
                )
            ],
        }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a history, and the journal of one undisturbed import."""
    folder = tmp_path_factory.mktemp("whole")
    past = history(folder / "past")
    scene = Scene(folder)
    backfill(scene.context(), [past], Wish(), Quiet())
    return past, journal(scene.home)


@pytest.mark.parametrize("batches", [1, 3])
def test_an_import_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path, whole, batches):
    past, expected = whole
    scene = Scene(tmp_path)
    killed = python(_DIES, scene.home, past, batches)
    assert ended(killed) == -signal.SIGKILL
    backfill(scene.context(), [past], Wish(), Quiet())
    assert journal(scene.home) == expected
    assert len(expected["entries"]) == 4500
