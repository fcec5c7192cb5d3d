"""The command line as a whole: what is typed wrong."""

from __future__ import annotations

import pytest

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
