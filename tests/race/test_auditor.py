"""The judge of the other tests is not blind: each planted fault is named."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.auditor import audit
from tests.support.cli import Cli, git
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

CANARY = b"canary-4711"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two merged runs, one of them undone, and a commit of a person."""
    folder = tmp_path_factory.mktemp("sound")
    cli = Cli(folder / "home", REFLECTOR_SNAPSHOT_MAX_BYTES="300", HOME="/nonexistent")
    assert cli("init").code == 0
    turns = ("Always use tabs in Makefiles.", "Noted.", "Never push to main directly.", "Noted.")
    talk = conversation(folder / "talk.jsonl", *turns)
    runs = cli("reflect", talk, "--json").json["runs"]
    assert [each["outcome"] for each in runs] == ["merged", "merged"]
    assert cli("undo", runs[1]["id"]).code == 0
    (cli.repo / "reference" / "mine.md").write_text("---\ndescription: mine\n---\nMine\n", "utf-8")
    git(cli.repo, "add", "-A")
    git(cli.repo, "commit", "-q", "-m", "by hand")
    audit(cli.home, transcripts=[talk], secrets=[CANARY])
    return folder


def sql(repo: Path, *statements: str) -> None:
    connection = sqlite3.connect(repo.parent / "state.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def commits_as_reflector(repo: Path) -> None:
    tree, head = git(repo, "rev-parse", "main^{tree}", "main").split()
    made = subprocess.run(
        ["git", "-C", str(repo), "commit-tree", "-p", head, "-m", "silent", tree],
        env={
            "PATH": "/usr/bin:/bin",
            **{
                f"GIT_{who}_{what}": "reflector@localhost" if what == "EMAIL" else "Reflector"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        },
        capture_output=True,
        check=True,
    )
    git(repo, "update-ref", "refs/heads/main", made.stdout.decode().strip())


def keeps_a_process(repo: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"],
        env={"REFLECTOR_RUN": "r1", "MEMORY_DIR": str(repo)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def damages_an_object(repo: Path) -> None:
    blob = git(repo, "rev-parse", "main:system/human.md").strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


FAULTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a cursor that went too far": (
        "cursor",
        lambda repo: sql(repo, "UPDATE conversations SET cursor = cursor + 1"),
    ),
    "a counter that is off": (
        "total_steps",
        lambda repo: sql(repo, "UPDATE conversations SET total_steps = 7"),
    ),
    "a row read twice": (
        "again",
        lambda repo: sql(repo, "UPDATE run_snapshots SET first_sequence = 1"),
    ),
    "a row passed over": (
        "passed over",
        lambda repo: sql(repo, "UPDATE run_snapshots SET first_sequence = first_sequence + 1"),
    ),
    "a row lost": (
        "in the journal",
        lambda repo: sql(repo, "DELETE FROM entries WHERE sequence = 2"),
    ),
    "a row changed": (
        "last_sequence",
        lambda repo: sql(repo, "UPDATE entries SET sequence = 9 WHERE sequence = 4"),
    ),
    "two active runs": (
        "active runs",
        lambda repo: sql(
            repo,
            "DROP INDEX one_active_run_per_slot",
            "UPDATE runs SET state = 'active', outcome = NULL",
        ),
    ),
    "a run without an end": (
        "still active",
        lambda repo: sql(
            repo,
            "UPDATE runs SET state = 'active', outcome = NULL"
            " WHERE id = (SELECT max(id) FROM runs)",
        ),
    ),
    "a merge of another tip": (
        "the ledger's tip",
        lambda repo: sql(repo, "UPDATE runs SET tip = base"),
    ),
    "a merge that the ledger does not know": (
        "which is settled failed",
        lambda repo: sql(repo, "UPDATE runs SET outcome = 'failed'"),
    ),
    "a merge that is gone": (
        "main has no merge",
        lambda repo: git(repo, "reset", "-q", "--hard", "main~3"),
    ),
    "a silent commit of ours": ("neither merge, revert nor root", commits_as_reflector),
    "a branch": ("branch", lambda repo: git(repo, "branch", "memory/reflection-1-x")),
    "a worktree": (
        "worktrees are registered",
        lambda repo: git(repo, "worktree", "add", "-q", "--detach", str(repo.parent / "w")),
    ),
    "a lock": ("index.lock", lambda repo: (repo / ".git" / "index.lock").touch()),
    "a temporary file": ("x.tmp", lambda repo: (repo.parent / "x.tmp").touch()),
    "a kept ref": (
        "kept for no run",
        lambda repo: git(repo, "update-ref", "refs/reflector/kept/x", "main"),
    ),
    "a kept ref that is missing": (
        "should hold",
        lambda repo: sql(repo, "UPDATE runs SET kept_ref = 'refs/reflector/kept/x'"),
    ),
    "a damaged object": (
        "git fsck",
        damages_an_object,
    ),
    "a secret in a file": (
        "a secret is in",
        lambda repo: (repo.parent / "logs" / "x").write_bytes(b"a" + CANARY),
    ),
    "a secret in an object that nothing names": (
        "a secret is in blob",
        lambda repo: subprocess.run(
            ["git", "-C", str(repo), "hash-object", "-w", "--stdin"],
            input=CANARY,
            capture_output=True,
            check=True,
        ),
    ),
    "a secret in a name": (
        "a secret is in the name",
        lambda repo: (repo.parent / "runs" / CANARY.decode()).touch(),
    ),
    "a process": ("lives", keeps_a_process),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(sound, tmp_path, fault):
    shutil.copytree(sound, tmp_path / "copy")
    home = tmp_path / "copy" / "home"
    (agent,) = (home / "agents").iterdir()
    named, plant = FAULTS[fault]
    planted = plant(agent / "repo")
    try:
        with pytest.raises(AssertionError, match=named):
            audit(home, transcripts=[tmp_path / "copy" / "talk.jsonl"], secrets=[CANARY])
    finally:
        if isinstance(planted, subprocess.Popen):
            planted.communicate()
