"""The command line as a whole: what is typed wrong."""

from __future__ import annotations

import json
import sys

import pytest

from reflector.surface import hook
from reflector.surface.cli import streams
from reflector.surface.cli.examples import EXAMPLES
from reflector.surface.cli.main import main


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("status", "foo"), "reflector status"),
        (("memory", "ls", "--nope"), "reflector memory ls"),
        (("--nope",), "reflector"),
    ],
)
def test_a_word_too_many_is_said_by_the_command_that_was_meant(capsys, words, command):
    assert main(words) == 2
    assert f"`{command} --help` explains it." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("statuss",), "Did you mean status? `reflector --help` explains it."),
        (("memory", "wy", "a.md:1"), "Did you mean why? `reflector memory --help` explains it."),
        (("memory", "list"), "Did you mean ls? `reflector memory --help` explains it."),
        (("runs", "--limt=5"), "Did you mean --limit? `reflector runs --help` explains it."),
        (
            ("ingest", "--history", "claude"),
            "Did you mean claude-code? `reflector ingest --help` explains it.",
        ),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest_one(capsys, words, said):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_an_unknown_command_is_not_answered_with_dozens_of_names(capsys):
    assert main(("xyzzy",)) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: `reflector` has no command 'xyzzy'.",
        "       `reflector --help` explains it.",
    ]


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (("version",), "--version"),
        (("help", "reflect"), "--help"),
        (("confg", "show"), "config"),
        (("revew", "show", "2026"), "review"),
    ],
)
def test_the_nearest_is_looked_for_among_all_commands_whatever_stands_behind(
    capsys, words, nearest
):
    assert main(words) == 2
    assert f"Did you mean {nearest}? " in capsys.readouterr().err


@pytest.mark.parametrize("command", [("status",), ("memory", "ls")])
def test_what_every_command_takes_may_stand_before_its_name(capsys, tmp_path, command):
    said = []
    where = ("--home", str(tmp_path), "--identity", "runs")
    for words in ((*where, *command), (*command, *where), (command[0], *where, *command[1:])):
        assert main(words) == 3
        said.append(capsys.readouterr().err)
    assert len(set(said)) == 1
    assert f"`reflector init --home {tmp_path} --identity 'runs'` makes it." in said[0]


def test_the_machine_form_may_be_asked_for_before_the_command(capsys, tmp_path):
    assert main(("--json", "--home", str(tmp_path), "runs")) == 3
    assert json.loads(capsys.readouterr().out)["error"]["identity"] == "default"


def test_settings_are_not_set_by_a_command_and_it_says_where_they_are_written(capsys, tmp_path):
    assert main(("config", "set", "engine.name", "rules", "--home", str(tmp_path))) == 2
    assert f"Write them into {tmp_path / 'config.toml'}" in capsys.readouterr().err


def test_an_argument_that_is_missing_is_asked_for_by_an_example(capsys):
    assert main(("undo",)) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: `reflector undo` needs RUN.",
        f"       Such as: {EXAMPLES['reflector undo']}",
    ]


def test_help_ends_with_an_example_on_one_line(capsys):
    assert main(("memory", "create", "--help")) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"example: {EXAMPLES['reflector memory create']}"


def test_a_command_that_is_started_without_an_input_reads_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    streams.prepare()
    with sys.stdin as given:
        assert (given.isatty(), given.buffer.read()) == (False, b"")


class Interrupting:
    """Stands for a person who presses Ctrl-C while a module is being looked for."""

    def find_spec(self, name, *_others):
        if name == "reflector.surface.cli.main":
            raise KeyboardInterrupt


def test_an_interrupt_before_a_command_has_begun_ends_it_without_a_traceback(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "reflector.surface.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    monkeypatch.setattr(sys, "argv", ["reflector", "status"])
    assert hook.main() == 130
    assert capsys.readouterr() == ("", "")
