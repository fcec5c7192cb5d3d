"""What `reflector runs` says of runs that did nothing."""

from __future__ import annotations

import json

import pytest

from reflector.core.run import Request
from reflector.core.schedule import Asked
from reflector.store import scheduling
from reflector.surface.cli.main import main
from tests.support.clocks import WHEN
from tests.support.scenes import Scene

REQUEST = Request("reflection", "step-count", "hook", 10, "rules")
RUN = "20261130T120000-00000001"


@pytest.fixture
def home(tmp_path):
    scene = Scene(tmp_path)
    with scene.context().state() as state, state.transaction() as connection:
        scheduling.queue(connection, RUN, "reflection", Asked(REQUEST, WHEN, ()))
    return scene


def dropped(scene: Scene) -> None:
    with scene.context().state() as state, state.transaction() as connection:
        scheduling.drop(connection, RUN, "nothing_new", "2026-11-30T12:00:00.000Z")


def test_a_run_that_was_never_begun_is_told_as_no_failure(home, capsys):
    words = ("runs", "--home", str(home.home))
    assert main(words) == 0
    assert "no failure" not in capsys.readouterr().out
    dropped(home)
    assert main(words) == 0
    line, explained = capsys.readouterr().out.splitlines()
    assert line.split()[:4] == [RUN, "reflection", "not", "started"]
    assert "no failure" in explained
    assert main((*words, "--json")) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["outcome"], run["detail"]) == ("cancelled", "Not started: nothing_new.")
