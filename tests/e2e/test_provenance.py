"""`memory log`, `why` and `restore` by the real command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Cli, git
from tests.support.transcripts import conversation

HUMAN = "system/human.md"


@pytest.fixture
def home(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path / "home")
    talk = conversation(
        tmp_path / "talk.jsonl", "Always run the tests with make test.", "\x1b[31mI will.\x07"
    )
    assert cli("init").code == 0
    assert cli("reflect", talk).code == 0
    return cli


def _place(home: Cli) -> str:
    lines = git(home.repo, "show", f"main:{HUMAN}").split("\n")
    return f"{HUMAN}:{next(n for n, line in enumerate(lines, 1) if 'make test' in line)}"


def test_why_says_who_learned_a_line_from_which_words(home):
    run = home("runs", "--json").json["runs"][0]
    done = home("memory", "why", _place(home))
    assert done.code == 0
    assert f"learned in run {run['id']} by rules, manual" in done.out
    assert "it rests on:" in done.out
    assert "user: Always run the tests with make test." in done.out
    told = home("memory", "why", _place(home), "--json").json
    assert told["run"] == run
    assert told["run_id"] == run["id"]
    assert told["merge_commit"] == run["merge_commit"]
    assert told["commit"] == run["tip"]
    cited = [each for each in told["entries"] if each["cited"]]
    assert [(each["conversation"], each["harness"], each["kind"]) for each in cited] == [
        ("jsonl/talk", "jsonl", "user")
    ]


def test_nothing_that_was_said_drives_the_terminal(home):
    (home.repo / "reference").mkdir(exist_ok=True)
    (home.repo / "reference/x.md").write_text("---\ndescription: x\n---\n- \x1b]0;x\x07\n", "utf-8")
    git(home.repo, "add", "-A")
    git(home.repo, "commit", "-qm", "\x1b[31mred")
    for words in (["why", "reference/x:4"], ["why", f"{HUMAN}:1"], ["log", "reference/x"]):
        out = home("memory", *words).out
        assert "\x1b" not in out
        assert "\x07" not in out
    assert "\\x1b[31mred" in home("memory", "log", "reference/x").out


def test_log_names_run_and_seed(home):
    told = home("memory", "log", "system/human", "--json").json
    assert told["path"] == HUMAN
    assert [each["writer"] for each in told["commits"]] == ["run", "reflector"]
    assert set(told["commits"][0]) == {
        *("commit", "path", "at", "writer", "run", "author", "subject")
    }


def test_restore_brings_a_document_back_by_one_commit(home):
    run = home("runs", "--json").json["runs"][0]["id"]
    learned = (home.repo / HUMAN).read_text("utf-8")
    assert home("undo", run).code == 0
    before = int(git(home.repo, "rev-list", "--count", "main"))
    done = home("memory", "restore", f"system/human@{run}", "--json")
    assert done.code == 0
    assert done.json["paths"] == [HUMAN]
    assert (home.repo / HUMAN).read_text("utf-8") == learned
    assert int(git(home.repo, "rev-list", "--count", "main")) == before + 1
    assert git(home.repo, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["why", HUMAN], 2),
        (["why", f"{HUMAN}:0"], 2),
        (["why", f"{HUMAN}:x"], 2),
        (["why", f"{HUMAN}:9999"], 1),
        (["why", "system/never:1"], 1),
        (["log", "system/never"], 1),
        (["restore", HUMAN], 2),
        (["restore", f"{HUMAN}@deadbeef"], 1),
        (["restore", f"{HUMAN}@1999-01-01"], 1),
    ],
)
def test_what_names_nothing_is_told_with_a_next_step(home, words, code):
    done = home("memory", *words, "--json")
    assert done.code == code, done
    assert done.json["error"]["hint"]
