"""What keeps a validated tip out of main when it must not go there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.core.errors import BusyError
from reflector.core.run import Outcome, Reason
from reflector.runtime.bench import failed
from reflector.runtime.integration import integrate
from reflector.store import reservations
from reflector.store.locks import Lock
from tests.support.clocks import ambient
from tests.support.guarded import NEW, born, waiting
from tests.support.journals import OTHER

TOKEN = "ghp_" + "A1b2C3d4E5" * 4


@pytest.fixture
def guarded_run(tmp_path):
    with waiting(born(tmp_path)) as found:
        yield found


def test_a_validated_tip_is_merged(guarded_run):
    end = integrate(guarded_run.bench, guarded_run.work)
    assert (end.outcome, end.merge_commit) == (Outcome.MERGED, guarded_run.repo.sha("main"))


def test_a_run_that_somebody_else_took_over_is_not_merged(guarded_run):
    base = guarded_run.repo.sha("main")
    reservations.adopt(guarded_run.bench.state, guarded_run.work.run.id, OTHER)
    with pytest.raises(BusyError):
        integrate(guarded_run.bench, guarded_run.work)
    assert guarded_run.repo.sha("main") == base
    assert guarded_run.repo.status() == ""


def test_the_sha_of_a_merge_is_in_the_ledger_before_main_moves(guarded_run):
    saved = []

    note = reservations.note

    def watching(state, run_id, token, phase, **values):
        if "merge_commit" in values:
            saved.append((values["merge_commit"], guarded_run.repo.sha("main")))
        note(state, run_id, token, phase, **values)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reservations, "note", watching)
        end = integrate(guarded_run.bench, guarded_run.work)
    assert saved == [(end.merge_commit, guarded_run.work.base)]


def test_nobody_merges_while_somebody_writes_the_memory(guarded_run):
    memory = guarded_run.bench.context
    writing = Lock(memory.agent.lock("memory"))
    assert writing.take()
    impatient = replace(guarded_run.bench, context=replace(memory, ambient=ambient()))
    with pytest.raises(BusyError, match="writing this memory"):
        integrate(impatient, guarded_run.work)
    writing.release()
    assert guarded_run.repo.sha("main") == guarded_run.work.base


def test_a_merge_with_a_main_that_moved_is_judged_before_it_lands(guarded_run):
    (text,) = NEW.values()
    ours = guarded_run.repo.commit({"reference/NEW.md": text})
    end = integrate(guarded_run.bench, guarded_run.work)
    assert end.outcome is Outcome.MERGE_CONFLICT
    assert "collides" in end.detail
    assert guarded_run.repo.sha("main") == ours


def test_a_tip_that_cannot_be_merged_now_is_kept(guarded_run):
    guarded_run.repo.write({"reference/new.md": "mine\n"})
    end = integrate(guarded_run.bench, guarded_run.work)
    assert end.outcome is Outcome.PARENT_DIRTY
    assert end.kept_ref is not None
    assert guarded_run.repo.sha(end.kept_ref) == guarded_run.work.tip
    assert (guarded_run.repo.path / "reference/new.md").read_text() == "mine\n"


def test_the_detail_of_a_failure_holds_no_secret():
    assert TOKEN not in failed(Reason.ENGINE_ERROR, f"401 for {TOKEN}").detail
