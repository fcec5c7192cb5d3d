"""The dialogues by which a persona is judged are sound: the engine without a model passes its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.cli import ROOT

pytestmark = pytest.mark.slow


def test_the_engine_without_a_model_passes_the_dialogues_that_are_plain():
    done = subprocess.run(
        [sys.executable, "-m", "quality_runs", "--engine", "rules"],
        cwd=ROOT,
        env={
            "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT}",
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 as they should be" in done.stdout
