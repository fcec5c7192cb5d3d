"""The dialogues by which the extraction is judged are sound: without a model the plain ones pass."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.cli import ROOT

pytestmark = pytest.mark.slow


def test_the_engine_without_a_model_passes_the_dialogues_that_are_plain():
    done = subprocess.run(
        [sys.executable, "-m", "quality_decisions", "--engine", "rules"],
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
    assert "1 of 1 as they should be" in done.stdout
