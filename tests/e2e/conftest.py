"""What the tests of the whole command share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
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
def born(newborn: Path, tmp_path: Path) -> Callable[..., Cli]:
    """Make the command with a home that `init` made, and an environment of its own."""

    def make(**environ: str) -> Cli:
        home = tmp_path / "home"
        shutil.copytree(newborn, home, symlinks=True, ignore=shutil.ignore_patterns("block"))
        found = context(str(home))
        # What tells of the place where it lies.
        launcher.write(found.home)
        block_cache.refresh(found)
        return Cli(home, **environ)

    return make


@pytest.fixture
def cli(born: Callable[..., Cli]) -> Cli:
    """The command with a home that `init` made."""
    return born()
