"""The sample home: made by the product itself, whole, and with everything in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.auditor import rows
from tests.support.cli import ROOT, Cli, git

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sample") / "made"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.parent),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}",
    }
    python = [sys.executable, "-m", "sample.home", str(place)]
    done = subprocess.run(python, env=environ, capture_output=True, check=False, timeout=50)
    assert done.returncode == 0, done.stderr.decode()
    return place


def test_it_holds_what_a_long_used_home_does(folder):
    cli = Cli(folder / "home")
    files = git(cli.repo, "ls-tree", "-r", "--name-only", "main").split()
    assert sum(name.endswith(".md") for name in files) >= 60
    assert len({name.split("/")[1] for name in files if name.startswith("projects/")}) == 3
    assert sum(name.endswith("SKILL.md") for name in files) >= 5
    outcomes = rows(
        cli.repo.parent / "state.db", "SELECT outcome FROM runs ORDER BY reserved_at, rowid"
    )
    assert [row[0] for row in outcomes] == ["merged", "merged", "no_changes", "merged", "merged"]
    assert "Reflector-Undo" in git(cli.repo, "log", "main")
    for memory in ("home/MEMORY.md", "project/.reflector/MEMORY.md"):
        assert (folder / memory).read_text("utf-8").startswith("# Memory\n")


def test_it_is_sound(folder):
    cli = Cli(folder / "home")
    assert cli("memory", "lint", "--json").json["findings"] == []
    assert cli("doctor", "--json").json["ok"] is True
    assert git(cli.repo, "status", "--porcelain") == ""
    assert git(cli.repo, "fsck", "--strict") == ""


def test_a_folder_that_exists_is_left_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sample.home", str(tmp_path)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"},
        capture_output=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
