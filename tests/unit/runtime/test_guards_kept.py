"""How long a tip waits to be merged before its rows are read again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.core.run import Outcome, Settlement
from reflector.runtime.kept import _given_up
from tests.support.clocks import FakeClock, ambient
from tests.support.guarded import born, waiting

DAY = 24 * 60 * 60


@pytest.mark.parametrize(
    ("days", "outcome"), [(13, Outcome.PARENT_DIRTY), (14, Outcome.MERGE_CONFLICT)]
)
def test_a_tip_that_cannot_be_merged_waits_for_two_weeks(tmp_path, days, outcome):
    clock = FakeClock()
    clock.sleep(days * DAY)
    with waiting(born(tmp_path)) as found:
        late = replace(found.bench.context, ambient=ambient(clock))
        bench, end = replace(found.bench, context=late), Settlement(Outcome.PARENT_DIRTY)
        assert _given_up(bench, found.work.run, end).outcome is outcome
