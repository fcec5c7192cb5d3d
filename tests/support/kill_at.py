"""Processes that die by SIGKILL at one point of a run, wherever a test says.

`python kill_at.py nursery` imports the product once and forks one process for each line that it
reads, so that a scenario costs a fork and not an interpreter. `python kill_at.py loop POINT HOME
IDENTITY` is a detached supervisor with a point, `python kill_at.py child POINT RUN_FOLDER` a child
with one.

A point is `WHO:WHEN:NAME`. WHO dies: `supervisor`, `child`, or `both`. WHEN is `before`, `after`, or
`half` for effects that can be seen half done. NAME is a phase that is being saved or an effect.
Points of the child begin with `in:`, as in `in:both:before:commit`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))

from reflector.core.run import NEXT, Phase  # noqa: E402 - the child has no PYTHONPATH
from reflector.runtime import (  # noqa: E402
    bench,
    block_cache,
    child,
    launch,
    leftovers,
    loop,
    payload,
    supervisor,
)
from reflector.store import reservations, reviews, spool  # noqa: E402
from reflector.vcs import merge, swap, worktree  # noqa: E402
from reflector.vcs.porcelain import Porcelain  # noqa: E402
from reflector.vcs.swap import Swap  # noqa: E402
from reflector.vcs.writes import Writes  # noqa: E402

WHO = ("supervisor", "child", "both")
# From the transition table: a new phase is covered the day it is added.
MOVES = tuple(then.value for after in NEXT.values() for then in after if then != Phase.COMPLETED)

Now = Callable[..., bool]


def _ever(*_args: Any, **_named: Any) -> bool:
    return True


def _ref(begins: str) -> Now:
    return lambda _git, ref, *_rest, **_named: ref.startswith(begins)


EFFECTS: dict[str, tuple[tuple[object, ...], str, Now]] = {
    "reserve": ((reservations,), "reserve", _ever),
    "worktree": ((worktree,), "create", _ever),
    "payload": ((payload.Payload,), "write", _ever),
    "prepared": ((supervisor,), "prepare", _ever),
    "child": ((launch,), "_start", _ever),
    "ended": ((supervisor,), "run_child", _ever),
    "result": ((supervisor,), "read_result", _ever),
    "lock": ((merge,), "_take_lock", _ever),
    "commit": ((Writes,), "create_commit", _ever),
    "copy": ((merge,), "_copy_index", _ever),
    "saved": ((reservations,), "note", lambda *_a, **named: "merge_commit" in named),
    "ref": ((Porcelain,), "update_ref", _ref("refs/heads/main")),
    "written": ((Porcelain,), "check_out", _ever),
    "files": ((Swap,), "do", _ever),
    "exchange": ((swap,), "exchange", _ever),
    "index": ((merge,), "settle_index", _ever),
    "release": ((merge,), "release", _ever),
    "settled": ((reservations,), "settle", _ever),
    "block": ((block_cache,), "refresh", _ever),
    "cleanup": ((leftovers, bench), "clean_up", _ever),
    "close": ((worktree,), "close", _ever),
}
"""What every run that merges does, in this order: where it is found, and which calls are meant."""

OTHERS: dict[str, tuple[tuple[object, ...], str, Now]] = {
    "adopt": ((reservations,), "adopt", _ever),
    "reopen": ((reservations,), "reopen", _ever),
    "approve": ((reviews,), "take_up", _ever),
    "reject": ((reviews,), "reject", _ever),
    "keep": ((Porcelain,), "update_ref", _ref("refs/reflector/")),
    "forget": ((Porcelain,), "delete_ref", _ref("refs/reflector/")),
    "branch": ((Porcelain,), "delete_ref", _ref("refs/heads/memory/")),
    "rmtree": ((shutil,), "rmtree", _ever),
    "spool": ((spool,), "save", _ever),
}
"""What only some do: recoveries, kept tips, reviews, the sweep, the drainer."""

CHILD: dict[str, tuple[tuple[object, ...], str, Now]] = {
    "read": ((payload,), "read", _ever),
    "ready": ((child,), "_say", lambda line: line == "ready"),
    "work": ((child,), "work", _ever),
    "commit": ((Writes,), "commit_worktree", _ever),
    "write": ((child,), "write_atomic", _ever),
    "result": ((child,), "_say", lambda line: line == "result"),
}

POINTS = (
    *(
        f"{when}:{name}"
        for name in (*list(EFFECTS)[:4], *MOVES, *list(EFFECTS)[4:])
        for when in ("before", "after")
    ),
    *("half:written", "half:rmtree"),
)
CHILD_POINTS = tuple(f"{when}:{name}" for name in CHILD for when in ("before", "after"))
ALIVE = (
    *("after:child", "before:running", "after:running"),
    *("before:child", "before:ended", "after:ended"),
)
"""Points of the supervisor at which its child lives, or just does not."""

_started: list[Any] = []


def die(who: str) -> None:
    """End as a power cut would; the supervisor goes on if only its child was meant."""
    if who in ("child", "both"):
        for process in _started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
    if who != "child":
        os.kill(os.getpid(), signal.SIGKILL)


def die_in_child(who: str) -> None:
    """End a child, the supervisor above it, or both."""
    if who in ("supervisor", "both"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(os.getppid(), signal.SIGKILL)
    if who != "supervisor":
        os.kill(os.getpid(), signal.SIGKILL)


def around(
    call: Callable[..., Any], when: str, now: Now, end: Callable[[], None]
) -> Callable[..., Any]:
    """Wrap a call so that `end` comes before, after or in the middle of it, when `now` says so."""

    def wrapped(*args: Any, **named: Any) -> Any:
        hit = now(*args, **named)
        if hit and when == "before":
            end()
        if hit and when == "half":
            HALVES[call.__name__](*args)
            end()
        result = call(*args, **named)
        if hit and when == "after":
            end()
        return result

    return wrapped


def _half_written(
    _git: Porcelain, _old: str, _new: str, index: Path, folder: Path, paths: Any
) -> None:
    """What a git leaves that is killed while it checks out: its lock, and half a file."""
    index.with_suffix(".index.lock").write_bytes(b"half an index")
    place = folder / paths[0]
    place.parent.mkdir(parents=True)
    place.write_bytes(b"---\nhalf")


def _half_of_a_folder(folder: Path, **_named: Any) -> None:
    for place in sorted(Path(folder).rglob("*.md"))[:2]:
        place.unlink()


HALVES: dict[str, Callable[..., None]] = {
    "check_out": _half_written,
    "rmtree": _half_of_a_folder,
}


def arm(point: str) -> None:
    """Put the deadly wrapper where the point says; an empty point is none."""
    if not point:
        return
    _remember_children(point if point.startswith("in:") else "")
    if point.startswith("in:"):
        return
    who, when, name = point.split(":")
    end = lambda: die(who)  # noqa: E731 - said in place
    if name in MOVES:
        now: Now = lambda *args, **_named: args[4].value == name  # noqa: E731
        reservations.advance = around(reservations.advance, when, now, end)
        return
    _wrap((EFFECTS | OTHERS)[name], when, end)


def _wrap(place: tuple[tuple[object, ...], str, Now], when: str, end: Callable[[], None]) -> None:
    owners, attribute, now = place
    wrapped = around(getattr(owners[0], attribute), when, now, end)
    for owner in owners:
        setattr(owner, attribute, wrapped)


def _remember_children(point: str) -> None:
    """Note every child that is started, and give it its own point."""
    start: Callable[..., Any] = launch._start

    def remembered(command: Any, folder: Path, environ: Any) -> Any:
        if point:
            command = (sys.executable, str(HERE), "child", point, command[-1])
        _started.append(start(command, folder, environ))
        return _started[-1]

    setattr(launch, "_start", remembered)  # noqa: B010 - a wider type on purpose


def child_main(point: str, folder: str) -> int:
    """Be a run's child that dies at its point."""
    _, who, when, name = point.split(":")
    _wrap(CHILD[name], when, lambda: die_in_child(who))
    code = child.main(Path(folder))
    # Whoever was to die and did not: the point was never reached.
    os._exit(code)


def command(words: list[str]) -> int:
    """Be the detached supervisor (`loop HOME IDENTITY`) or the command line."""
    if words[0] == "loop":
        return loop.main(words[1:])
    cli: Any = importlib.import_module("reflector.surface.cli.main")
    return int(cli.main(words))


# The nursery


def imported() -> None:
    """Import what commands import late."""
    for name in ("git", "git.cmd", "reflector.surface.cli.main", "reflector.runtime.child"):
        importlib.import_module(name)
    for name in ("reflect", "sweep", "undo", "event", "supervise", "review.approve"):
        importlib.import_module(f"reflector.surface.cli.{name}")


def nursery() -> None:
    """Fork a process for each line that is read, and say how it ended."""
    imported()
    for line in sys.stdin:
        asked = json.loads(line)
        born = os.fork()
        if born == 0:
            os._exit(_live(asked))
        _, status = os.waitpid(born, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _live(asked: dict[str, Any]) -> int:
    os.environ.clear()
    os.environ.update(asked["environ"])
    with Path(asked["said"]).open("ab", buffering=0) as said:
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.setsid()
        arm(asked["point"])
        try:
            code = command(asked["words"])
            sys.stdout.flush()
        except BaseException:  # noqa: BLE001 - the top of the process
            importlib.import_module("traceback").print_exc()
            code = 99
        return code


class Nursery:
    """Where processes are born that will die; close it at the end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, point: str, home: Path, *words: str | Path) -> tuple[int, str]:
        """Run a command that dies at a point: exit code (negative: signal) and what it said."""
        said = home.parent / "said"
        environ = {name: os.environ[name] for name in ("PATH", "LANG", "TZ")}
        environ["HOME"] = str(home.parent)
        asked = {"point": point, "words": [*map(str, words)], "said": str(said)}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({**asked, "environ": environ}) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return code, said.read_text("utf-8", "replace")


@contextmanager
def opened() -> Iterator[Nursery]:
    """Start a nursery."""
    process = subprocess.Popen(
        [sys.executable, str(HERE), "nursery"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Nursery(process)
    finally:
        process.communicate(timeout=30)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["nursery"]:
            nursery()
        case ["child", wanted, run_folder]:
            sys.exit(child_main(wanted, run_folder))
        case ["loop", wanted, *rest]:
            arm(wanted)
            sys.exit(loop.main(rest))
        case words:
            sys.exit(f"not understood: {words}")
