"""Faults of a real machine: disks that are full or read-only, folders that are locked, clocks that
jump, processes that stop, hang or stay, and locks that somebody left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.ambient import Ambient
from reflector.core.errors import ReflectorError
from reflector.core.run import Outcome, Reason, Run
from reflector.core.schedule import Settled
from reflector.runtime import launch, log, supervisor
from reflector.runtime.front import handle
from reflector.runtime.loop import REFLECTION, Quiet, drain
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.sweep import sweep
from reflector.vcs import porcelain
from tests.support.auditor import processes, rows
from tests.support.deaths import LESSON, TURN, Mortal, aged, copied, guarded, made
from tests.support.journals import tmpfs
from tests.support.scenes import Shifted

pytestmark = [pytest.mark.slow]

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
SUPPORT = Path(__file__).resolve().parents[1] / "support"
KIB = 1024
MACHINE = (Reason.DISK_FULL, Reason.GIT_FAILED, Reason.SPAWN_FAILED, Reason.SUPERVISOR_DIED)


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Mortal:
    with guarded():
        return made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def mortal(tmp_path: Path, first: Mortal) -> Mortal:
    return copied(first, tmp_path)


def reflected(mortal: Mortal) -> list[Run]:
    return list(reflect(mortal.now(), Options(), Quiet()).runs)


def ends_well(mortal: Mortal) -> str:
    """Reflect in trouble; return what is wrong about how that ends."""
    try:
        runs = reflected(mortal)
    except ReflectorError:
        return ""
    except Exception as error:  # noqa: BLE001 - the judgement itself
        return f"{type(error).__name__}: {error}"
    for run in runs:
        end = run.settlement
        if end is None or (end.outcome is Outcome.FAILED and end.reason not in MACHINE):
            return f"{end}"
    return ""


# Disks


@contextmanager
def nearly_full(disk: Path, free: int) -> Iterator[None]:
    """Leave so many bytes on a disk."""
    ballast = disk / "ballast"
    space = os.statvfs(disk)
    ballast.write_bytes(b"\0" * max(space.f_bavail * space.f_frsize - free, 0))
    try:
        yield
    finally:
        ballast.unlink()


@pytest.mark.timeout(600)
def test_a_full_disk_ends_a_run_with_a_name_and_nothing_is_lost(first, tmp_path):
    levels = range(0, 700, 8) if DEEP else (0, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384)
    wrong, full = [], 0
    with tmpfs(tmp_path / "small", "12m") as disk:
        for free in levels:
            mortal = copied(first, disk / f"{free}")
            with nearly_full(disk, free * KIB):
                trouble = ends_well(mortal)
            full += not mortal.merged()
            wrong += [f"{free} KiB: {trouble}"] if trouble else []
            try:
                reflected(mortal)
                mortal.judge(LESSON)
            except (AssertionError, ReflectorError) as error:
                wrong.append(f"{free} KiB: afterwards {error}")
            shutil.rmtree(mortal.folder)
    assert not wrong, "\n".join(wrong)
    assert 3 < full < len(levels)  # some were too full for the work, and not all


def test_a_read_only_disk_ends_a_command_with_a_name(first, tmp_path):
    with tmpfs(tmp_path / "small", "12m") as disk:
        mortal = copied(first, disk / "here")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(ReflectorError, match=r"Read-only|cannot be written|readonly"):
            reflected(mortal)
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        reflected(mortal)
        mortal.judge(LESSON)


@pytest.mark.parametrize("part", ["repo", "runs", "worktrees", "repo/.git/refs"])
def test_a_part_that_turns_read_only_during_a_run_costs_that_run_alone(mortal, part, monkeypatch):
    place = mortal.repo.parent / part
    run_child = launch.run_child

    def turning(*words, **named):
        ended = run_child(*words, **named)
        subprocess.run(["mount", "--bind", place, place], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        return ended

    with monkeypatch.context() as patch:
        patch.setattr(supervisor, "run_child", turning)
        try:
            assert ends_well(mortal) == ""
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)
    reflected(mortal)
    mortal.judge(LESSON)


# Permissions: root may do everything, so the real command runs as somebody else


@pytest.fixture
def foreign(first: Mortal) -> Iterator[Mortal]:
    """A home of nobody's in a folder that everybody reaches."""
    folder = Path(tempfile.mkdtemp(prefix="reflector-foreign-"))
    folder.chmod(0o755)
    mortal = copied(first, folder)
    owned(folder, 65534)
    yield mortal
    shutil.rmtree(folder)


def owned(folder: Path, who: int) -> None:
    subprocess.run(["chown", "-R", f"{who}:{who}", folder], check=True)


def as_nobody(ours: Mortal, mortal: Mortal) -> subprocess.CompletedProcess[str]:
    """Reflect as a user without any right of ours.

    An interpreter below /root is out of reach once it is nobody's: the engine runs in the same
    process, and a first run of ours imports everything.
    """
    code = """if True:
        import os, pathlib, sys
        from reflector.runtime import supervisor
        from tests.support import kill_at, scenes
        supervisor.run_child = scenes.Stage(pathlib.Path("/"), plain=("default",), seconds=0)
        assert kill_at.command(["reflect", "--home", sys.argv[1]]) == 0
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        sys.exit(kill_at.command(["reflect", "--home", sys.argv[2]]))
    """
    return subprocess.run(
        [sys.executable, "-c", code, str(ours.home), str(mortal.home)],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(SUPPORT.parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    "part",
    [
        *("runs", "worktrees", "locks", "logs", "state.db", "repo", "repo/system"),
        *("repo/.git", "repo/.git/objects", "repo/.git/refs/heads", "repo/.git/index"),
    ],
)
def test_a_place_without_permission_is_named_and_costs_nothing_else(mortal, foreign, part):
    (agent,) = (foreign.home / "agents").iterdir()
    place = agent / part
    mode = place.stat().st_mode
    place.chmod(0o500 if place.is_dir() else 0o400)
    done = as_nobody(mortal, foreign)
    assert done.returncode in (0, 1, 3, 4), done.stderr
    assert done.returncode == 0 or "bug" not in done.stderr
    place.chmod(mode)
    owned(foreign.folder, 0)
    reflected(foreign)
    foreign.judge(LESSON)


# Time


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0], ids=["on", "back"])
@pytest.mark.parametrize("start", ["reflect", "event"])
def test_a_clock_that_jumps_during_a_run_changes_nothing(mortal, jump, start, monkeypatch):
    clock = Shifted()
    found = replace(mortal.now(), ambient=Ambient(clock, mortal.now().ambient.chance))
    run_child = launch.run_child

    def jumping(*words, **named):
        clock.passed += jump
        return run_child(*words, **named)

    monkeypatch.setattr(supervisor, "run_child", jumping)
    if start == "event":
        handle(found, Settled(success=True), None)
        drain(found, REFLECTION, Quiet())
    else:
        reflect(found, Options(), Quiet())
    clock.passed = 0
    mortal.judge(LESSON)
    mortal.says("I prefer pytest over unittest.", "Noted.", session="second")
    assert len(mortal.recovered("event")) == 1


def test_a_failure_while_the_clock_was_wrong_holds_nobody_up(mortal):
    wrong = mortal.now(86_400)
    handle(wrong, Settled(success=True), None)
    (run,) = drain(wrong, REFLECTION, Quiet(), ("false",)) or []
    assert run.outcome is Outcome.FAILED
    assert [each.outcome for each in mortal.recovered("event")] == ["merged"]
    mortal.judge(LESSON)


# Processes


def hasty(mortal: Mortal, how: str) -> subprocess.Popen[str]:
    """Start a supervisor whose minute is a second, with a stubborn child."""
    child = [sys.executable, str(SUPPORT / "stubborn.py"), how, str(mortal.folder)]
    return subprocess.Popen(
        [sys.executable, str(SUPPORT / "hasty.py"), str(mortal.home), *child],
        env={"PATH": os.environ["PATH"], "HOME": str(mortal.folder), "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        text=True,
    )


def one_minute(mortal: Mortal) -> None:
    with (mortal.home / "config.toml").open("a", encoding="utf-8") as file:
        file.write("[run]\ntimeout_minutes = 1\n")


def gone(mortal: Mortal) -> bool:
    """Tell whether the grandchild of a stubborn child has ended."""
    pid = (mortal.folder / "grandchild").read_text("ascii")
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] in "ZX"


@pytest.mark.parametrize(("how", "outcome"), [("finishes", "merged"), ("hangs", "timed_out")])
def test_what_a_child_leaves_behind_ends_before_its_run_is_settled(mortal, how, outcome):
    one_minute(mortal)
    handle(mortal.now(), Settled(success=True), None)
    process = hasty(mortal, how)
    said, _ = process.communicate(timeout=50)
    assert said.split()[-1] == outcome
    assert gone(mortal)
    assert list(processes(mortal.home)) == []


def test_a_supervisor_that_was_stopped_past_its_deadline_goes_on_alone(mortal):
    one_minute(mortal)
    handle(mortal.now(), Settled(success=True), None)
    process = hasty(mortal, "hangs")
    assert process.stdout
    assert process.stdout.readline() == "hanging\n"
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.5)  # a minute and a half of its time
    # It lives, and holds its lock: nobody begins beside it, whatever the clock says.
    assert handle(mortal.now(), Settled(success=True)).supervisor == "busy"
    assert drain(mortal.now(), REFLECTION, Quiet()) is None
    process.send_signal(signal.SIGCONT)
    said, _ = process.communicate(timeout=50)
    assert said.split()[-1] == "timed_out"
    assert gone(mortal)
    mortal.recovered("event")
    mortal.judge(LESSON)


HANG = """#!/bin/sh
case " $* " in
*" {word} "*) {how} ;;
esac
exec {git} "$@"
"""


@pytest.mark.parametrize("how", ["exec sleep 60", "trap '' TERM; sleep 60", "sleep 60 & wait"])
@pytest.mark.parametrize("word", ["update-ref", "checkout-index", "read-tree"])
def test_a_git_that_hangs_is_ended_and_the_run_can_be_done_again(mortal, how, word, monkeypatch):
    folder = mortal.folder / "bin"
    folder.mkdir()
    script = HANG.format(word=word, how=how, git=shutil.which("git"))
    (folder / "git").write_text(script, "utf-8")
    (folder / "git").chmod(0o755)
    found = mortal.now()
    path = f"{folder}:{os.environ['PATH']}"
    found = replace(found, environ={**found.environ, "PATH": path})
    with monkeypatch.context() as patch:
        patch.setattr(porcelain, "TIMEOUT_SECONDS", 0.3)
        patch.setattr(porcelain, "_GRACE_SECONDS", 0.2)
        try:
            reflect(found, Options(), Quiet())
        except ReflectorError as error:
            assert error.exit_code in (1, 3, 4)
    reflected(mortal)
    mortal.judge(LESSON)


# Locks that were left behind


class Hurried(Shifted):
    """Nobody waits."""

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


def in_a_hurry(mortal: Mortal) -> list[Run]:
    found = mortal.now()
    found = replace(found, ambient=Ambient(Hurried(), found.ambient.chance))
    return list(reflect(found, Options(), Quiet()).runs)


LOCKS = ["index.lock", "config.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_of_somebody_else_s_costs_nothing_but_time(mortal, name):
    lock = mortal.repo / ".git" / name
    lock.touch()
    for run in in_a_hurry(mortal):
        end = run.settlement
        assert end is not None
        assert end.outcome in (Outcome.MERGED, Outcome.PARENT_DIRTY, Outcome.FAILED)
        assert end.outcome is not Outcome.FAILED or end.reason is Reason.GIT_FAILED
    assert lock.read_bytes() == b""
    lock.unlink()
    mortal.recovered("reflect")
    mortal.judge(LESSON)


def swept(mortal: Mortal) -> list[str]:
    with log.opened(mortal.now().agent.log) as logger:
        return [each.target for each in sweep(mortal.now(), logger, dry_run=False) if each.removed]


@pytest.mark.parametrize("name", LOCKS[1:])
def test_a_lock_that_is_old_and_held_by_no_git_is_swept(mortal, name):
    lock = mortal.repo / ".git" / name
    lock.touch()
    assert swept(mortal) == []
    aged(lock, TURN * 6)
    holder = subprocess.Popen(
        ["git", "cat-file", "--batch"], cwd=mortal.repo, stdin=subprocess.PIPE
    )
    assert swept(mortal) == []
    holder.communicate()
    assert swept(mortal) == [f"repo/.git/{name}"]
    mortal.recovered("reflect")
    mortal.judge(LESSON)


def test_the_index_lock_of_a_person_is_never_swept(mortal):
    lock = mortal.repo / ".git" / "index.lock"
    lock.touch()
    aged(lock, 86_400)
    assert swept(mortal) == []
    (run,) = in_a_hurry(mortal)
    assert run.outcome is Outcome.PARENT_DIRTY
    assert lock.exists()
    state = mortal.repo.parent / "state.db"
    assert [row["cursor"] for row in rows(state, "SELECT cursor FROM conversations")] == [0]
