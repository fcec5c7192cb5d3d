"""The main job as a newcomer meets it: the real command, the example session, real git."""

from __future__ import annotations

import json

import pytest

from tests.support.cli import EXAMPLE, GENERIC, Cli, git
from tests.support.transcripts import conversation, extend

pytestmark = pytest.mark.slow


def test_the_example_session_becomes_a_merged_lesson_that_the_prompt_shows(cli):
    done = cli("reflect", EXAMPLE, "--json")
    assert done.code == 0, done.err
    run = done.json["run"]
    assert run["outcome"] == "merged"
    assert done.json["ingested"]["steps"] == 26
    parents = git(cli.repo, "rev-list", "--parents", "-1", "main").split()
    assert parents == [run["merge_commit"], run["base"], run["tip"]]
    assert git(cli.repo, "status", "--porcelain") == ""
    git(cli.repo, "fsck", "--strict")
    block = cli("prompt").out
    assert "make test" in block
    assert "httpx" in block


def test_the_same_reflect_again_finds_nothing_new_and_succeeds(cli):
    assert cli("reflect", EXAMPLE).code == 0
    head = git(cli.repo, "rev-parse", "main")
    again = cli("reflect", EXAMPLE)
    assert (again.code, again.err) == (0, "")
    assert "Nothing new" in again.out
    assert git(cli.repo, "rev-parse", "main") == head
    machine = cli("reflect", EXAMPLE, "--json").json
    assert machine["run"] is None
    assert machine["ingested"]["entries"] == 0


def test_undo_brings_the_tree_back_and_keeps_history(cli):
    before = git(cli.repo, "rev-parse", "main^{tree}")
    run = cli("reflect", EXAMPLE, "--json").json["run"]
    undone = cli("undo", run["id"], "--json")
    assert undone.code == 0, undone.err
    assert git(cli.repo, "rev-parse", "main^{tree}") == before
    assert git(cli.repo, "rev-parse", "main").strip() == undone.json["commit"]
    assert git(cli.repo, "merge-base", "--is-ancestor", run["merge_commit"], "main") == ""
    assert git(cli.repo, "status", "--porcelain") == ""
    assert f"undone by {undone.json['commit']}" in cli("show", run["id"]).out
    assert cli("show", run["id"], "--json").json["undone_by"] == undone.json["commit"]
    assert "merged, undone" in cli("runs").out
    assert "  merged, undone\n" in cli("status").out
    assert "Learned" not in cli("status").out
    twice = cli("undo", run["id"])
    assert twice.code == 1
    assert "undone already" in twice.err


def test_show_names_what_was_read_and_prints_the_changed_lines(cli):
    run = cli("reflect", EXAMPLE, "--json").json["run"]
    shown = cli("show", run["id"][:18], "--diff")
    assert shown.code == 0, shown.err
    assert "+- " in shown.out
    machine = cli("show", run["id"], "--json").json
    assert machine["run"] == run
    assert machine["commits"][0]["message"].startswith(("feat(reflection): ", "fix(reflection): "))
    assert run["snapshots"][0]["conversation"].startswith("claude-code/")


def test_a_dry_run_shows_the_lesson_and_merges_nothing(cli):
    head = git(cli.repo, "rev-parse", "main")
    dry = cli("reflect", EXAMPLE, "--dry-run", "--json")
    assert dry.code == 0, dry.err
    assert dry.json["run"]["outcome"] == "dry_run"
    assert dry.json["changes"]
    assert git(cli.repo, "rev-parse", "main") == head
    assert cli("reflect", EXAMPLE, "--json").json["run"]["outcome"] == "merged"


def test_recent_replays_the_last_steps_and_moves_no_cursor(cli, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Yes.")
    assert cli("reflect", talk).code == 0
    extend(talk, "Never push to main directly.", "Understood.")
    again = cli("reflect", talk, "--recent", "1", "--json")
    assert again.code == 0, again.err
    (snapshot,) = again.json["run"]["snapshots"]
    assert snapshot["entries"] == 1
    (waiting,) = cli("status", "--json").json["conversations"]
    assert waiting["steps_since_reflection"] == 1


def test_a_long_conversation_is_worked_through_one_merge_after_another(tmp_path):
    cli = Cli(tmp_path / "home", REFLECTOR_SNAPSHOT_MAX_BYTES="300")
    cli("init")
    words = ["alpha", "beta", "gamma", "delta"]
    turns = [text for word in words for text in (f"Always call the {word} service first.", "Yes.")]
    talk = conversation(tmp_path / "talk.jsonl", *turns)
    done = cli("reflect", talk, "--max-runs", "3", "--json")
    assert done.code == 0, done.err
    assert [run["outcome"] for run in done.json["runs"]] == ["merged"] * 3
    assert done.json["runs"][0]["snapshots"][0]["backlog_remaining"] > 0
    assert cli("reflect", "--json").json["runs"]
    assert "Nothing new" in cli("reflect").out


def test_one_conversation_can_be_named(cli, tmp_path):
    one = conversation(tmp_path / "one.jsonl", "Always use tabs.", "Yes.", session="one")
    two = conversation(tmp_path / "two.jsonl", "Always use spaces.", "Yes.", session="two")
    assert cli("ingest", one, two).code == 0
    done = cli("reflect", "--conversation", "jsonl/two", "--json")
    assert [each["conversation"] for each in done.json["run"]["snapshots"]] == ["jsonl/two"]
    missing = cli("reflect", "--conversation", "jsonl/three")
    assert missing.code == 1
    assert "jsonl/three" in missing.err


def test_a_file_that_cannot_be_read_does_not_keep_the_others_out(cli, tmp_path):
    strange = tmp_path / "strange.jsonl"
    strange.write_text('{"hello": "world"}\n', "utf-8")
    done = cli("reflect", strange, GENERIC)
    assert done.code == 1
    assert "strange" in done.err
    assert "merged" in done.out
    alone = cli("reflect", strange, "--json")
    assert alone.code == 1
    assert alone.json["refused"][0]["code"] == "unknown_format"


def test_without_a_memory_every_command_names_the_next_step(tmp_path):
    cli = Cli(tmp_path / "home")
    for words in (["reflect", EXAMPLE], ["ingest", EXAMPLE], ["status"], ["runs"], ["prompt"]):
        done = cli(*words)
        assert done.code == 3
        assert "reflector init" in done.err
        assert json.loads(cli(*words, "--json").out)["error"]["code"] == "home_unusable"


def test_init_is_safe_to_repeat_and_overwrites_nothing(cli):
    human = cli.repo / "system" / "human.md"
    human.write_text("mine\n", "utf-8")
    again = cli("init", "--json")
    assert again.code == 0
    assert again.json["created"] is False
    assert human.read_text("utf-8") == "mine\n"


def test_init_refuses_a_repository_that_is_not_its_own(tmp_path):
    cli = Cli(tmp_path / "home")
    cli("init")
    repo = cli.repo
    other = Cli(tmp_path / "other")
    place = other.home / "agents" / repo.parent.name / "repo"
    place.mkdir(parents=True)
    done = other("init")
    assert done.code == 3
    assert "no git repository" in done.err
    git(place, "init", "-q")
    empty = other("init")
    assert empty.code == 3
    assert "no commit on main" in empty.err


def test_two_identities_share_nothing(tmp_path):
    cli = Cli(tmp_path / "home")
    for name in ("work", "play"):
        assert cli("init", "--identity", name).code == 0
    assert cli("reflect", GENERIC, "--identity", "work", "--json").json["run"]
    assert cli("status", "--identity", "play", "--json").json["conversations"] == []


def test_the_version_and_help_need_no_home(tmp_path):
    cli = Cli(tmp_path / "nowhere" / "home")
    assert cli("reflect", "--help", cwd=tmp_path).code == 0
    unknown = cli("reflekt", cwd=tmp_path)
    assert unknown.code == 2
    assert not cli.home.exists()
