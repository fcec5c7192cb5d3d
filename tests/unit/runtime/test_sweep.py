"""The sweep over real leftovers. Ages come from the clock and from file times; nobody waits."""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import Ambient, stamp
from reflector.core.run import Outcome, Phase, Reason, Settlement
from reflector.core.sweep import DAY, GRACE_SECONDS, Receipt
from reflector.runtime import log, loop, memory_lock, remains
from reflector.runtime import sweep as module
from reflector.runtime.bench import planned
from reflector.runtime.sweep import sweep, sweep_in_time
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.locks import Lock
from reflector.vcs import worktree
from reflector.vcs.worktree import Worktree
from tests.support.clocks import WHEN, FakeChance, FakeClock
from tests.support.journals import ME, REQUEST
from tests.support.repos import Repo, door
from tests.support.scenes import Scene

HOUR = 3600.0
NEW = {"reference/new.md": "---\ndescription: something new\n---\nnew\n"}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def memory(scene: Scene) -> Context:
    return scene.context()


@pytest.fixture
def repo(memory: Context) -> Repo:
    return Repo(memory.agent.repo)


def later(memory: Context, seconds: float) -> Context:
    """The same memory, so long after everything here was made."""
    clock = Patient(WHEN + timedelta(seconds=seconds))
    return replace(memory, ambient=Ambient(clock, FakeChance()))


class Patient(FakeClock):
    """Waits for others without time passing."""

    def sleep(self, _seconds: float) -> None:
        os.sched_yield()


def swept(memory: Context, seconds: float = HOUR, *, dry_run: bool = False) -> list[Receipt]:
    with log.opened(memory.agent.log) as logger:
        return sweep(later(memory, seconds), logger, dry_run=dry_run)


def kinds(receipts: list[Receipt]) -> list[tuple[str, bool]]:
    return [(each.kind, each.removed) for each in receipts]


def old(place: Path, seconds: float = 0) -> None:
    """Date a file to the clock's first moment, or so long before."""
    then = WHEN.timestamp() - seconds
    os.utime(place, (then, then), follow_symlinks=False)


def run(
    memory: Context,
    repo: Repo,
    outcome: Outcome | None = Outcome.FAILED,
    *,
    files: dict[str, str] | None = None,
    kept: str | None = None,
) -> Worktree:
    """A run at the clock's first moment whose worktree is still there; no outcome: it lives."""
    run_id, base = memory.ambient.run_id(), repo.sha("main")
    at = stamp(WHEN)
    with memory.state() as state:
        with state.transaction() as connection:
            reservations.reserve(connection, run_id, "reflection", REQUEST, (), ME, at)
        place = planned(memory, reservations.find(state.connection, run_id), base)
        move = (Phase.RESERVED, Phase.PROVISIONING)
        reservations.advance(state, run_id, ME.token, *move, branch=place.branch, base=base)
        worktree.create(door(repo), place)
        tip = Repo(place.path).commit(files) if files else base
        if kept:
            repo.git("update-ref", f"refs/reflector/{kept}/{run_id}", tip)
        if outcome is not None:
            ref = f"refs/reflector/{kept}/{run_id}" if kept else None
            end = Settlement(outcome, Reason.SUPERVISOR_DIED, tip=tip, kept_ref=ref)
            reservations.settle(state, run_id, ME.token, end, at)
    memory.agent.run(run_id).mkdir(parents=True)
    old(memory.agent.run(run_id))
    old(place.path)
    return place


def run_id(place: Worktree) -> str:
    return place.path.name.partition("-")[2]


def refs(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname)", "refs/reflector").split()


def closed(repo: Repo, place: Worktree) -> bool:
    """Tell whether nothing of any run is registered or checked out, and this place is gone."""
    known = repo.git("worktree", "list", "--porcelain").count("worktree ")
    branch = repo.git("branch", "--list", "memory/*")
    return (known, branch, place.path.exists(), place.git_dir.exists()) == (1, "", False, False)


# What is never touched


def test_what_lives_or_is_young_is_never_touched(memory, repo):
    living = run(memory, repo, None, files=NEW)
    assert swept(memory, 300 * DAY) == []
    assert living.path.exists()


def test_a_worktree_goes_when_its_grace_is_over_and_not_before(memory, repo):
    place = run(memory, repo)
    assert swept(memory, GRACE_SECONDS - 1) == []
    assert kinds(swept(memory, GRACE_SECONDS)) == [("worktree", True)]
    assert closed(repo, place)


def test_nothing_that_the_ledger_forgot_goes_while_somebody_owns_a_run(memory, repo):
    place = run(memory, repo, files=NEW)
    with memory.state() as state, state.transaction() as connection:
        connection.execute("DELETE FROM runs")
    presence = Lock(memory.agent.lock("run-reflection"))
    assert presence.take()
    assert swept(memory) == []
    presence.release()
    assert kinds(swept(memory)) == [("worktree", True)]
    assert closed(repo, place)


def test_what_a_person_put_there_stays(memory, repo, tmp_path):
    theirs = memory.agent.worktrees / "notes"
    theirs.mkdir()
    old(theirs)
    repo.git("worktree", "add", "-q", "-b", "mine", str(tmp_path / "elsewhere"))
    repo.git("branch", "memory/reflection-of-mine")
    (memory.agent.path / "runs" / "letters").mkdir()
    assert swept(memory, 300 * DAY) == []
    assert theirs.exists()
    assert repo.git("branch", "--list", "memory/*").strip() == "memory/reflection-of-mine"


def test_a_dry_run_changes_nothing(memory, repo):
    run(memory, repo, files=NEW)
    lock = repo.path / ".git" / "index.lock"
    lock.write_text("reflector 20261130T120000-00000001 0123\n", "ascii")  # of a dead one of ours
    before = tree(memory)
    assert kinds(swept(memory, dry_run=True)) == [("worktree", False)]
    assert tree(memory) == before


def tree(memory: Context) -> dict[str, bytes]:
    files = memory.agent.path.rglob("*")
    return {str(file): file.read_bytes() for file in files if file.is_file() and not db(file)}


def db(file: Path) -> bool:
    return file.name.startswith("state.db") or file.suffix == ".log"


# What goes, and how nothing is lost with it


def test_f30_registrations_whose_folders_are_gone_go_at_once_and_free_their_branches(memory, repo):
    places = [run(memory, repo, files=NEW) for _ in range(5)]
    for place in places:
        shutil.rmtree(place.path)
    assert kinds(swept(memory, 0)) == [("registration", True)] * 5
    assert all(closed(repo, place) for place in places)
    assert len(refs(repo)) == 5


def test_f32_a_folder_that_nobody_registered_is_set_aside(memory, repo):
    place = run(memory, repo)
    shutil.rmtree(place.git_dir)
    assert kinds(swept(memory)) == [("folder", True), ("branch", True)]
    assert closed(repo, place)
    aside = memory.agent.run(run_id(place)) / "scratch" / place.path.name
    assert (aside / "system" / "human.md").exists()


def test_a_worktree_whose_link_is_broken_goes_and_its_files_are_set_aside(memory, repo):
    place = run(memory, repo, files=NEW)
    (place.path / ".git").unlink()
    old(place.path)
    assert kinds(swept(memory)) == [("worktree", True)]
    assert closed(repo, place)
    aside = memory.agent.run(run_id(place)) / "scratch" / place.path.name
    assert (aside / "reference" / "new.md").exists()


def test_f36_f37_the_tip_of_an_unmerged_worktree_is_kept_and_named(memory, repo):
    place = run(memory, repo, files=NEW)
    tip = repo.sha(place.branch)
    (receipt,) = swept(memory)
    ref = f"refs/reflector/backup/{run_id(place)}"
    assert (receipt.removed, receipt.detail) == (True, ref)
    assert repo.sha(ref) == tip
    with memory.state() as state:
        settled = reservations.find(state.connection, run_id(place)).settlement
    assert settled is not None
    assert settled.kept_ref == ref


def test_f36_f38_f39_loose_files_of_every_kind_are_set_aside(memory, repo):
    place = run(memory, repo)
    tree = Repo(place.path)
    (place.git_dir / "info").mkdir(exist_ok=True)
    tree.write(
        {
            "loose.txt": "untracked",
            "system/human.md": "changed",
            "staged.txt": "staged",
            ".gitignore": "*.state\n",
            "deep/down/ignored.state": "ignored",
        }
    )
    tree.git("add", "staged.txt", ".gitignore")
    old(place.path)
    assert kinds(swept(memory)) == [("worktree", True)]
    assert closed(repo, place)
    scratch = memory.agent.run(run_id(place)) / "scratch"
    assert {
        str(file.relative_to(scratch)): file.read_text("utf-8")
        for file in scratch.rglob("*")
        if file.is_file() and file.name != ".gitignore"
    } == {
        "loose.txt": "untracked",
        "system/human.md": "changed",
        "staged.txt": "staged",
        "deep/down/ignored.state": "ignored",
    }


def test_f55_one_leftover_that_cannot_go_keeps_no_other(memory, repo, monkeypatch):
    places = [run(memory, repo, files=NEW) for _ in range(3)]
    close = worktree.close

    def stuck(git, place, expected):
        if place.path == places[1].path:
            raise OSError("Device or resource busy")
        close(git, place, expected)

    with monkeypatch.context() as patch:
        patch.setattr(worktree, "close", stuck)
        receipts = swept(memory)
    assert kinds(receipts) == [("worktree", True), ("worktree", False), ("worktree", True)]
    assert "busy" in receipts[1].detail
    old(places[1].path)
    assert kinds(swept(memory)) == [("worktree", True)]
    assert closed(repo, places[1])


def test_a_branch_without_a_worktree_goes_and_its_tip_is_kept(memory, repo):
    place = run(memory, repo, files=NEW)
    tip = repo.sha(place.branch)
    repo.git("worktree", "remove", "--force", str(place.path))
    assert kinds(swept(memory)) == [("branch", True)]
    assert repo.sha(refs(repo)[0]) == tip


def test_a_registration_of_which_only_a_part_is_left_goes(memory, repo):
    place = run(memory, repo)
    shutil.rmtree(place.path)
    (place.git_dir / "gitdir").unlink()
    assert kinds(swept(memory)) == [("registration", True)]
    assert closed(repo, place)


# Containment


def test_a_link_in_the_place_of_a_worktree_leads_nowhere(memory, repo, tmp_path):
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "gold").write_text("gold", "utf-8")
    place = run(memory, repo)
    shutil.rmtree(place.path)
    place.path.symlink_to(treasure)
    stray = memory.agent.worktrees / "20260101-20260101T000000-00000001"
    stray.symlink_to(treasure)
    for link in (place.path, stray):
        old(link)
    receipts = swept(memory)
    assert {each.target for each in receipts if not each.removed} == {place.path.name, stray.name}
    assert (treasure / "gold").read_text("utf-8") == "gold"


@pytest.mark.parametrize("name", ["runs", "worktrees"])
def test_a_folder_that_was_replaced_by_a_link_is_not_swept(memory, tmp_path, name):
    inside = "20260101T000000-00000001"
    treasure = tmp_path / "treasure" / (inside if name == "runs" else f"20260101-{inside}")
    treasure.mkdir(parents=True)
    (treasure / "gold").write_text("gold", "utf-8")
    old(treasure, 365 * DAY)
    (memory.agent.path / name).rmdir()
    (memory.agent.path / name).symlink_to(treasure.parent)
    assert [each.removed for each in swept(memory)] == [False]
    assert (treasure / "gold").read_text("utf-8") == "gold"


def test_folders_that_are_missing_are_empty(memory):
    for name in ("runs", "worktrees"):
        (memory.agent.path / name).rmdir()
    assert swept(memory) == []


# Retention


def test_run_folders_are_kept_for_ninety_days(memory, repo):
    place = run(memory, repo)
    swept(memory)
    folder = memory.agent.run(run_id(place))
    (folder / "payload.json").write_text("{}", "utf-8")
    old(folder)
    assert swept(memory, 90 * DAY) == []
    assert kinds(swept(memory, 90 * DAY + GRACE_SECONDS)) == [("run_folder", True)]
    assert not folder.exists()


def test_backups_are_kept_for_fourteen_days_and_then_named_no_longer(memory, repo):
    place = run(memory, repo, files=NEW)
    swept(memory)
    assert swept(memory, 14 * DAY) == []
    assert kinds(swept(memory, 14 * DAY + GRACE_SECONDS)) == [("ref", True)]
    assert refs(repo) == []
    with memory.state() as state:
        settled = reservations.find(state.connection, run_id(place)).settlement
    assert settled is not None
    assert settled.kept_ref is None


@pytest.mark.parametrize(
    ("outcome", "kind"), [(Outcome.PARENT_DIRTY, "kept"), (Outcome.AWAITING_REVIEW, "review")]
)
def test_a_tip_that_waits_to_be_merged_or_reviewed_stays(memory, repo, outcome, kind):
    place = run(memory, repo, outcome, files=NEW, kept=kind)
    swept(memory)
    assert refs(repo) == [f"refs/reflector/{kind}/{run_id(place)}"]
    swept(memory, 60 * DAY)
    assert refs(repo) == [f"refs/reflector/{kind}/{run_id(place)}"]


def test_a_ref_that_its_run_names_no_longer_goes_if_its_tip_is_in_main(memory, repo):
    place = run(memory, repo, Outcome.MERGED, files=NEW)
    tip, ref = repo.sha(place.branch), f"refs/reflector/kept/{run_id(place)}"
    repo.git("update-ref", ref, tip)
    assert kinds(swept(memory)) == [("worktree", True), ("stray_ref", True)]
    assert refs(repo) == [ref]  # it is not in main: its run names it again
    with memory.state() as state:
        reservations.name_kept(state, run_id(place), None)
    repo.git("merge", "-q", "--no-ff", "-m", "home", tip)
    assert kinds(swept(memory)) == [("stray_ref", True)]
    assert refs(repo) == []


TEMPORARY = [
    *("repo/.git/reflector-x.index", "repo/.git/objects/ab/tmp_obj_x", "runs/x/out/.r.json.1.tmp"),
    *("diary/.git/reflector-x.index", "diary/.git/objects/ab/tmp_obj_x", ".block.1.tmp"),
]


@pytest.mark.parametrize("name", TEMPORARY)
def test_a_file_that_was_to_be_renamed_goes_when_its_grace_is_over(memory, name):
    file = memory.agent.path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"half")
    old(file)
    assert swept(memory, GRACE_SECONDS - 1) == []
    assert [(each.kind, each.target) for each in swept(memory)] == [("temporary", name)]
    assert not file.exists()


# When


def test_a_supervisor_sweeps_once_an_hour(memory, repo):
    def in_time(seconds: float) -> list[tuple[str, bool]]:
        with log.opened(memory.agent.log) as logger:
            return kinds(sweep_in_time(later(memory, seconds), logger))

    run(memory, repo)
    assert in_time(HOUR) == [("worktree", True)]
    run(memory, repo)
    assert in_time(2 * HOUR - 1) == []
    assert in_time(2 * HOUR) == [("worktree", True)]
    run(memory, repo)
    assert in_time(-2 * HOUR) == []  # set back: nothing is old by this clock, and it is noted
    assert in_time(HOUR) == [("worktree", True)]


def test_a_detached_supervisor_sweeps_when_its_work_is_done(scene, memory, repo):
    place = run(memory, repo, files=NEW)
    old(place.path, 365 * DAY)  # by the clock of the machine
    assert loop.main([str(scene.home), "default"]) == 0
    assert closed(repo, place)


# Many, and two at once


def test_two_sweeps_at_once_remove_each_leftover_once(memory, repo):
    places = [run(memory, repo, files=NEW) for _ in range(8)]
    done: list[list[Receipt]] = []
    both = [threading.Thread(target=lambda: done.append(swept(memory))) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert all(each.removed for receipts in done for each in receipts)
    assert all(closed(repo, place) for place in places)
    assert len(refs(repo)) == 8


def test_what_goes_while_a_sweep_looks_is_no_trouble(memory, repo, monkeypatch):
    place = run(memory, repo)
    shutil.rmtree(place.git_dir)
    look = remains.remains

    def slow(context, state):
        seen = look(context, state)
        shutil.rmtree(place.path)
        return seen

    monkeypatch.setattr(module, "remains", slow)
    receipts = swept(memory)
    assert receipts[0] == Receipt("folder", place.path.name, removed=True, detail="gone already")


@pytest.mark.slow
def test_a_thousand_leftovers_go_and_the_lock_is_let_go_in_between(memory, repo, monkeypatch):
    template = run(memory, repo)
    for number in range(1000):
        name = f"20260101-20260101T000000-{number:08x}"
        shutil.copytree(template.git_dir, template.git_dir.with_name(name))
        git_dir = template.git_dir.with_name(name)
        (git_dir / "gitdir").write_text(f"{memory.agent.worktrees / name}/.git\n", "utf-8")
    taken = 0
    lock = memory_lock.memory_write

    def counted(context):
        nonlocal taken
        taken += 1
        return lock(context)

    monkeypatch.setattr(module, "memory_write", counted)
    receipts = swept(memory)
    assert len(receipts) == 1001
    assert all(each.removed for each in receipts)
    assert taken > 20
    assert closed(repo, template)
