"""A supervisor killed at every saved move and on both sides of every effect, then called again."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from reflector.core.run import NEXT, Phase
from tests.support.cli import ROOT, Cli, git
from tests.support.kill_at import EFFECTS
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.crash, pytest.mark.slow]

# From the transition table: a new phase is covered the day it is added.
MOVES = [then.value for after in NEXT.values() for then in after if then is not Phase.COMPLETED]
POINTS = [
    f"{when}:{name}" for name in (*MOVES, "settled", *EFFECTS) for when in ("before", "after")
]
KILL = Path(__file__).resolve().parents[1] / "support" / "kill_at.py"


@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_the_same_command_ends_with_each_lesson_merged_once(tmp_path, point):
    cli = Cli(tmp_path / "home")
    assert cli("init").code == 0
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")
    killed = subprocess.run(
        [sys.executable, str(KILL), point, "--", "reflect", str(talk), "--home", str(cli.home)],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()

    again = cli("reflect", talk)
    assert again.code == 0, again.out + again.err

    repo = cli.repo
    text = git(repo, "show", "main:system/human.md")
    assert text.count("Always use tabs in Makefiles") == 1
    merges = git(repo, "rev-list", "--merges", "main").split()
    assert len(merges) == 1
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    assert not (repo / ".git" / "index.lock").exists()
    assert not list((repo / ".git").glob("reflector-*"))
    assert git(repo, "worktree", "list").count("\n") == 1
    assert git(repo, "branch", "--list", "memory/*") == ""
    git(repo, "fsck", "--strict")
    assert ledger(repo.parent) == (0, 1, 2)


def ledger(agent: Path) -> tuple[int, int, int]:
    """Active runs, merged runs, the cursor."""
    with sqlite3.connect(agent / "state.db") as database:
        active = database.execute("SELECT count(*) FROM runs WHERE state <> 'settled'").fetchone()
        merged = database.execute("SELECT count(*) FROM runs WHERE outcome = 'merged'").fetchone()
        cursor = database.execute("SELECT cursor FROM conversations").fetchone()
    database.close()
    return active[0], merged[0], cursor[0]
