"""A run moves through a small table, and its end means one thing."""

from __future__ import annotations

import pytest

from reflector.core.machine import MANUAL, SLOT, manual
from reflector.core.run import (
    NEXT,
    Outcome,
    Phase,
    Request,
    Run,
    Settlement,
    advances,
    consumes,
    exit_code,
)

_ORDER = [*Phase]


@pytest.mark.parametrize("now", Phase)
@pytest.mark.parametrize("then", Phase)
def test_a_run_moves_to_the_next_phase_and_to_no_other(now, then):
    assert advances(now, then) == (_ORDER.index(then) == _ORDER.index(now) + 1)


def test_every_phase_stands_in_the_table_in_the_order_of_the_design():
    assert set(NEXT) == set(Phase)
    assert [each.value for each in Phase] == [
        "reserved",
        "provisioning",
        "running",
        "validating",
        "integrating",
        "integrated",
        "completed",
    ]


@pytest.mark.parametrize("outcome", Outcome)
def test_only_merged_no_changes_and_awaiting_review_consume(outcome):
    assert consumes(outcome) == (outcome in {"merged", "no_changes", "awaiting_review"})


@pytest.mark.parametrize(
    ("code", "outcomes"),
    [
        (0, {"merged", "no_changes", "dry_run", "rejected"}),
        (1, {"failed", "timed_out", "merge_conflict", "dirty_uncommitted"}),
        (4, {"parent_dirty", "awaiting_review"}),
        (130, {"cancelled"}),
    ],
)
def test_an_outcome_has_the_exit_code_that_the_table_of_commands_promises(code, outcomes):
    assert {each.value for each in Outcome if exit_code(each) == code} == outcomes


def test_a_run_has_an_outcome_once_it_is_settled():
    request = Request("reflection", "manual", "cli", 30, "rules")
    run = Run("r", "reflection", "memory", request, Phase.RESERVED, (), "2026-11-30T12:00:00.000Z")
    assert run.outcome is None
    settled = Run(
        "r",
        "reflection",
        "memory",
        request,
        Phase.COMPLETED,
        (),
        run.reserved_at,
        settlement=Settlement(Outcome.MERGED),
    )
    assert settled.outcome is Outcome.MERGED


def test_what_a_person_asks_for_has_the_priority_of_a_person_and_the_slot_of_its_pipeline():
    asked = manual(origin="cli", engine="rules", focus="tests", dry_run=True)
    assert asked == Request(
        "reflection", "manual", "cli", MANUAL, "rules", focus="tests", dry_run=True
    )
    assert MANUAL == 30
    assert SLOT[asked.pipeline] == SLOT["dream"] == "reflection"
