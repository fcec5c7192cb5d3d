"""One nursery and one finished home for all processes that die here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deaths import Mortal, copied, made
from tests.support.kill_at import Nursery, opened


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with opened() as born:
        yield born


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Mortal:
    with pytest.MonkeyPatch.context() as patch:
        # Fixtures of a session begin before the guards of the first test do.
        patch.delenv("REFLECTOR_TEST_DEEP", raising=False)
        return made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def mortal(tmp_path: Path, first: Mortal) -> Mortal:
    return copied(first, tmp_path)
