"""What a sweep must leave alone."""

from __future__ import annotations

from reflector.core.sweep import DAY, GRACE_SECONDS, Leftover, select

OLD = 365.0 * DAY


def swept(*found: Leftover, live: frozenset[str] = frozenset()) -> list[str]:
    return [each.target for each in select(found, live)]


def test_nothing_of_a_live_run_is_swept_however_old():
    mine, other = Leftover("worktree", "a", "live", OLD), Leftover("worktree", "b", "dead", OLD)
    assert swept(mine, other, live=frozenset({"live"})) == ["b"]
    assert swept(Leftover("registration", "a", "live", OLD), live=frozenset({"live"})) == []


def test_nothing_young_is_swept_but_a_registration_whose_folder_is_gone():
    young = GRACE_SECONDS - 1
    assert swept(Leftover("folder", "a", "", young), Leftover("branch", "b", "", young)) == []
    assert swept(Leftover("registration", "c", "", 0)) == ["c"]


def test_what_is_kept_on_purpose_is_kept_for_its_time():
    assert swept(Leftover("ref", "r", "dead", 13.0 * DAY)) == []
    assert swept(Leftover("run_folder", "f", "dead", 89.0 * DAY)) == []
    assert swept(Leftover("ref", "r", "dead", OLD, needed=True)) == []
    assert swept(Leftover("ref", "r", "dead", OLD)) == ["r"]


def test_worktrees_go_before_the_branches_that_they_hold():
    branch, tree = Leftover("branch", "b", "dead", OLD), Leftover("worktree", "w", "dead", OLD)
    assert swept(branch, tree) == ["w", "b"]
