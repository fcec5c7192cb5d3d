"""Reading again what a run read, and ageing out what is old."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reflector.core.ambient import Ambient
from reflector.runtime.retention import age_out
from reflector.runtime.wiring import context
from tests.support.cli import git
from tests.support.clocks import FakeChance, FakeClock
from tests.support.transcripts import conversation, extend

pytestmark = pytest.mark.slow


def test_retry_reads_exactly_what_a_run_read_and_moves_no_cursor(cli, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")
    first = cli("reflect", talk, "--json").json["run"]
    extend(talk, "Never push to main directly.", "Understood.")
    assert cli("ingest", talk).code == 0
    assert cli("undo", first["id"]).code == 0
    again = cli("retry", first["id"], "--json")
    run = again.json["run"]
    assert (again.code, run["outcome"]) == (4, "awaiting_review")  # it was undone before
    assert cli("review", "approve", run["id"]).code == 0
    assert [(each["from"], each["to"]) for each in run["snapshots"]] == [
        (each["from"], each["to"]) for each in first["snapshots"]
    ]
    assert "tabs in Makefiles" in git(cli.repo, "show", "main:system/human.md")
    (waiting,) = cli("status", "--json").json["conversations"]
    assert waiting["steps_since_reflection"] == 1


def test_text_that_was_reflected_on_is_aged_out_and_what_waits_is_kept(cli, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")
    assert cli("reflect", talk).code == 0
    extend(talk, "Never push to main directly.", "Understood.")
    assert cli("ingest", talk).code == 0
    found = context(str(cli.home))
    late = FakeClock(datetime(2028, 1, 1, tzinfo=UTC))
    later = replace(found, ambient=Ambient(late, FakeChance()))
    assert age_out(later) == 2
    assert age_out(later) == 0
    with found.state() as state:
        texts = [row["text"] for row in state.connection.execute("SELECT text FROM entries")]
    assert texts == ["", "", "Never push to main directly.", "Understood."]
    assert age_out(found) == 0
