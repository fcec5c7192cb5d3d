"""Every benchmark runs at toy size and prints its table. No figure is judged here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "runs",
    "git_work",
    "journaling",
    "backfill",
    "hooks",
    "events",
    "startup",
    "redaction",
    "memory",
    "models",
    "compile",
    "decisions",
    "diary",
    "recall",
    "index",
)


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    paths = f"{ROOT / 'scripts'}:{ROOT}"
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_at_toy_size_and_prints_its_table(name):
    done = bench("--quick", name)
    assert (done.returncode, done.stderr) == (0, "")
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert any(line.startswith("| what ") for line in table)
    assert "broken" not in done.stdout
    assert " at /" in done.stdout.splitlines()[0]


def test_an_unknown_name_is_refused_with_the_list_of_all():
    done = bench("nothing")
    assert done.returncode == 2
    assert f"there is no benchmark nothing; there are {', '.join(NAMES)}" in done.stderr
