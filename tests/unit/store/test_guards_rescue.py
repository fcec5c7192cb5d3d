"""A damaged database that somebody has open stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.core.errors import BusyError
from reflector.store.rescue import move_aside_if_damaged
from tests.support.clocks import ambient
from tests.support.journals import append, journal_in, talk


def damage(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(b"damaged" * 10)


def test_a_damaged_database_is_not_moved_while_somebody_has_it_open(tmp_path):
    path = tmp_path / "state.db"
    with journal_in(tmp_path) as state:
        append(state, talk(1))
        damage(path)
        with pytest.raises(BusyError):
            move_aside_if_damaged(path, ambient())
        assert not list(tmp_path.glob("*corrupt*"))
    damage(path)  # whoever had it open has written its pages back
    aside = move_aside_if_damaged(path, ambient())
    assert aside is not None
    assert aside.read_bytes().startswith(b"damaged")
