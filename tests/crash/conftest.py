"""One nursery and one finished home for all processes that die here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deaths import Mortal, copied, guarded, made
from tests.support.kill_at import Nursery, opened


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with opened() as born:
        yield born


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Mortal:
    with guarded():
        return made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def mortal(tmp_path: Path, first: Mortal) -> Mortal:
    return copied(first, tmp_path)
