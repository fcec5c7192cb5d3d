"""What the tests of the whole command share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reflector.runtime import block_cache, launcher
from reflector.runtime.wiring import context
from tests.support.cli import Cli


@pytest.fixture(scope="session")
def newborn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that `init` made, to be copied: a command for each test would take longer than it."""
    folder = tmp_path_factory.mktemp("newborn")
    made = Cli(folder / "home", HOME=str(folder))
    assert made("init").code == 0
    return made.home


@pytest.fixture
def cli(newborn: Path, tmp_path: Path) -> Cli:
    """The command with a home that `init` made; what it wrote of its own place is written anew."""
    home = tmp_path / "home"
    shutil.copytree(newborn, home, symlinks=True, ignore=shutil.ignore_patterns("block"))
    found = context(str(home))
    launcher.write(found.home)
    block_cache.refresh(found)
    return Cli(home)
