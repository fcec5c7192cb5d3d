"""A run is judged by the share of the block that the settings leave to the system tier."""

from __future__ import annotations

import pytest

from reflector.agent.engine import Update
from reflector.core.ambient import system
from reflector.core.errors import DocumentError
from reflector.runtime.child import WorktreeCommit, _system_left
from reflector.runtime.integration import scope
from reflector.runtime.wiring import context
from reflector.vcs import worktree
from tests.support.guarded import born, waiting
from tests.support.payloads import payload
from tests.support.repos import RUN, Repo, door, fresh


def test_a_run_is_judged_by_the_tiers_share_of_the_settings(tmp_path):
    memory = born(tmp_path)
    with waiting(memory) as found:
        assert scope(memory, found.bench.state, found.work.run).system_tokens == 900
        (memory.home.path / "config.toml").write_text("[prompt]\nbudget_tokens = 1000\n", "utf-8")
        again = context(str(memory.home.path))
        assert scope(again, found.bench.state, found.work.run).system_tokens == 450


SAID = Update("system/house.md: the rules of the house", ("said",))


def test_an_engine_hears_of_a_full_tier_before_it_finishes(tmp_path):
    repo = fresh(tmp_path / "memory", {"system/a.md": "---\ndescription: a\n---\n- one\n"})
    place = worktree.planned(repo.path, tmp_path / "worktrees", 1, RUN, repo.sha())
    worktree.create(door(repo), place)
    told = payload(repo, place, user_entries=("said",), system_tokens=100)
    commit = WorktreeCommit(told, place, system())
    left = _system_left(told, place)
    assert left is not None
    assert 50 < left < 100
    assert _system_left(payload(repo, place, system_tokens=0), place) is None
    long = "---\ndescription: the house\n---\n" + "- a rule of this house\n" * 40
    Repo(place.path).write({"system/house.md": long})
    with pytest.raises(DocumentError, match="more than 100; merge, demote or archive"):
        commit("feat", "the house", [SAID])
    Repo(place.path).write({"system/house.md": long[:80] + "\n"})
    assert commit("feat", "the house", [SAID])
