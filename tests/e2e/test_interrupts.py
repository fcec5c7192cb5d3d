"""A person's Ctrl-C and its friends, at every place where a command spends time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.auditor import audit, rows
from tests.support.cli import Cli, git
from tests.support.paused import Paused
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MANY = 20_000


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=50)
    return process.returncode, out.decode(), err.decode()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline


def entries(cli: Cli) -> int:
    try:
        return int(rows(cli.repo.parent / "state.db", "SELECT count(*) n FROM entries")[0]["n"])
    except sqlite3.OperationalError:  # the writer opens it at this very moment
        return 0


def database(cli: Cli) -> Path:
    return cli.repo.parent / "state.db"


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupted_ingest_keeps_what_it_read_and_goes_on_from_there(cli, tmp_path, number):
    texts = [f"Row {each} of a long talk." for each in range(MANY)]
    talk = conversation(tmp_path / "long.jsonl", *texts)
    process = cli.start("ingest", talk)
    until(lambda: entries(cli) > 0)
    process.send_signal(number)
    code, _, err = ended(process)
    assert (code, err) == (130, "")
    assert 0 < entries(cli) < MANY
    audit(cli.home)
    again = cli("ingest", talk, "--json")
    assert again.code == 0
    assert entries(cli) == MANY
    audit(cli.home, transcripts=[talk])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_that_waits_for_another_run_can_be_stopped(cli, tmp_path, talk, number):
    first = Paused(cli.home)
    working = first.start("reflect", talk)
    first.child()
    other = conversation(tmp_path / "other.jsonl", "Never use spaces.", "No.", session="other")
    waiting = cli.start("reflect", other)
    assert waiting.stderr is not None
    assert b"waiting for its end" in waiting.stderr.readline()
    waiting.send_signal(number)
    code, out, err = ended(waiting)
    assert (code, err) == (130, "")
    assert "Stopped" in out
    first.go_on()
    assert ended(working)[0] == 0
    audit(cli.home, transcripts=[talk, other])
    assert cli("reflect", other, "--json").json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk, other])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_run_that_is_interrupted_leaves_nothing_and_can_be_repeated(cli, talk, number):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    child = paused.child()
    process.send_signal(number)
    code, out, err = ended(process)
    assert code == 130, err
    assert '"outcome":"cancelled","reason":"interrupted"' in out
    assert not Path(f"/proc/{child}").exists()
    audit(cli.home, transcripts=[talk])
    assert git(cli.repo, "rev-list", "--count", "main") == "1\n"
    again = cli("reflect", talk, "--json")
    assert (again.code, again.json["run"]["outcome"]) == (0, "merged")
    audit(cli.home, transcripts=[talk])


def test_a_child_that_is_killed_alone_is_a_failed_run(cli, talk):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    os.kill(paused.child(), signal.SIGKILL)
    code, out, err = ended(process)
    assert code == 1, err
    assert '"outcome":"failed","reason":"child_exit"' in out
    audit(cli.home, transcripts=[talk])
    assert cli("reflect", talk, "--json").json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk])


def test_a_command_that_is_killed_leaves_a_child_that_the_next_command_ends(cli, talk):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk)
    child = paused.child()
    process.kill()
    ended(process)
    again = cli("reflect", talk, "--json")
    assert again.code == 0, again.err
    assert again.json["run"]["outcome"] == "merged"
    until(lambda: not _lives(child))
    audit(cli.home, transcripts=[talk])
    outcomes = rows(database(cli), "SELECT outcome, reason FROM runs ORDER BY reserved_at, rowid")
    assert [tuple(row) for row in outcomes] == [("failed", "supervisor_died"), ("merged", None)]


def test_a_command_under_nohup_outlives_the_terminal(cli, talk):
    paused = Paused(cli.home)
    process = paused.start(
        "reflect",
        talk,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    paused.child()
    process.send_signal(signal.SIGHUP)
    paused.go_on()
    code, out, err = ended(process)
    assert (code, err) == (0, "")
    assert "merged" in out
    audit(cli.home, transcripts=[talk])


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
