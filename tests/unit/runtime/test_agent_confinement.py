"""What an agent CLI is given of a person's machine: its account, its parts, nothing beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflector.core.errors import SettingsError
from reflector.runtime.agent_confinement import confine
from reflector.runtime.routing import credentials, route
from reflector.runtime.sandbox import NEWER, Work
from reflector.runtime.sandbox_probe import Probed
from reflector.runtime.settings import load

FOUND = Probed(works=True, detail="", program="/usr/bin/bwrap", options=NEWER)


def settings(tmp_path: Path, **engine: str):
    text = "[engine]\n" + "".join(f"{name} = '{value}'\n" for name, value in engine.items())
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    return load([file], {})


@pytest.fixture
def given(tmp_path):
    """Return what a run by a command gets of a person: environment, and the words around it."""

    def work(command: str, environ: dict[str, str], **engine: str):
        chosen = settings(tmp_path, name="command", command=command, **engine)
        place = tmp_path / "worktree"
        environment = credentials("command", chosen, environ, place)
        run_folder = tmp_path / "run"
        run_folder.mkdir()
        work = Work(tmp_path, run_folder, place, tmp_path / "repo")
        way = route(chosen, environ, engine="command")
        confine(run_folder, FOUND, work, way, environment)
        return environment, json.loads((run_folder / "confinement.json").read_text())

    return work


@pytest.mark.parametrize(
    "address", ["localhost:8080", "http://", "http:// host", "ftp://host", "http://user:hidden@"]
)
def test_what_is_no_address_is_refused_before_anything_is_asked_and_is_not_quoted(
    tmp_path, address
):
    with pytest.raises(SettingsError, match=r"engine\.base_url") as error:
        route(settings(tmp_path, name="anthropic", base_url=address), {})
    assert address not in error.value.message
    assert "hidden" not in error.value.message + error.value.hint


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8080", "https://[::1]:1/v1", "HTTPS://u:p@host/a?b=c"]
)
def test_an_address_of_a_server_is_taken_as_it_is(tmp_path, address):
    assert route(settings(tmp_path, name="anthropic", base_url=address), {}).keyless


def program(path: Path, text: str = "#!/usr/bin/env node\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_of_a_package_is_shown_with_its_neighbours(tmp_path, given):
    packages = tmp_path / "nvm" / "lib" / "node_modules"
    real = program(packages / "@openai" / "codex" / "bin" / "codex.js")
    folder = tmp_path / "nvm" / "bin"
    node = program(folder / "node")
    (folder / "codex").symlink_to(real)
    _, words = given("codex", {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert str(packages) in words
    assert str(node) in words
    assert not {str(tmp_path / "nvm"), str(folder), str(tmp_path)} & set(words[:-3]) - {
        str(tmp_path)  # the Reflector home itself, empty
    }


def test_a_program_alone_is_shown_alone(tmp_path, given):
    mine = program(tmp_path / "person" / "bin" / "agent")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "person")}
    _, words = given("~/bin/agent --now", environ)
    assert str(mine) in words
    assert str(mine.parent) not in words


def test_only_a_cli_with_a_sandbox_of_its_own_may_make_one(tmp_path, given):
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    _, words = given("cat", environ)
    assert "--disable-userns" in words
    (tmp_path / "run" / "confinement.json").unlink()
    (tmp_path / "run").rmdir()
    _, words = given("codex", environ)
    assert "--disable-userns" not in words


def test_a_preset_gets_its_own_account_and_folder(tmp_path, given):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".codex").mkdir()
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "ANTHROPIC_API_KEY": "a",
        "OPENAI_API_KEY": "b",
        "AWS_SECRET_ACCESS_KEY": "c",
    }
    found, words = given("claude", environ, base_url="http://127.0.0.1:1")
    assert found["CLAUDE_CONFIG_DIR"] == str(tmp_path / ".claude")
    assert found["ANTHROPIC_API_KEY"] == "a"
    assert found["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert not {"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HOME", "CODEX_HOME"} & set(found)
    assert str(tmp_path / ".claude") in words
    assert str(tmp_path / ".codex") not in words


def test_a_folder_that_a_person_chose_wins(tmp_path, given):
    chosen = tmp_path / "elsewhere"
    chosen.mkdir()
    environ = {"PATH": "/bin", "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(chosen)}
    found, _ = given("claude", environ)
    assert found["CLAUDE_CONFIG_DIR"] == str(chosen)


@pytest.mark.parametrize("command", ["", "  ", "agent 'unclosed"])
def test_a_command_line_that_is_none_is_refused(tmp_path, command):
    file = tmp_path / "config.toml"
    file.write_text(f"[engine]\ncommand = {json.dumps(command)}\n")
    with pytest.raises(SettingsError) as raised:
        route(load([file], {}), {}, engine="command")
    assert raised.value.facts["key"] == "engine.command"


def test_a_model_is_the_one_that_was_chosen_for_this_run(tmp_path):
    chosen = settings(tmp_path, command="claude", model="haiku")
    assert route(chosen, {}, engine="command").model == "haiku"
    assert route(chosen, {}, "opus", "command").model == "opus"
