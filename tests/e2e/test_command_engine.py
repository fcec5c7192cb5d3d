"""Reflection by an agent CLI: the real command, a fake CLI in its sandbox and without one."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from reflector.runtime.wiring import context
from tests.support import fake_cli
from tests.support.cli import Cli, git
from tests.support.hostile import sandbox_or_skip
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow

FAKE = Path(fake_cli.__file__)
KEY = "sk-ant-api03-" + "k" * 95


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """Make a home once; every test has a copy."""
    made = Cli(tmp_path_factory.mktemp("template") / "home")
    assert made("init").code == 0
    return made.home


@pytest.fixture
def at_home(template, tmp_path):
    """Make a command with an environment of its own."""

    def make(**environ: str) -> Cli:
        shutil.copytree(template, tmp_path / "home", symlinks=True)
        return Cli(tmp_path / "home", **environ)

    return make


@pytest.fixture
def cli(at_home) -> Cli:
    made: Cli = at_home()
    return made


@pytest.fixture
def walls(template):
    """Skip where there is no sandbox."""
    sandbox_or_skip(context(str(template)))


@pytest.fixture(params=["required", "off"])
def sandbox(request):
    if request.param == "required":
        request.getfixturevalue("walls")
    return request.param


def configure(cli: Cli, act: str, *words: str | Path, sandbox: str = "off", **more: str) -> Path:
    line = " ".join(map(str, (sys.executable, FAKE, act, *words)))
    engine = {"name": "command", "command": line, **more}
    text = f'sandbox = "{sandbox}"\n[engine]\n'
    text += "".join(f"{name} = '{value}'\n" for name, value in engine.items())
    (cli.home / "config.toml").write_text(text, "utf-8")
    return conversation(cli.home.parent / "talk.jsonl", "I prefer pytest.", "Noted.")


def reflect(cli: Cli, act: str, *words: str | Path, **more: str):
    return cli("reflect", configure(cli, act, *words, **more), "--json")


@pytest.fixture
def mark():
    """Return a word by which a process is known again; whoever still bears it later is ended."""
    made = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    yield made
    for process in running(made):
        process.kill()


def refused(done, outcome: str, reason: str | None):
    """Assert how a run ended and that the memory is as it was; return the detail."""
    run = done.json["run"]
    assert (run["outcome"], run["reason"]) == (outcome, reason), done.out
    assert done.code == 1
    return run["detail"]


def learned(cli: Cli) -> bool:
    return fake_cli.LINE in git(cli.repo, "show", "main:system/human.md")


def running(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


# Well behaved


def test_a_cli_learns_a_preference_that_our_child_commits(cli, sandbox):
    done = reflect(cli, "good", sandbox=sandbox)
    assert done.code == 0, done.out + done.err
    run = done.json["run"]
    assert (run["outcome"], run["engine"]) == ("merged", "command")
    assert run["sandboxed"] is (sandbox == "required")
    assert learned(cli)
    assert done.json["report"] == fake_cli.REPORT.strip()
    body = git(cli.repo, "log", "-1", "--format=%B", run["tip"])
    assert "[entry " in body
    assert "Agent-ID: default" in body
    assert ".tmp" not in git(cli.repo, "ls-tree", "-r", "--name-only", "main")


def test_it_finds_the_conversation_in_a_file_as_well(cli, sandbox):
    done = reflect(cli, "reads", sandbox=sandbox)
    assert done.json["run"]["outcome"] == "merged", done.out


def test_nothing_to_record_needs_its_word_and_consumes(cli, sandbox):
    done = reflect(cli, "nothing", sandbox=sandbox)
    assert done.json["run"]["outcome"] == "no_changes"
    assert cli("status", "--json").json["conversations"][0]["unreflected_bytes"] == 0


def test_a_document_is_deleted_by_emptying_it(cli):
    path = cli.repo / "reference" / "old.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\ndescription: Something old.\n---\n\nOld.\n")
    git(cli.repo, "add", "-A")
    git(cli.repo, "commit", "-qm", "by hand")
    done = reflect(cli, "empties", "reference/old.md")
    assert done.json["run"]["outcome"] == "merged", done.out
    assert "reference/old.md" not in git(cli.repo, "ls-tree", "-r", "--name-only", "main")


def test_a_message_inside_a_fence_is_read(cli):
    assert reflect(cli, "fenced").json["run"]["outcome"] == "merged"


def test_the_environment_holds_nothing_of_the_person(at_home, sandbox):
    cli = at_home(ANTHROPIC_API_KEY=KEY, CODEX_HOME="/nowhere", CLAUDECODE="1")
    done = reflect(cli, "environment", sandbox=sandbox)
    assert done.json["run"]["outcome"] == "no_changes", done.out
    names = {line.partition("=")[0].strip() for line in done.json["report"].splitlines()}
    assert {"PATH", "REFLECTOR_CHILD", "REFLECTOR_RUN", "TRANSCRIPT_PATH"} <= names
    assert not {"ANTHROPIC_API_KEY", "CODEX_HOME", "CLAUDECODE"} & names
    assert f"HOME={os.environ['HOME']}\n" not in done.json["report"]


def test_its_run_leaves_a_record(cli):
    done = reflect(cli, "good")
    (step,) = cli("show", done.json["run"]["id"], "--steps", "--json").json["steps"]
    assert step["step"] == "reflection.cli"


# Badly behaved


def test_edits_without_a_message_are_uncommitted(cli, sandbox):
    detail = refused(reflect(cli, "forgets", sandbox=sandbox), "dirty_uncommitted", None)
    assert "system/human.md" in detail
    assert not learned(cli)


def test_a_message_that_is_none_is_said_to_be_wrong(cli):
    detail = refused(reflect(cli, "babbles"), "failed", "validation")
    assert ".tmp/commit.md" in detail
    assert "'Updates:' list" in detail
    assert not learned(cli)


def test_what_the_validator_refuses_is_not_merged(cli):
    refused(reflect(cli, "leaks"), "failed", "validation")
    assert "ghp_" not in git(cli.repo, "log", "main", "-p")


def test_exit_0_without_work_is_no_success(cli):
    refused(reflect(cli, "deaf"), "failed", "empty")
    assert cli("status", "--json").json["conversations"][0]["unreflected_bytes"] > 0


def test_a_failed_cli_is_named_by_what_it_said(cli, sandbox):
    said = f"Invalid API key {KEY}"
    detail = refused(reflect(cli, "fails", f'"{said}"', sandbox=sandbox), "failed", "auth")
    assert "code 3" in detail
    assert "Invalid API key" in detail
    assert KEY not in detail
    assert not learned(cli)


def test_a_cli_that_is_not_there_is_missing(cli, sandbox):
    talk = configure(cli, "good", sandbox=sandbox, command="no-such-cli --now")
    detail = refused(cli("reflect", talk, "--json"), "failed", "engine_missing")
    assert "no-such-cli" in detail
    checks = cli("doctor", "--engine", "command", "--json").json["checks"]
    (check,) = [each for each in checks if each["name"] == "engine"]
    assert not check["ok"]
    assert "no-such-cli" in check["message"]


def test_no_command_at_all_is_nobody_elses_fault(cli):
    talk = configure(cli, "good", command="")
    detail = refused(cli("reflect", talk, "--json"), "failed", "engine_missing")
    assert "Set it to claude" in detail
    assert cli("doctor", "--engine", "command").code == 3


def test_garbage_and_floods_harm_nobody(cli):
    assert reflect(cli, "garbage").json["run"]["outcome"] == "merged"
    assert len(reflect(cli, "floods").out) < 100_000


# Hostile


@pytest.mark.usefixtures("walls")
def test_inside_the_sandbox_it_writes_nowhere_else(cli, tmp_path):
    places = [tmp_path / "outside", cli.repo / "system" / "human.md", cli.home / "config.toml"]
    before = places[1].read_bytes()
    done = reflect(cli, "outside", *places, sandbox="required")
    assert done.json["run"]["outcome"] == "merged", done.out
    assert not places[0].exists()
    assert places[1].read_bytes().startswith(before)
    assert places[2].read_text() != "x"


def test_a_commit_of_its_own_is_no_commit_of_ours(cli, sandbox):
    done = reflect(cli, "commits", sandbox=sandbox)
    if sandbox == "required":  # git refused it, and the message counts
        assert done.json["run"]["outcome"] == "merged", done.out
    else:
        assert "by itself" in refused(done, "failed", "validation")
    assert "mine" not in git(cli.repo, "log", "main", "--format=%s").splitlines()


@pytest.mark.usefixtures("walls")
def test_git_survives_a_cli_that_deletes_it(cli):
    done = reflect(cli, "deletes_git", sandbox="required")
    assert done.json["run"]["outcome"] == "merged", done.out
    assert git(cli.repo, "fsck", "--no-dangling") == ""


def test_a_message_that_is_a_link_is_not_followed(cli, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("planted")
    detail = refused(reflect(cli, "links", secret), "failed", "validation")
    assert ".tmp/commit.md cannot be read" in detail


def test_a_link_in_place_of_the_scratch_folder_costs_nothing_outside(cli, tmp_path):
    kept = tmp_path / "kept" / "commit.md"
    kept.parent.mkdir()
    kept.write_text("x")
    refused(reflect(cli, "moves_scratch", kept.parent), "failed", "validation")
    assert kept.exists()


def test_who_forks_away_is_ended_before_the_memory_is_judged(cli, sandbox, mark):
    done = reflect(cli, "forks", mark, sandbox=sandbox)
    assert done.json["run"]["outcome"] == "merged", done.out
    assert running(mark) == []


def test_who_comes_back_to_spoil_comes_too_late(cli, sandbox):
    reflect(cli, "spoils", sandbox=sandbox)
    assert running(str(cli.home)) == []
    assert git(cli.repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_cli_that_ignores_every_signal_ends_with_the_run(cli, sandbox, how, mark):
    talk = configure(cli, "stays", mark, sandbox=sandbox)
    process = cli.start("reflect", talk)
    deadline = time.monotonic() + 60
    while not list(cli.home.glob("agents/*/worktrees/*/.tmp/here")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert running(mark)
    process.send_signal(how)
    process.communicate(timeout=60)
    while running(mark):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if how == signal.SIGINT:
        assert cli("runs", "--json").json["runs"][0]["outcome"] == "cancelled"


# As the known ones speak


@pytest.fixture
def preset(at_home, tmp_path):
    """Reflect by a fake that is installed as `claude`."""

    def work(act: str, sandbox: str = "off", **environ: str):
        folder = tmp_path / "bin"
        fake_cli.installed(folder, "claude", act)
        cli = at_home(PATH=f"{folder}:{os.environ['PATH']}", **environ)
        talk = configure(cli, "", sandbox=sandbox, command="claude")
        return cli("reflect", talk, "--json"), cli

    return work


def test_a_preset_reports_what_it_cost_and_is_called_with_its_words(preset, sandbox):
    done, _ = preset("claude", sandbox)
    run = done.json["run"]
    assert run["outcome"] == "merged", done.out
    assert run["usage"] == {
        "input_tokens": 80,
        "output_tokens": 20,
        "cached_tokens": 30,
        "cost_usd": 0.25,
    }
    for word in ("'--setting-sources', ''", '"disableAllHooks":true', "'--max-turns', '60'"):
        assert word in done.json["report"]
    assert "pytest" not in done.json["report"]  # the prompt is no argument


def test_a_preset_gets_its_account_and_its_own_folder_alone(preset, tmp_path, sandbox):
    home = tmp_path / "person"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "account").write_text("mine")
    (home / "private").write_text("planted")
    done, cli = preset("claude_looks", sandbox, ANTHROPIC_API_KEY=KEY, HOME=str(home))
    assert done.json["run"]["outcome"] == "merged", done.out
    seen = dict(line.split("=", 1) for line in done.json["report"].splitlines() if "=" in line)
    assert seen["CLAUDE_CONFIG_DIR"] == str(home / ".claude")
    assert seen["account"] == "mine"
    assert seen["key"] == "True"
    assert seen["home"] == "False"
    assert (seen["private"] == "True") is (sandbox == "off")
    for file in cli.home.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_denied_write_is_no_nothing_to_record(preset):
    done, _ = preset("claude_denied")
    assert "1 writes were denied" in refused(done, "failed", "engine_error")


def test_nothing_to_record_by_a_preset_consumes(preset):
    done, _ = preset("claude_nothing")
    assert done.json["run"]["outcome"] == "no_changes", done.out


def test_half_a_last_word_is_no_result(preset):
    done, _ = preset("claude_half")
    refused(done, "failed", "no_result")


def test_a_preset_without_an_account_says_so(preset):
    done, _ = preset("claude_unpaid")
    assert "401" in refused(done, "failed", "auth")
