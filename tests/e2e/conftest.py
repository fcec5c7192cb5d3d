"""What the tests of the whole command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command with a home that `init` made."""
    made = Cli(tmp_path / "home")
    assert made("init").code == 0
    return made
