"""What the command line says holds no secret, whatever goes wrong."""

from __future__ import annotations

import json

import pytest

from reflector.core.errors import HomeError
from reflector.surface.cli import main
from reflector.surface.cli.output import Output
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]
MARK = "[REDACTED:github]"


def failing(error: Exception):
    def fail(_argv: object, _out: object) -> int:
        raise error

    return fail


def test_a_bug_is_reported_without_secrets(capsys, monkeypatch):
    monkeypatch.setattr(main, "_run", failing(RuntimeError(f"it broke over {TOKEN}")))
    assert main.main(["status"]) == 70
    told = capsys.readouterr()
    assert f"RuntimeError: it broke over {MARK}" in told.err
    assert TOKEN not in told.out + told.err


@pytest.mark.parametrize("words", [["status"], ["status", "--json"]])
def test_an_error_is_reported_without_secrets(capsys, monkeypatch, words):
    error = HomeError(f"{TOKEN} is no home.", hint=f"Not {TOKEN}.", path=f"/x/{TOKEN}", n=3)
    monkeypatch.setattr(main, "_run", failing(error))
    assert main.main(words) == 3
    told = capsys.readouterr()
    assert TOKEN not in told.out + told.err
    assert MARK in told.out + told.err


def test_every_way_to_say_something_is_cleaned(capsys):
    people = Output(json=False, colour=False, live=False)
    people.say(f"a {TOKEN}", "b")
    people.exact(f"c {TOKEN}\n")
    people.note(f"d {TOKEN}")
    machine = Output(json=True, colour=False, live=False)
    machine.object({"e": TOKEN, "token": 1, "list": [f"f {TOKEN}"]})
    told = capsys.readouterr()
    *lines, last = told.out.splitlines()
    assert lines == [f"a {MARK}", "b", f"c {MARK}"]
    assert json.loads(last) == {"e": MARK, "token": 1, "list": [f"f {MARK}"]}
    assert told.err == f"d {MARK}\n"
