"""Processes that work on one identity all at once: `python workers.py ROLE HOME FOLDER NUMBER`.

Each does its thing until the file `stop` lies in FOLDER, and then says as one JSON object what it
did. What went wrong is said, too: a busy database is no fault, anything else is.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reflector.core.ambient import Ambient
from reflector.core.errors import BusyError, ReflectorError
from reflector.core.run import Run
from reflector.core.schedule import Settled, Shutdown
from reflector.runtime import log
from reflector.runtime import reflect as reflecting
from reflector.runtime import remains as remaining
from reflector.runtime.front import handle
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import REFLECTION, Quiet, drain
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.sweep import sweep
from reflector.runtime.wiring import Context, context
from tests.support.auditor import rows
from tests.support.scenes import Shifted, outcomes

CHILD = (sys.executable, "-I", str(Path(__file__).with_name("child.py")))
LESSON = "Lesson {} of the race."
SESSIONS = 3
ENOUGH = 8
"""Lessons that wait: who appends gives the others time to catch up."""


@dataclass
class Worker:
    """One process. `number` makes its lessons its own."""

    home: Path
    folder: Path
    number: int
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    turn: int = 0

    @property
    def found(self) -> Context:
        return context(str(self.home))

    def work(self, role: Callable[[Worker], None]) -> None:
        """Repeat a role until told to stop."""
        parent = os.getppid()
        while not (self.folder / "stop").exists() and os.getppid() == parent:
            self.turn += 1
            try:
                role(self)
            except BusyError as error:
                self.done["busy"] += 1
                self.done[f"busy: {error.message[:40]}"] += 1
            except ReflectorError as error:
                self.wrong.append(f"{role.__name__}: {error.message} {error.facts}")
        print(json.dumps({"done": self.done, "wrong": self.wrong}), flush=True)

    def ran(self, runs: Sequence[Run] | None) -> None:
        self.done.update(outcomes(runs or ()))


def pause(seconds: float = 0.05) -> None:
    """Give the others the machine."""
    select.select([], [], [], seconds)


def appends(worker: Worker) -> None:
    """Say one more thing in one of the conversations, and journal them all."""
    wanted = int((worker.folder / "wanted").read_text("ascii"))
    files = sorted(worker.folder.glob("talk-*.jsonl"))
    if worker.done["said"] < wanted and waiting(worker) < ENOUGH:
        number = worker.number * 10_000 + worker.done["said"]
        session = f"talk-{number % SESSIONS}"
        said = [
            {"role": "user", "content": LESSON.format(number), "id": f"u{number}"},
            {"role": "assistant", "content": "Noted.", "id": f"a{number}"},
        ]
        time = {"session_id": session, "timestamp": "2026-11-30T12:00:00Z"}
        whole = "".join(json.dumps(row | time) + "\n" for row in said).encode()
        with (worker.folder / f"{session}.jsonl").open("ab", buffering=0) as file:
            # Torn on purpose now and then: who reads must wait for the rest.
            cut = len(whole) - 1 if number % 7 == 0 else len(whole)
            file.write(whole[:cut])
            file.write(whole[cut:])
        worker.done["said"] += 1
        if worker.done["said"] == wanted:
            (worker.folder / f"finished-{worker.number}").touch()
    for place in files:
        worker.done["entries"] += ingest(worker.found, place, Quiet()).entries
    handle(worker.found, Settled(success=True), None)
    pause()


def waiting(worker: Worker) -> int:
    """Return how many lessons are said and not consumed yet."""
    found = rows(
        worker.found.agent.state,
        "SELECT count(*) n FROM entries e JOIN conversations c ON c.id = e.conversation "
        "WHERE sequence > cursor AND kind = 'user'",
    )
    return int(found[0]["n"])


def settles(worker: Worker) -> None:
    """Be an event, and the supervisor that it launches."""
    event = Shutdown() if worker.turn % 5 == 0 else Settled(success=True)
    worker.done[handle(worker.found, event, None).as_json()["decision"]] += 1
    worker.ran(drain(worker.found, REFLECTION, Quiet(), CHILD))
    pause()


def reflects(worker: Worker) -> None:
    """Be a person who reflects by hand."""
    # What it passes on to a supervisor of its own, this process does itself: with our child.
    passed: list[Context] = []
    module: Any = reflecting
    module.launch = passed.append
    worker.ran(reflect(worker.found, Options(max_runs=2), Quiet(), CHILD).runs)
    if passed:
        worker.done["passed on"] += 1
        worker.ran(drain(worker.found, REFLECTION, Quiet(), CHILD))
    pause(0.5)


def sweeps(worker: Worker) -> None:
    """Sweep as if it were an hour later: nothing is too young.

    But for what nothing else than its age protects, such as the files of a git at work.
    """
    for name in ("_TEMPORARY", "_LOCKS"):
        setattr(remaining, name, ())
    found = worker.found
    found = replace(found, ambient=Ambient(Shifted(3600), found.ambient.chance))
    with log.opened(found.agent.log, identity="default") as logger:
        for each in sweep(found, logger, dry_run=False):
            worker.done["swept"] += each.removed
            worker.done["not swept"] += not each.removed
    pause(0.3)


def prunes(worker: Worker) -> None:
    """Be the person's tools: status without locks, pruning, packing."""
    repo = worker.found.agent.repo
    words = [["status", "--porcelain"], ["worktree", "prune"], ["gc", "--quiet"]]
    for word in words if worker.turn % 6 == 0 else words[:2]:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(repo), *word],
            env={"PATH": os.environ["PATH"], "HOME": "/dev/null"},
            capture_output=True,
            check=False,
        )
        worker.done[f"git {word[0]} {done.returncode}"] += 1
    pause(0.3)


ROLES: dict[str, Callable[[Worker], None]] = {
    each.__name__: each for each in (appends, settles, reflects, sweeps, prunes)
}

if __name__ == "__main__":
    with suppress(BrokenPipeError):
        Worker(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])).work(ROLES[sys.argv[1]])
