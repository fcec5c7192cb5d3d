"""The choice of an engine: what is offered, asked once, written without touching the rest."""

from __future__ import annotations

import os
import pty
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.errors import SettingsError, UsageError
from reflector.runtime import birth, engine_choice
from reflector.runtime.settings_text import UnclearError, with_values
from reflector.runtime.wiring import context
from reflector.surface.cli.choice import ask, offer
from reflector.surface.cli.main import main
from reflector.surface.cli.output import Output

CLAUDE = {"engine.name": "command", "engine.command": "claude"}


def program(folder: Path, name: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


def test_an_agent_cli_is_offered_only_where_it_is(tmp_path):
    assert [each.name for each in engine_choice.choices({"PATH": ""})] == ["rules", "anthropic"]
    found = engine_choice.choices(program(tmp_path / "bin", "codex"))
    assert [each.name for each in found] == ["rules", "anthropic", "codex"]
    assert found[2].values == {"engine.name": "command", "engine.command": "codex"}
    assert str(tmp_path / "bin" / "codex") in found[2].says


def test_credentials_alone_choose_nothing(tmp_path):
    environ = {"PATH": "", "ANTHROPIC_API_KEY": "sk-ant-x"}
    assert engine_choice.choices(environ)[0].name == "rules"
    assert not engine_choice.offered(context(str(tmp_path / "home")))


def test_a_cli_that_is_not_here_is_a_usage_error():
    with pytest.raises(UsageError, match="no 'claude' on the PATH"):
        engine_choice.named({"PATH": ""}, "claude")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", '[engine]\nname = "command"\ncommand = "claude"\n'),
        (
            '# mine\nmerge = "review"',
            '# mine\nmerge = "review"\n\n[engine]\nname = "command"\ncommand = "claude"\n',
        ),
        (
            '[engine] # who\nname = "rules" # for now\nmodel = "m"\n',
            '[engine] # who\ncommand = "claude"\nname = "command" # for now\nmodel = "m"\n',
        ),
        (
            "engine.name='rules'\nmerge = 'auto'\n",
            'engine.name="command"\nengine.command = "claude"\nmerge = \'auto\'\n',
        ),
        (
            '[engine]\r\ncommand = "codex"\r\n',
            '[engine]\r\nname = "command"\r\ncommand = "claude"\r\n',
        ),
        (
            "[push]\nname = 1\n",
            '[push]\nname = 1\n\n[engine]\nname = "command"\ncommand = "claude"\n',
        ),
    ],
)
def test_a_value_is_written_where_it_belongs_and_nothing_else_changes(old, new):
    assert with_values(old, CLAUDE) == new
    assert with_values(new, CLAUDE) == new


@pytest.mark.parametrize(
    "text",
    [
        'engine = { name = "rules" }\n',
        'note = """\n[engine]\nname = "x"\n"""\nengine = {}\n',
        "[engine]\nname = 3\n",
        "[engine\n",
        'engine = "rules"\n',
    ],
)
def test_a_file_that_cannot_be_changed_for_sure_is_not_changed(text):
    with pytest.raises(UnclearError):
        with_values(text, CLAUDE)


def test_the_error_says_what_to_write(tmp_path):
    found = context(str(tmp_path / "home"), make=True)
    found.home.settings.write_text('engine = { name = "rules" }\n')
    with pytest.raises(SettingsError) as caught:
        engine_choice.choose(found, engine_choice.choices({"PATH": ""})[1])
    assert 'engine.name = "anthropic"' in caught.value.hint
    assert found.home.settings.read_text() == 'engine = { name = "rules" }\n'


names = st.text("abcdefgh_", min_size=1, max_size=6).filter(lambda name: name != "engine")
scalars = st.integers(-9, 9).map(str) | st.booleans().map(lambda flag: str(flag).lower())
lines = st.dictionaries(names, scalars, max_size=4).map(
    lambda found: [f"{name} = {value}\n" for name, value in found.items()]
)


@settings(deadline=None, max_examples=60)
@given(top=lines, tables=st.dictionaries(names, lines, max_size=3), comment=st.booleans())
def test_every_other_line_keeps_its_bytes(top, tables, comment):
    text = "".join(["# a comment\n" * comment, *top])
    for name, inner in tables.items():
        if f"{name} =" not in "".join(top):
            text += f"[{name}]\n" + "".join(inner)
    new = with_values(text, CLAUDE)
    assert new.startswith(text)
    assert tomllib.loads(new) == {
        **tomllib.loads(text),
        "engine": {"name": "command", "command": "claude"},
    }


def answers(*lines: str):
    given_lines = iter(lines)
    said: list[str] = []
    offers = engine_choice.choices({"PATH": ""})
    found = ask(offers, lambda: next(given_lines), said.append)
    return (found.name if found else None), said


def test_a_number_a_name_and_a_bare_enter_are_answers():
    assert answers("2\n")[0] == "anthropic"
    assert answers("anthropic\n")[0] == "anthropic"
    assert answers("\n")[0] == "rules"
    assert answers("what?\n", "2\n")[0] == "anthropic"


def test_the_end_of_the_input_chooses_nothing():
    assert answers("")[0] is None
    assert answers("x\n", "y\n", "z\n")[0] is None


def test_each_choice_says_in_one_line_what_it_costs_and_where_text_goes():
    _, said = answers("\n")
    (rules,) = [line for line in said if " rules " in line]
    (model,) = [line for line in said if " anthropic " in line]
    assert "Costs nothing" in rules
    assert "no text leaves this machine" in rules
    assert "Billed by tokens" in model
    assert "goes there" in model


@pytest.fixture
def terminal(monkeypatch):
    """A person at a terminal who typed an answer."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as stream, os.fdopen(ours, "w") as typed:

        def person(text: str) -> None:  # pytest puts streams of its own back before the test
            monkeypatch.setattr(sys, "stdin", stream)
            monkeypatch.setattr(sys, "stdout", stream)
            monkeypatch.setattr(Output, "say", lambda *_: None)
            typed.write(text)
            typed.flush()

        yield person


def output(*, json: bool = False) -> Output:
    return Output(json=json, colour=False, live=False)


def test_a_person_is_asked_once(tmp_path, terminal):
    found = context(str(tmp_path / "home"), make=True)
    terminal("2\n")
    assert offer(found, "", output()) == "anthropic"
    assert context(str(tmp_path / "home")).settings.text("engine.name") == "anthropic"
    assert offer(found, "", output()) == ""


def test_somebody_who_did_not_choose_is_not_asked_again(tmp_path, terminal):
    found = context(str(tmp_path / "home"), make=True)
    terminal("a\nb\nc\n")
    assert offer(found, "", output()) == ""
    assert engine_choice.offered(found)
    assert not found.home.settings.exists()


def test_somebody_who_wrote_an_engine_into_the_settings_is_not_asked(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text('[engine]\nname = "rules"\n')
    assert engine_choice.offered(context(str(home)))


def test_nobody_is_asked_for_json_or_without_a_terminal(tmp_path, terminal, monkeypatch):
    found = context(str(tmp_path / "home"), make=True)
    terminal("2\n")
    assert offer(found, "", output(json=True)) == ""
    with (tmp_path / "empty").open("w+") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert offer(found, "", output()) == ""
    assert not engine_choice.offered(found)


def test_the_flag_answers_without_a_terminal(tmp_path):
    found = context(str(tmp_path / "home"), make=True)
    assert offer(found, "anthropic", output(json=True)) == "anthropic"
    assert found.home.settings.read_text() == '[engine]\nname = "anthropic"\n'
    assert engine_choice.offered(found)


@pytest.mark.slow  # a memory is made
@pytest.mark.parametrize("words", [("init",), ("install", "pi"), ("reflect",)])
def test_the_first_of_three_commands_asks(guarded, terminal, monkeypatch, words):
    monkeypatch.chdir(guarded)
    if words == ("reflect",):
        birth.init(context())
    terminal("1\n")
    assert main(words) == 0
    assert context().settings.origins["engine.name"].endswith("config.toml")


@pytest.mark.slow  # a memory is made
def test_an_engine_for_one_run_is_no_answer(guarded, terminal):
    birth.init(context())
    terminal("2\n")
    assert main(["reflect", "--engine", "rules"]) == 0
    assert not engine_choice.offered(context())
    assert not (guarded / ".reflector" / "config.toml").exists()
