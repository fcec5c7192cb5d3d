"""What git or another run takes away while it is looked at is simply not there any more."""

from __future__ import annotations

from typing import Any

import pytest

from reflector.vcs.expunge import written_since
from reflector.vcs.reads import Reads
from tests.support.repos import Repo, fresh

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "repo")


class Late:
    """A repository whose list of refs is a moment old."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def raw_listall_references(self) -> list[bytes]:
        return [b"refs/heads/memory/gone", *self._real.raw_listall_references()]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_ref_that_goes_while_refs_are_listed_is_none(repo):
    with Reads(repo.path) as reads:
        expected = reads.refs()
        real: Any = reads
        real._repository, kept = Late(real._repository), real._repository
        try:
            assert reads.refs() == expected
        finally:
            real._repository = kept
    assert expected


def test_a_folder_of_objects_that_is_packed_away_holds_none(repo):
    before = written_since(repo.path / ".git", 0)
    folders = ((repo.path / ".git" / "objects" / f"{byte:02x}") for byte in range(256))
    empty = next(folder for folder in folders if not folder.exists())
    empty.symlink_to("packed-away", target_is_directory=True)
    assert written_since(repo.path / ".git", 0) == before
    assert before
