"""`reflector install` and `uninstall` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflector.surface.cli.main import main

pytestmark = pytest.mark.slow  # a memory is made


@pytest.fixture
def typed(guarded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command line in a project; return the exit code and what was printed."""
    project = guarded / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def entries(person: Path) -> set[str]:
    return {str(each.relative_to(person)) for each in person.rglob("*")}


def test_install_makes_the_memory_the_launcher_and_the_hooks(typed, guarded):
    code, said, _ = typed("install", "codex")
    home = guarded / ".reflector"
    assert code == 0
    assert f"{guarded}/.codex/hooks.json" in said
    assert "/hooks" in said
    assert (home / "bin" / "reflector").exists()
    assert len(list((home / "agents").iterdir())) == 1
    assert typed("install", "codex")[1].startswith("Nothing to do")
    code, said, _ = typed("uninstall", "codex")
    assert code == 0
    assert f"The memory stays: {home}" in said
    assert len(list((home / "agents").iterdir())) == 1
    assert not (guarded / ".codex").exists()
    assert typed("uninstall", "codex")[1].startswith("Nothing to do")


def test_the_machine_form_names_files_backups_and_what_remains_to_be_done(typed, guarded):
    place = guarded / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text("{}")
    found = json.loads(typed("install", "claude-code", "--json", "--engine", "rules")[1])
    assert found["harness"] == "claude-code"
    assert found["changed"] == found["files"] == [str(place)]
    assert Path(found["backups"][0]).read_text() == "{}"
    assert found["scope"] == "user"
    assert found["identity"] == "default"
    assert found["bank"].startswith("project-")
    assert found["events"][0] == "SessionStart"
    assert found["next"]
    assert found["engine"] == "rules"
    again = json.loads(typed("install", "claude-code", "--json")[1])
    assert (again["changed"], again["files"]) == ([], [str(place)])
    gone = json.loads(typed("uninstall", "claude-code", "--json")[1])
    assert gone["changed"] == [str(place)]
    assert place.read_text() == "{}"


@pytest.mark.parametrize("words", [("install", "pi"), ("uninstall", "pi"), ("install", "codex")])
def test_a_dry_run_leaves_no_trace(typed, guarded, words):
    before = entries(guarded)
    code, said, _ = typed(*words, "--dry-run")
    assert code == 0
    assert entries(guarded) == before
    assert ("+++ " in said) is (words[0] == "install")


def test_a_dry_run_shows_no_control_characters(typed, guarded):
    place = guarded / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text('{\n\t"a": "\x7f\u009b31m"\n}')
    said = typed("install", "claude-code", "--dry-run")[1]
    assert "\\x9b31m" in said
    assert "\x9b" not in said
    assert '\t"hooks"' in said


def test_the_list_needs_no_home_and_makes_none(typed, guarded):
    code, said, _ = typed("install")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()[:5]] == [
        "claude-code",
        "codex",
        "opencode",
        "gemini-cli",
        "pi",
    ]
    found = json.loads(typed("install", "--json")[1])["harnesses"]
    assert {"harness": "pi", "found": False, "installed": False, "scopes": [], "files": []} in found
    assert not (guarded / ".reflector").exists()


def test_a_refusal_names_file_line_and_next_step_and_makes_nothing(typed, guarded):
    place = guarded / ".gemini" / "settings.json"
    place.parent.mkdir()
    place.write_text('{\n  // mine\n  "hooks": 3\n}')
    code, said, told = typed("install", "gemini-cli")
    assert (code, said) == (1, "")
    assert f'{place}, line 3: "hooks" should be an object.' in told
    assert "Mend that line" in told
    assert not (guarded / ".reflector" / "agents").exists()
    error = json.loads(typed("install", "gemini-cli", "--json")[1])["error"]
    assert error["code"] == "install_refused"
    assert error["line"] == "3"


def test_words_that_are_wrong_are_usage_errors_before_anything_is_done(typed, guarded):
    assert typed("install", "emacs")[0] == 2
    assert typed("install", "codex", "--engine", "gpt")[0] == 2
    assert typed("install", "codex", "--engine", "claude")[0] == 2
    assert typed("uninstall")[0] == 2
    assert not (guarded / ".codex").exists()


def test_a_project_is_told_to_keep_the_path_of_this_machine_to_itself(typed, guarded):
    said = typed("install", "gemini-cli", "--scope", "project")[1]
    assert f"{guarded}/project/.gemini/settings.json" in said
    assert "keep it out of your commits" in said


def test_init_takes_the_engine_too(typed, guarded):
    found = json.loads(typed("init", "--engine", "anthropic", "--json")[1])
    assert found["engine"] == "anthropic"
    settings = (guarded / ".reflector" / "config.toml").read_text()
    assert settings == '[engine]\nname = "anthropic"\n'


def test_a_mistyped_harness_is_answered_with_the_nearest_one(typed):
    code, _, told = typed("install", "claude")
    assert code == 2
    assert "Did you mean claude-code? One of " in told


def test_uninstall_without_a_harness_points_at_the_list(typed):
    code, _, told = typed("uninstall")
    assert code == 2
    assert "`reflector install` lists" in told


def test_a_second_scope_is_refused_with_the_command_that_takes_the_first_away(typed):
    assert typed("install", "claude-code")[0] == 0
    code, _, told = typed("install", "claude-code", "--scope", "project")
    assert code == 1
    assert "`reflector uninstall claude-code` takes it away" in told


def test_what_stands_in_the_way_of_several_checks_is_said_once(typed):
    code, said, _ = typed("doctor")
    assert code == 1
    assert said.count("There is no memory for the identity 'default'") == 1
    checks = json.loads(typed("doctor", "--json")[1])["checks"]
    assert len([each for each in checks if not each["ok"]]) > 1


def test_init_names_the_next_commands_for_the_very_home(typed, guarded):
    place = guarded / "a home"
    code, said, _ = typed("init", "--home", str(place))
    assert code == 0
    assert f"reflector install --home '{place}'" in said
