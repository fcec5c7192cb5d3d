"""What a hook must never do: write what a person said no to, fail, or keep its harness waiting."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import ROOT

HOOK = (sys.executable, "-IS", str(ROOT / "reflector" / "surface" / "hook.py"), "hook", "h", "Stop")
PAYLOAD = b'{"cwd": "/src/secret/deep"}'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home where somebody drains already, so that no hook starts a drainer."""
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    with (tmp_path / "locks" / "ingest.lock").open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield tmp_path


def called(home: Path, payload: bytes = PAYLOAD, **more: str) -> int:
    """Call a hook; return how many lines are in the spool then."""
    environ = {"REFLECTOR_HOME": str(home), **more}
    done = subprocess.run(
        HOOK, env=environ, input=payload, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return sum(file.read_bytes().count(b"\n") for file in home.glob("spool/*.jsonl"))


def spools(home: Path) -> bool:
    """Tell whether a hook writes its line; one that a busy machine makes late writes none."""
    return any(called(home) for _ in range(9))


@pytest.mark.parametrize("line", ["paused -", "exclude /src/secret"])
def test_a_hook_obeys_its_gate(home, line):
    (home / "hook.gate").write_text(f"{line}\n")
    assert called(home) == 0
    (home / "hook.gate").write_text("paused 1.0\nexclude /elsewhere\n")
    assert spools(home)


def test_a_hook_of_our_own_child_is_silent(home):
    assert called(home, REFLECTOR_CHILD="1") == 0
    assert spools(home)


def test_a_hook_that_cannot_do_its_work_succeeds(home):
    assert called(home, b'{"cwd": "/x", "pro') == 0
    (home / "spool").rmdir()
    assert called(home) == 0


def test_a_hook_whose_input_never_ends_gives_up(home):
    ours, theirs = os.pipe()
    try:
        process = subprocess.Popen(HOOK, env={"REFLECTOR_HOME": str(home)}, stdin=ours)
        try:
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
            process.wait()
    finally:
        os.close(ours)
        os.close(theirs)


_STARVED = """
import _signal, sys
sys.path.insert(0, sys.argv.pop(1))
alarms = int(sys.argv.pop(1))
import hook
ask = hook._gate
def late(home):
    for _ in range(alarms):
        _signal.pause()
    return ask(home)
hook._gate = late
sys.exit(hook.main())
"""


@pytest.mark.parametrize(("alarms", "lines"), [(1, 1), (50, 0)])
def test_a_hook_on_a_starved_machine_still_writes_its_line_but_not_for_ever(home, alarms, lines):
    words = (*HOOK[:2], "-c", _STARVED, str(Path(HOOK[2]).parent), str(alarms), *HOOK[3:])
    done = subprocess.run(
        words, env={"REFLECTOR_HOME": str(home)}, input=PAYLOAD, timeout=20, check=False
    )
    assert done.returncode == 0
    assert sum(file.read_bytes().count(b"\n") for file in home.glob("spool/*.jsonl")) == lines


@pytest.mark.parametrize("words", [(), ("claude-code",), ("claude-code", "Stop", "more")])
def test_a_hook_that_was_put_in_wrong_says_how_and_blocks_nobody(home, words):
    done = subprocess.run(
        (*HOOK[:4], *words),
        env={"REFLECTOR_HOME": str(home)},
        input=PAYLOAD,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"usage: reflector hook HARNESS EVENT" in done.stderr
