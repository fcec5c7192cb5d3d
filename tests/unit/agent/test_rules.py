from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from reflector.agent.engine import Finish, PayloadConversation, PayloadEntry, Task, Update
from reflector.agent.rules import RulesEngine
from reflector.core.errors import DocumentError
from reflector.memory import commit_message, document

HUMAN = "system/human.md"
SEED = "---\ndescription: Who.\n---\n# Human\n\n## Preferences\n\n## Corrections\n"


class Recorder:
    """A commit tool that keeps what it was asked for."""

    def __init__(self, error: DocumentError | None = None) -> None:
        self.error = error
        self.calls: list[tuple[str, str, list[Update]]] = []

    def __call__(
        self, kind: Literal["fix", "feat", "chore"], summary: str, updates: Sequence[Update]
    ) -> str:
        if self.error:
            raise self.error
        self.calls.append((kind, summary, list(updates)))
        return "0" * 40


def entry(text: str, number: int = 0, kind: str = "user") -> PayloadEntry:
    return PayloadEntry(f"claude-code:e{number}:0", kind, text, at="2026-11-30T10:00:00.000Z")


def task(root: Path, *texts: str, conversation: str = "claude-code/s1", **more: object) -> Task:
    entries = [entry(text, number) for number, text in enumerate(texts)]
    cwd = "/home/person/shop"
    return Task(
        run_id="r1",
        pipeline=str(more.get("pipeline", "reflection")),
        agent_id="",
        worktree=root,
        today="2026-12-01",
        focus="",
        conversations=[PayloadConversation(conversation, "", cwd, 0, entries)],
        unwanted=("- Never use sudo (2026-01-01)",),
    )


def run(asked: Task, commit: Recorder | None = None) -> tuple[Finish, Recorder]:
    commit = commit or Recorder()
    return RulesEngine().run(asked, commit, lambda _: None), commit


def seeded(root: Path, text: str = SEED) -> Path:
    (root / "system").mkdir()
    (root / HUMAN).write_text(text, encoding="utf-8")
    return root


def test_a_preference_is_written_and_committed_with_its_entry(tmp_path: Path):
    seeded(tmp_path)
    finish, commit = run(task(tmp_path, "hello", "From today on, always use uv."))
    assert finish.kind == "committed"
    assert (tmp_path / HUMAN).read_text(encoding="utf-8") == (
        "---\ndescription: Who.\n---\n# Human\n\n## Preferences\n\n"
        "- From 2026-11-30 on, always use uv (2026-11-30)\n\n## Corrections\n"
    )
    ((kind, summary, (update,)),) = commit.calls
    assert (kind, summary) == ("feat", "remember 1 preference")
    assert update.text.startswith(f"{HUMAN}: From 2026-11-30 on, always use uv")
    assert update.evidence == ("claude-code:e1:0",)


def test_the_message_names_path_and_evidence_as_the_validator_reads_them(tmp_path: Path):
    finish, commit = run(task(tmp_path, "wrong: forget it? No, we use tabs, not spaces"))
    assert finish.kind == "committed"
    ((kind, summary, updates),) = commit.calls
    message = commit_message.render(kind, "reflection", summary, updates, "")
    (item,) = commit_message.parse(message).updates
    assert (item.path, item.evidence) == (HUMAN, ("claude-code:e0:0",))
    assert item.reason == ""


def test_missing_documents_are_made_with_descriptions(tmp_path: Path):
    run(task(tmp_path, "remember that staging runs on port 5433", "We decided to keep SQLite"))
    for path in ("reference/facts.md", "reference/decisions.md"):
        made = document.parse(path, (tmp_path / path).read_bytes())
        assert made.description
        assert "## shop\n" in made.body


def test_a_correction_of_an_earlier_line_is_a_fix(tmp_path: Path):
    seeded(tmp_path, SEED.replace("## Corrections", "- We use npm (2026-01-01)\n\n## Corrections"))
    finish, commit = run(task(tmp_path, "no, use pnpm not npm"))
    ((kind, _, (update,)),) = commit.calls
    assert (finish.kind, kind) == ("committed", "fix")
    assert "instead of: We use npm" in update.text
    assert "- We use npm" not in (tmp_path / HUMAN).read_text(encoding="utf-8")


def test_a_second_run_over_the_same_payload_finds_nothing_new(tmp_path: Path):
    asked = task(seeded(tmp_path), "always use uv", "remember that staging runs on port 5433")
    run(asked)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    finish, commit = run(asked)
    assert (finish.kind, commit.calls) == ("nothing_to_record", [])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before
    assert "already in memory: 2" in finish.report


def test_nothing_to_record_says_how_much_was_read_and_skipped(tmp_path: Path):
    finish, commit = run(task(tmp_path, "should we always use uv?", "fix it", "thanks"))
    assert (finish.kind, commit.calls) == ("nothing_to_record", [])
    assert "Read 3 user messages in 1 conversation" in finish.report
    assert "- question: 1 (claude-code:e0:0)" in finish.report
    assert "should we always" not in finish.report
    assert list(tmp_path.iterdir()) == []


def test_what_a_person_undid_is_written_again_when_it_was_said_so(tmp_path: Path):
    """Whether it stays is for the person: such a run waits for review."""
    finish, commit = run(task(seeded(tmp_path), "never use sudo"))
    assert finish.kind == "committed"
    assert len(commit.calls) == 1


def test_the_report_has_its_six_headings_and_says_what_the_engine_is(tmp_path: Path):
    finish, _ = run(task(seeded(tmp_path), "always use uv"))
    headings = [line for line in finish.report.split("\n") if line.startswith("## ")]
    assert headings == [
        "## Summary",
        "## Memory changes",
        "## Skill changes",
        "## Skipped",
        "## Commit",
        "## Issues",
    ]
    assert "only catches explicit statements" in finish.report


def test_only_what_a_person_typed_is_read(tmp_path: Path):
    asked = task(tmp_path, "always use uv", conversation="claude-code/s1/agent-7")
    finish, _ = run(asked)
    assert finish.kind == "nothing_to_record"
    assert "- written by an agent: 1" in finish.report
    entries = [entry("always use uv", kind="assistant"), entry("never use npm", 1, "tool_call")]
    talk = PayloadConversation("claude-code/s1", "", "", 0, entries)
    said = Task("r", "reflection", "", tmp_path, "2026-12-01", "", [talk])
    assert run(said)[0].kind == "nothing_to_record"


def test_a_secret_in_a_statement_is_not_written(tmp_path: Path):
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"[:36].ljust(36, "4")
    finish, _ = run(task(tmp_path, f"remember that the token is {token}"))
    assert finish.kind == "nothing_to_record"
    assert "looks like a secret: 1" in finish.report
    assert token not in finish.report


def test_a_link_out_of_the_worktree_is_not_followed(tmp_path: Path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "reference").symlink_to(outside)
    (root / "system").mkdir()
    (outside / "human.md").write_text(SEED, encoding="utf-8")
    (root / HUMAN).symlink_to(outside / "human.md")
    finish, commit = run(task(root, "always use uv", "remember that staging runs on port 5433"))
    assert (finish.kind, finish.reason, commit.calls) == ("failed", "engine_error", [])
    assert finish.refusals == 2
    assert [path.name for path in outside.iterdir()] == ["human.md"]
    assert (outside / "human.md").read_text(encoding="utf-8") == SEED


def test_a_read_only_or_unreadable_document_is_left_alone_and_named(tmp_path: Path):
    text = SEED.replace("---\n#", 'read_only: "true"\n---\n#')
    seeded(tmp_path, text)
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference/facts.md").write_text("no header\n", encoding="utf-8")
    finish, _ = run(task(tmp_path, "always use uv", "remember that staging runs on port 5433"))
    assert finish.kind == "committed"
    assert (tmp_path / HUMAN).read_text(encoding="utf-8") == text
    assert (tmp_path / "reference/facts.md").read_text(encoding="utf-8") == "no header\n"
    assert "always use uv" in (tmp_path / "reference/preferences.md").read_text().lower()
    assert "system/human.md is read-only" in finish.report
    assert "reference/facts.md:1:" in finish.report


def test_a_refused_commit_is_a_failure_of_validation(tmp_path: Path):
    refusal = DocumentError("system/human.md would be too large.")
    finish, _ = run(task(seeded(tmp_path), "always use uv"), Recorder(refusal))
    assert (finish.kind, finish.reason) == ("failed", "validation")
    assert finish.detail == "system/human.md would be too large."


def test_the_engine_does_not_dream(tmp_path: Path):
    finish, commit = run(task(tmp_path, "always use uv", pipeline="dream"))
    assert (finish.kind, finish.reason, commit.calls) == ("failed", "engine_error", [])


def test_boundaries_and_persona_are_never_touched(tmp_path: Path):
    finish, commit = run(
        task(tmp_path, "never delete files outside this repo", "You must never lie")
    )
    assert finish.kind == "committed"
    assert {path.name for path in tmp_path.rglob("*.md")} == {"human.md"}
    assert all(update.text.startswith(HUMAN) for _, _, many in commit.calls for update in many)


def test_the_newer_word_wins_between_conversations(tmp_path: Path):
    late = PayloadEntry(
        "claude-code:b:0", "user", "always squash merge commits", at="2026-11-30T11"
    )
    early = PayloadEntry(
        "claude-code:a:0", "user", "never squash merge commits", at="2026-11-30T09"
    )
    talks = [
        PayloadConversation(f"claude-code/{one.id[-3]}", "", "", 0, [one]) for one in (late, early)
    ]
    run(Task("r", "reflection", "", seeded(tmp_path), "2026-12-01", "", talks))
    text = (tmp_path / HUMAN).read_text(encoding="utf-8")
    assert "Always squash" in text
    assert "Never squash" not in text


@pytest.mark.timeout(30)
def test_a_thousand_messages_are_one_run(tmp_path: Path):
    texts = [
        f"please fix page {n}." + (f"\nno, use tool{n} not thing{n}" if n % 5 == 0 else "")
        for n in range(1000)
    ]
    asked = task(seeded(tmp_path), *texts)
    finish, _ = run(asked)
    assert finish.kind == "committed"
