"""How the end of a run is said to a person."""

from __future__ import annotations

import pytest

from reflector.core.run import Outcome, Phase, Reason, Request, Run, Settlement
from reflector.surface.cli.pointers import ended, outcome


def a_run(settlement: Settlement | None) -> Run:
    request = Request("reflection", "manual", "cli", 30, "rules")
    phase = Phase.COMPLETED if settlement else Phase.RUNNING
    at = "2026-11-30T12:00:00.000Z"
    return Run("r", "reflection", "memory", request, phase, (), at, settlement=settlement)


@pytest.mark.parametrize(
    ("settlement", "short", "whole"),
    [
        (None, "running", "running"),
        (Settlement(Outcome.MERGED), "merged", "merged"),
        (Settlement(Outcome.FAILED, Reason.AUTH), "failed", "failed (auth)"),
        (Settlement(Outcome.CANCELLED, Reason.INTERRUPTED), "stopped", "stopped"),
        (Settlement(Outcome.CANCELLED), "not started", "not started"),
    ],
)
def test_a_run_that_was_stopped_or_never_begun_does_not_read_like_a_failure(
    settlement, short, whole
):
    assert (outcome(a_run(settlement)), ended(a_run(settlement))) == (short, whole)


@pytest.mark.parametrize("each", [one for one in Outcome if one is not Outcome.CANCELLED])
def test_every_other_outcome_is_said_by_its_own_word(each):
    assert outcome(a_run(Settlement(each))) == each.value
