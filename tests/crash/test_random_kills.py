"""Processes killed at random moments, round after round: only with REFLECTOR_TEST_DEEP=1."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time

import pytest

from tests.support.cli import Cli
from tests.support.deaths import Mortal, copied
from tests.support.detached import detached, rest
from tests.support.transcripts import extend

pytestmark = [pytest.mark.crash, pytest.mark.slow]

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
ROUNDS, KILLS, MINUTES = 20, 10, 20
LONGEST = 2.4
WORDS = (
    ("reflect",),
    ("supervise", "--once"),
    ("event", "settled"),
    ("reflect", "--max-runs", "1"),
)


def kill_at_random(mortal: Mortal, chance: random.Random) -> bool:
    """Start a command and kill it and what it detached, wherever they are; tell if any lived."""
    process = Cli(mortal.home).start(*chance.choice(WORDS))
    try:
        process.communicate(timeout=chance.uniform(0, LONGEST))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    chosen = detached(mortal.home) if chance.random() < 0.8 else []
    for pid in chosen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(chosen)


@pytest.mark.skipif(not DEEP, reason="many rounds: set REFLECTOR_TEST_DEEP=1")
@pytest.mark.timeout((MINUTES + 2) * 60)
def test_two_hundred_random_kills_lose_and_double_nothing(first, tmp_path, capsys):
    began, lessons = time.monotonic(), 0
    for seed in range(ROUNDS):
        if time.monotonic() - began > MINUTES * 60:
            break
        chance, mortal = random.Random(seed), copied(first, tmp_path / f"{seed}")
        texts, killed = [], 0
        for number in range(KILLS):
            texts.append(f"I prefer tool{seed}x{number} over the old one.")
            extend(mortal.folder / "talk.jsonl", texts[-1], "Noted.")
            Cli(mortal.home)("ingest", mortal.folder / "talk.jsonl")
            killed += kill_at_random(mortal, chance)
        rest(mortal.home)
        runs = [*mortal.recovered("event"), *mortal.recovered("reflect")]
        lessons += len(texts)
        with capsys.disabled():
            print(f"seed {seed}: {killed} of {KILLS} killed alive, {len(runs)} runs at the end")
        mortal.judge_all(*texts)
    with capsys.disabled():
        print(f"{seed + 1} rounds, {lessons} lessons, {time.monotonic() - began:.0f} s")
