"""`memory forget` by the real command, judged by a search that imports nothing of the product."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import searching
from tests.support.cli import ROOT, Cli, git

SECRET = "Falcon-7 über alles"


@pytest.fixture
def home(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path / "home")
    rows = [
        ("user", f"Remember that the {SECRET} database listens on port 5433."),
        ("assistant", "Noted."),
        ("user", "Always run the tests with make test."),
        ("assistant", "I will."),
    ]
    talk = tmp_path / "talk.jsonl"
    talk.write_text(
        "".join(
            json.dumps({"role": role, "content": text, "id": str(n), "session_id": "talk"}) + "\n"
            for n, (role, text) in enumerate(rows)
        ),
        "utf-8",
    )
    assert cli("init").code == 0
    assert cli("reflect", talk).code == 0
    assert searching.everywhere(cli.home, SECRET)
    return cli


def test_with_history_it_is_found_nowhere_and_the_memory_goes_on(home):
    done = home("memory", "forget", SECRET, "--history", "--yes")
    assert (done.code, done.err) == (0, "")
    assert "found nowhere\n" in done.out
    assert "talk.jsonl: the harness's own transcript" in done.out
    assert searching.everywhere(home.home, SECRET) == []
    assert git(home.repo, "fsck", "--strict", "--no-dangling") == ""
    assert git(home.repo, "status", "--porcelain") == ""
    assert "make test" in home("prompt").out
    assert home("ingest", home.home.parent / "talk.jsonl").code == 0
    assert searching.everywhere(home.home, SECRET) == []
    run = home("runs", "--json").json["runs"][0]["id"]
    undone = home("undo", run)
    assert "History was rewritten on" in undone.out
    assert "make test" not in home("prompt").out
    assert home("doctor").code == 0


def test_without_history_it_says_that_git_still_holds_it(home):
    done = home("memory", "forget", SECRET, "--yes", "--json")
    assert done.code == 0
    told = done.json
    assert told["found_nowhere"] is False
    assert told["still_in"] == []
    assert told["in_git_history"]
    assert told["documents"] == [{"path": "reference/facts.md", "lines": 1, "removed": True}] or (
        told["documents"][0]["path"] == "reference/facts.md"
    )
    left = searching.everywhere(home.home, SECRET)
    assert left
    assert all(place.split(" ")[0] in ("blob", "commit", "tree") for place in left)
    text = home("memory", "forget", SECRET, "--dry-run").out
    assert "--history rewrites it" in text


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_without_a_terminal_and_a_yes_nothing_is_done(home, words):
    before = searching.everywhere(home.home, SECRET)
    done = home("memory", "forget", SECRET, *words)
    assert done.code == 2
    assert "--yes" in done.out + done.err
    assert searching.everywhere(home.home, SECRET) == before


@pytest.mark.parametrize(("answer", "gone"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_it_asks(home, answer, gone):
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    command = [sys.executable, "-m", "reflector", "memory", "forget", SECRET, "--home", home.home]
    done = subprocess.run(
        command,
        stdin=theirs,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=True,
    )
    os.close(ours)
    os.close(theirs)
    assert b"[y/N]" in done.stderr
    assert (searching.in_tables(home.home, SECRET) == []) is gone


def test_a_dry_run_changes_no_byte(home):
    before = {file: file.read_bytes() for file in home.repo.rglob("*") if file.is_file()}
    done = home("memory", "forget", SECRET, "--dry-run", "--json")
    assert done.code == 0
    assert done.json["forgotten"] is False
    assert done.json["entries"] == 1
    assert {file: file.read_bytes() for file in home.repo.rglob("*") if file.is_file()} == before
    assert searching.in_tables(home.home, SECRET)


def test_while_a_run_is_active_it_is_busy(home):
    lock = home.repo.parent / "locks" / "run-reflection.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = home("memory", "forget", SECRET, "--yes")
    assert done.code == 4
    assert "A run is active" in done.err


def test_what_nothing_holds_is_found_nowhere(home):
    done = home("memory", "forget", "a word that nobody said", "--yes")
    assert done.code == 0
    assert "found nowhere" in done.out


def test_a_conversation_and_a_document_by_their_names(home):
    done = home("memory", "forget", "jsonl/talk", "--history", "--yes", "--json")
    assert done.code == 0
    assert done.json["kind"] == "conversation"
    assert searching.everywhere(home.home, SECRET) == []
    assert searching.everywhere(home.home, "make test") == []
    done = home("memory", "forget", "system/human.md", "--history", "--yes", "--json")
    assert done.json["kind"] == "document"
    assert git(home.repo, "log", "--all", "--format=%H", "--", "system/human.md") == ""


def test_an_expression_is_matched_and_a_dangerous_one_refused(home):
    assert home("memory", "forget", "--regex", "(F+)+x", "--yes").code == 2
    done = home("memory", "forget", "--regex", "Falcon-[0-9]", "--history", "--yes")
    assert "found nowhere\n" in done.out
    assert searching.everywhere(home.home, "Falcon-7") == []
