"""Times as they are typed, read as the journal writes them."""

from __future__ import annotations

import argparse

import pytest

from reflector.core.ambient import instant, system
from reflector.surface.cli.numbers import moment


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-11-30", "2026-11-30T00:00:00.000Z"),
        ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00.000Z"),
        ("2026-11-30T08:00:00+02:00", "2026-11-30T06:00:00.000Z"),
    ],
)
def test_a_time_is_read_in_utc_unless_it_says_otherwise(typed, meant):
    assert moment(typed) == meant


def test_a_time_can_be_so_long_ago():
    ago = system().clock.now() - instant(moment("7d"))
    assert 6.9 < ago.total_seconds() / 86_400 < 7.1


@pytest.mark.parametrize("typed", ["", "yesterday", "7y", "99999w", "2026-13-01", "d"])
def test_anything_else_is_refused(typed):
    with pytest.raises(argparse.ArgumentTypeError):
        moment(typed)
