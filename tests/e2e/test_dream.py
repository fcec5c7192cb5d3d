"""A dream by a model: the real command, the real SDK, a scripted server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Cli, git
from tests.support.messages_server import Reply, Script, calls, serving
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow

END = calls(("finish", {"report": "Summary: tidied."}))
HEAD = "---\ndescription: how tests are run\n---\n"


@pytest.fixture
def cli(born, tmp_path: Path) -> Cli:
    made: Cli = born(ANTHROPIC_API_KEY="none")
    for name in ("one", "two"):
        file = tmp_path / f"{name}.md"
        file.write_text(f"Tests run with pytest, says {name}.\n", "utf-8")
        words = ("reference/" + name, "--description", f"tests, {name}", "--reason", "kept")
        assert made("memory", "create", *words, "--file", file).code == 0
    return made


def dream(cli: Cli, *replies: Reply, words: tuple[str, ...] = ()):
    script = Script(replies)
    with serving(script) as url:
        text = f'[engine]\nname = "anthropic"\nbase_url = "{url}"\n'
        (cli.home / "config.toml").write_text(text, "utf-8")
        done = cli("dream", *words, "--json")
    assert script.violations == []
    return done, script


def commit(kind: str, *items: str) -> Reply:
    updates = [{"text": item} for item in items]
    return calls(("commit", {"type": kind, "summary": "tidy", "updates": updates}))


MERGED = (
    calls(
        ("write", {"path": "reference/one.md", "content": HEAD + "Tests run with pytest.\n"}),
        ("delete", {"path": "reference/two.md"}),
    ),
    commit("chore", "reference/one.md: merged", "wrong: reference/two.md: said twice"),
    END,
)


def test_a_dream_merges_two_documents_without_any_conversation(cli):
    done, script = dream(cli, *MERGED)
    assert done.code == 0, done.out + done.err
    run = done.json["run"]
    assert (run["pipeline"], run["trigger"], run["outcome"]) == ("dream", "manual", "merged")
    assert {each["path"] for each in done.json["changes"]} == {
        "reference/one.md",
        "reference/two.md",
    }
    assert "# Dream" in script.requests[0]["system"][0]["text"]
    assert "reference/two.md" not in git(cli.repo, "ls-tree", "-r", "--name-only", "main")


def test_a_dream_reads_what_was_reflected_on_and_moves_no_cursor(cli, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "I prefer pytest.", "Noted.")
    assert cli("reflect", talk).code == 0
    before = cli("status", "--json").json["conversations"]
    done, _ = dream(cli, END)
    assert done.json["run"]["outcome"] == "no_changes"
    assert cli("status", "--json").json["conversations"] == before


def test_a_dream_of_one_document_changes_no_other(cli):
    only = calls(("write", {"path": "reference/one.md", "content": HEAD + "Use pytest.\n"}))
    done, script = dream(
        cli,
        only,
        commit("chore", "reference/one.md: shorter"),
        END,
        words=(
            "--doc",
            "reference/one.md",
        ),
    )
    assert done.json["run"]["outcome"] == "merged", done.out
    assert "Target document" in script.requests[0]["system"][0]["text"]
    other, _ = dream(cli, *MERGED, END, words=("--doc", "reference/one.md"))
    assert (other.code, other.json["run"]["reason"]) == (1, "validation")


def test_the_rules_engine_says_that_it_does_not_dream(cli):
    done = cli("dream", "--json")
    assert done.code == 3
    assert "does not dream" in done.json["error"]["message"]


def test_a_target_that_is_no_document_is_refused(cli):
    for target in ("../x.md", "notes.txt", ""):
        assert cli("dream", "--doc", target).code == 2
