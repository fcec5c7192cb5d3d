"""Eight processes on one identity at once, judged by who knows nothing of the product."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from tests.race.child import NUMBER
from tests.race.partners import PERSON, Judge, partner
from tests.race.workers import CHILD
from tests.support.auditor import audit, rows
from tests.support.cli import ROOT
from tests.support.scenes import Scene, outcomes

pytestmark = [pytest.mark.race, pytest.mark.slow]

DEEP = "REFLECTOR_TEST_DEEP" in os.environ
RUNS = 200 if DEEP else 30
SECONDS = 800 if DEEP else 150
SEED = os.environ.get("REFLECTOR_TEST_SEED", "1")
WORKERS = Path(__file__).with_name("workers.py")
TEAM = ("appends", "appends", "settles", "settles", "reflects", "sweeps", "prunes")
CONFIG = """
[trigger]
step_count = 1
[snapshot]
max_bytes = 500
[run]
max_bytes = 700
[prompt]
budget_tokens = 50000
max_chars = 200000
"""
"""The lessons go where all are always shown, and there are many."""


def start(role: str, number: int, home: Path, folder: Path) -> subprocess.Popen[bytes]:
    environ = {name: os.environ[name] for name in os.environ if name.startswith(("GIT_", "PATH"))}
    return subprocess.Popen(
        [sys.executable, str(WORKERS), role, str(home), str(folder), str(number)],
        env={**environ, "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )


def settled(home: Path) -> int:
    (agent,) = (home / "agents").iterdir()
    return int(rows(agent / "state.db", "SELECT count(*) n FROM runs WHERE ended_at <> ''")[0]["n"])


def race(scene: Scene, person: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Let everybody work until there were enough runs; return what they say."""
    folder = scene.folder
    (folder / "wanted").write_text(str(RUNS), "ascii")
    team = [start(role, n + 1, scene.home, folder) for n, role in enumerate(TEAM)]
    believed: dict[str, Any] = {}
    number = 0
    while settled(scene.home) < RUNS and all(each.poll() is None for each in team):
        for word in (f"act {number}", "tidy"):
            person.ask(word)
            believed = person.answer()
        number += 1
        select.select([], [], [], 0.2)
    (folder / "stop").touch()
    ends = [each.communicate()[0] for each in team]
    assert all(ends), [each.returncode for each in team]
    person.ask("finish")
    return [json.loads(end) for end in ends], person.answer() or believed


@pytest.mark.timeout(SECONDS)
def test_eight_processes_on_one_identity_lose_and_double_nothing(tmp_path):
    scene = Scene(tmp_path, CONFIG)
    judge = Judge(scene.repo)
    print(f"seed {SEED}, at least {RUNS} runs")
    with ExitStack() as stack:
        person = stack.enter_context(partner(PERSON, scene.repo, SEED))
        said, believed = race(scene, person)
    wrong = [each for one in said for each in one["wrong"]]
    assert not wrong, wrong
    while outcomes(reflect(scene.context(), Options(), Quiet(), CHILD).runs):
        pass
    judge.lessons = lessons(tmp_path)
    assert not list(judge.wrong(believed))
    audit(scene.home, transcripts=sorted(tmp_path.glob("talk-*.jsonl")))
    print(dict(sum((Counter(one["done"]) for one in said), Counter())))


def lessons(folder: Path) -> set[int]:
    """Return the number of every lesson that was said."""
    texts = "".join(place.read_text("utf-8") for place in folder.glob("talk-*.jsonl"))
    return {int(found) for found in NUMBER.findall(texts)}
