"""The command line as a whole: what is typed wrong."""

from __future__ import annotations

import sys

import pytest

from reflector.surface.cli import streams
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


def test_a_command_that_is_started_without_an_input_reads_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    streams.prepare()
    with sys.stdin as given:
        assert (given.isatty(), given.buffer.read()) == (False, b"")
