"""A person decides: runs that wait are listed, shown, approved and rejected by the real command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.auditor import audit
from tests.support.cli import Cli, Done, git
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow

HUMAN = "system/human.md"
LESSON = "Always use tabs in Makefiles."


def talk(cli: Cli, *texts: str, session: str = "talk") -> Path:
    said = [part for text in texts or (LESSON,) for part in (text, "Noted.")]
    return conversation(cli.home.parent / f"{session}.jsonl", *said, session=session)


def waits(cli: Cli, *texts: str, session: str = "talk") -> str:
    """Let a run wait; return its id."""
    done = cli("reflect", talk(cli, *texts, session=session), "--review", "--json")
    assert (done.code, done.err) == (4, "")
    assert done.json["run"]["outcome"] == "awaiting_review"
    run: str = done.json["run"]["id"]
    return run


def remembered(cli: Cli, revision: str = "main") -> str:
    return git(cli.repo, "show", f"{revision}:{HUMAN}")


def failed(done: Done, code: int, error: str) -> str:
    assert done.code == code, done.out + done.err
    assert done.json["error"]["code"] == error
    return str(done.json["error"]["message"])


def test_learn_undo_replay_waits_for_a_person_who_may_approve_it(cli, tmp_path):
    first = cli("reflect", talk(cli), "--json").json["run"]
    assert cli("undo", first["id"]).code == 0
    again = cli("retry", first["id"], "--json")
    assert (again.code, again.json["run"]["outcome"]) == (4, "awaiting_review")
    assert [each["code"] for each in again.json["run"]["findings"]] == ["undone_before"]
    assert LESSON.rstrip(".") not in remembered(cli)
    waiting = again.json["run"]["id"]
    assert "undid or rejected" in cli("review", "list").out
    assert "undid or rejected" in cli("review", "show", waiting).out
    assert cli("review", "approve", waiting, "--json").json["run"]["outcome"] == "merged"
    assert LESSON.rstrip(".") in remembered(cli)
    audit(cli.home, transcripts=[tmp_path / "talk.jsonl"])
    # Who approved it wants it: from now on it is a line like any other.
    assert cli("undo", waiting).code == 0
    assert cli("retry", waiting, "--json").json["run"]["outcome"] == "awaiting_review"


def test_review_mode_lets_everything_wait_and_approve_merges_it_like_any_run(cli, tmp_path):
    (cli.home / "config.toml").write_text('merge = "review"\n', "utf-8")
    head = git(cli.repo, "rev-parse", "main").strip()
    done = cli("reflect", talk(cli))
    assert (done.code, done.err) == (4, "")
    (waiting,) = cli("review", "list", "--json").json["waiting"]
    assert f"reflector review show {waiting['id']}" in done.out
    assert waiting["why"] == ["A person approves each merge."]
    assert waiting["conversations"] == ["jsonl/talk"]
    assert waiting["subject"].startswith("feat(reflection): ")
    assert git(cli.repo, "rev-parse", "main").strip() == head
    assert cli("reflect").code == 0  # the cursor has moved: there is nothing left
    shown = cli("review", "show", waiting["id"][:18], "--json").json
    assert shown["merges_now"] == {"kind": "merges", "detail": "", "paths": [HUMAN]}
    assert f"+- {LESSON.rstrip('.')}" in shown["diff"]
    approved = cli("review", "approve", waiting["id"][:18], "--json")
    assert approved.code == 0, approved.out
    run = approved.json["run"]
    assert (run["outcome"], approved.json["changes"][0]["path"]) == ("merged", HUMAN)
    parents = git(cli.repo, "rev-list", "--parents", "-1", "main").split()
    assert parents == [run["merge_commit"], head, run["tip"]]
    message = git(cli.repo, "log", "-1", "--format=%B", "main")
    for trailer in (f"Reflector-Run: {run['id']}", "Trigger: manual", "Snapshot: jsonl/talk "):
        assert f"\n{trailer}" in message
    assert git(cli.repo, "status", "--porcelain") == ""
    assert git(cli.repo, "for-each-ref", "refs/reflector") == ""
    assert "waits" not in cli("review", "list").out.replace("No run waits", "")
    assert "merged by" in failed(cli("review", "approve", run["id"], "--json"), 1, "not_waiting")
    assert "merged by" in failed(cli("review", "reject", run["id"], "--json"), 1, "not_waiting")
    audit(cli.home, transcripts=[tmp_path / "talk.jsonl"])


def test_what_is_rejected_is_dropped_and_its_lines_wait_when_they_come_again(cli, tmp_path):
    run = waits(cli)
    done = cli("review", "reject", run, "--reason", "we use spaces \x1b[31m", "--json")
    assert done.code == 0, done.out
    rejected = done.json["run"]
    assert (rejected["outcome"], rejected["merge_commit"]) == ("rejected", None)
    assert rejected["detail"].startswith("Rejected by a person: we use spaces")
    assert git(cli.repo, "for-each-ref", "refs/reflector") == ""
    assert "\x1b[31m" not in cli("show", run).out
    assert "rejected" in failed(cli("review", "reject", run, "--json"), 1, "not_waiting")
    assert "rejected" in failed(cli("review", "show", run, "--json"), 1, "not_waiting")
    assert cli("reflect").code == 0
    again = cli("retry", run, "--json")
    assert (again.code, again.json["run"]["outcome"]) == (4, "awaiting_review")
    audit(cli.home, transcripts=[tmp_path / "talk.jsonl"])


def test_what_a_person_was_asked_about_is_not_merged_by_reading_it_again(cli):
    run = waits(cli)
    head = git(cli.repo, "rev-parse", "main")
    again = cli("retry", run, "--json")
    assert (again.code, again.json["run"]["outcome"]) == (4, "awaiting_review")
    assert git(cli.repo, "rev-parse", "main") == head


def test_an_approval_on_another_branch_sends_nobody_to_commit_edits_they_do_not_have(cli):
    run = waits(cli)
    git(cli.repo, "switch", "-qc", "other")
    done = cli("review", "approve", run, "--json")
    assert "not on main" in failed(done, 4, "parent_dirty")
    assert "reflector doctor" in done.json["error"]["hint"]
    assert "your changes" not in done.json["error"]["hint"]


def test_what_no_longer_merges_says_where_and_goes_on_waiting(cli):
    run = waits(cli)
    theirs = remembered(cli).replace("## Preferences\n", "## Preferences\n\n- mine (2026-11-30)\n")
    (cli.repo / HUMAN).write_text(theirs, "utf-8")
    git(cli.repo, "commit", "-qam", "mine")
    head = git(cli.repo, "rev-parse", "main")
    shown = cli("review", "show", run, "--json").json["merges_now"]
    assert (shown["kind"], shown["paths"]) == ("merge_conflict", [HUMAN])
    assert HUMAN in failed(cli("review", "approve", run, "--json"), 1, "not_mergeable")
    assert git(cli.repo, "rev-parse", "main") == head
    (waiting,) = cli("review", "list", "--json").json["waiting"]
    assert waiting["id"] == run
    audit(cli.home)


def test_a_person_in_the_way_is_asked_to_make_room(cli):
    run = waits(cli)
    before = (cli.repo / HUMAN).read_bytes()
    (cli.repo / HUMAN).write_bytes(b"mine for now\n")
    done = cli("review", "approve", run)
    assert (done.code, HUMAN in done.err, "Commit or put away" in done.err) == (4, True, True)
    assert (cli.repo / HUMAN).read_bytes() == b"mine for now\n"
    (cli.repo / HUMAN).write_bytes(before)
    (cli.repo / ".git" / "MERGE_HEAD").write_text(git(cli.repo, "rev-parse", "main"))
    assert "middle of a merge" in failed(cli("review", "approve", run, "--json"), 4, "parent_dirty")
    (cli.repo / ".git" / "MERGE_HEAD").unlink()
    assert cli("review", "approve", run).code == 0
    audit(cli.home)


def test_status_says_what_waits(cli):
    run = waits(cli)
    (notice,) = cli("status", "--json").json["notices"]
    assert notice["code"] == "review_waits"
    assert "1 run waits for your review" in cli("status").out
    cli("review", "reject", run)
    assert cli("status", "--json").json["notices"] == []


def test_after_a_lost_database_an_undone_line_still_waits_for_a_person(cli):
    file = talk(cli)
    run = cli("reflect", file, "--json").json["run"]
    assert cli("undo", run["id"], "--json").json["unwanted_lines"] == 1
    state = cli.repo.parent / "state.db"
    state.write_bytes(b"no database" * 1000)
    fixed = cli("doctor", "--fix", "--json")
    assert any("undone" in sentence for sentence in fixed.json["fixed"]), fixed.out
    again = cli("reflect", file, "--json")
    assert (again.code, again.json["run"]["outcome"]) == (4, "awaiting_review")
    assert LESSON.rstrip(".") not in remembered(cli)


def test_a_run_that_never_was_is_not_found(cli):
    for words in (("show",), ("approve",), ("reject",)):
        failed(cli("review", *words, "20990101", "--json"), 1, "not_found")
