"""Runs on a machine that refuses: every write, process and commit, one after the other.

Whatever fails, nothing of ENGINE 15 breaks, the run's end has a name, and once the fault is gone
the same command does the same work. By default every second call fails once with one kind of error;
REFLECTOR_TEST_DEEP=1 tries every call, all kinds, and faults that stay.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from reflector.core.errors import ReflectorError
from reflector.core.run import Outcome, Reason, Run
from reflector.runtime import supervisor
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from tests.support.deaths import Mortal, copied, guarded, made
from tests.support.faults import DOORS, Fault, armed
from tests.support.scenes import inside
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.slow]

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
CODES = {"open": errno.EACCES, "spawn": errno.EAGAIN, "fsync": errno.EIO, "unlink": errno.EACCES}
MARKER = "I prefer pytest over unittest."
NAMED = (Reason.DISK_FULL, Reason.GIT_FAILED, Reason.SPAWN_FAILED, Reason.SUPERVISOR_DIED)


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Mortal:
    with guarded():
        return made(tmp_path_factory.mktemp("made"))


def kinds(door: str) -> list[tuple[int, bool]]:
    """What goes wrong, and whether it stays."""
    usual = CODES.get(door, errno.ENOSPC)
    if not DEEP:
        return [(usual, False)]
    codes = dict.fromkeys((usual, errno.ENOSPC, errno.EIO, errno.EACCES))
    if door in ("begin", "change", "commit"):
        codes = dict.fromkeys((errno.ENOSPC, errno.EIO, errno.EACCES))
    return [(code, lasting) for code in codes for lasting in (False, True)]


def work(mortal: Mortal) -> list[Run]:
    """Journal a conversation and reflect on it."""
    talk = conversation(mortal.folder / "second.jsonl", MARKER, "Noted.", session="second")
    return list(reflect(mortal.now(), Options(files=[talk]), Quiet()).runs)


def refused(mortal: Mortal, fault: Fault) -> str:
    """Do the work on a machine that refuses; return what is wrong about how it ends."""
    with armed(fault):
        try:
            runs = work(mortal)
        except ReflectorError:
            return ""  # a sentence, a hint and an exit code
        except Exception as error:  # noqa: BLE001 - the judgement itself
            return f"{type(error).__name__}: {error}"
    for run in runs:
        end = run.settlement
        if end is None or (end.outcome is Outcome.FAILED and end.reason not in NAMED):
            return f"run {run.id} ended {end}"
    return ""


def each_call(first: Mortal, folder: Path, door: str, code: int, *, lasting: bool) -> Iterator[str]:
    """Let one call after the other fail, by default every second; yield what went wrong."""
    for nth in count(1, 1 if DEEP else 2):
        mortal = copied(first, folder / f"{door}-{code}-{nth}-{lasting}")
        fault = Fault(mortal.home, door, code, nth, lasting)
        trouble = refused(mortal, fault)
        if not fault.hits:
            return  # there are no more calls
        about = f"{door} {errno.errorcode[code]} {nth} ({fault.hits[0]})"
        if trouble:
            yield f"{about}: {trouble}"
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(supervisor, "run_child", inside)  # the first one's was a process
                work(mortal)
            mortal.judge_all(MARKER)
        except (AssertionError, ReflectorError) as error:
            yield f"{about}: afterwards {error}"


@pytest.mark.timeout(1200 if DEEP else 240)
@pytest.mark.parametrize("door", DOORS)
def test_whatever_the_machine_refuses_once_it_gives_in_the_work_is_done(first, tmp_path, door):
    wrong = [
        each
        for code, lasting in kinds(door)
        for each in each_call(first, tmp_path, door, code, lasting=lasting)
    ]
    assert not wrong, "\n".join(wrong)
