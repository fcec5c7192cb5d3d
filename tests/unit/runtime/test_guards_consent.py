"""What a person said no to is not in the journal, whichever way they said it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import PausedError
from reflector.runtime import pauses
from reflector.runtime.ingest import ingest
from reflector.runtime.pauses import Pause
from reflector.runtime.wiring import Context, context
from tests.support.guarded import born
from tests.support.harness_rows import assistant, lines, user
from tests.support.watching import QuietWatch

BEFORE, WITHIN, AFTER = (f"2026-03-04T10:00:{second}.500Z" for second in ("00", "20", "40"))
PAUSE = Pause("2026-03-04T10:00:10.000Z", "2026-03-04T10:00:30.000Z")

Rows = list[dict[str, Any]]


@pytest.fixture
def memory(tmp_path: Path) -> Context:
    return born(tmp_path)


def left_out(memory: Context, *rows: dict[str, Any]) -> dict[str, int]:
    """Read a conversation; return how much was left out, and why."""
    talk = memory.home.path.parent / "talk.jsonl"
    talk.write_bytes(lines(*rows))
    return dict(ingest(memory, talk, QuietWatch()).left_out)


def with_settings(memory: Context, text: str) -> Context:
    (memory.home.path / "config.toml").write_text(text, "utf-8")
    return context(str(memory.home.path))


def test_a_turn_off_the_record_is_left_out_and_the_next_is_not(memory):
    rows: Rows = [user("u1", "#norecord please"), assistant("a1", "Yes."), user("u2", "And now?")]
    assert left_out(memory, *rows) == {"norecord": 2}


def test_what_was_said_while_paused_is_left_out_later_too(memory):
    pauses._write(memory.home, (PAUSE,))
    rows = [user(f"u{n}", "said", timestamp=at) for n, at in enumerate((BEFORE, WITHIN, AFTER))]
    assert left_out(memory, *rows) == {"paused": 1}


def test_nothing_is_read_while_a_pause_holds(memory):
    pauses.pause(memory.home, memory.ambient, None)
    with pytest.raises(PausedError):
        left_out(memory, user("u1", "said"))


def test_an_excluded_folder_is_left_out_with_all_below_it(memory):
    told = with_settings(memory, '[journal]\nexclude = ["/srv/private"]\n')
    assert left_out(told, user("u1", "said", cwd="/srv/private/app")) == {"excluded": 1}


def test_a_project_with_a_mark_is_left_out(memory, tmp_path):
    (tmp_path / "project" / ".reflector").mkdir(parents=True)
    (tmp_path / "project" / ".reflector" / "off").touch()
    assert left_out(memory, user("u1", "said", cwd=str(tmp_path / "project"))) == {"off": 1}


def test_a_session_without_a_person_is_left_out_on_request(memory):
    told = with_settings(memory, "[journal]\nheadless = false\n")
    assert left_out(told, user("u1", "said", entrypoint="sdk-cli")) == {"headless": 1}


def test_without_a_no_everything_is_recorded(memory):
    assert left_out(memory, user("u1", "said", entrypoint="sdk-cli", timestamp=WITHIN)) == {}
