"""A memory with a clock in the test's hand, conversations that grow, and supervisors in process."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from reflector.core.ambient import Clock, SystemClock, stamp
from reflector.core.run import Run
from reflector.core.schedule import Decision, Engine, Event
from reflector.runtime import birth, launcher
from reflector.runtime import payload as payloads
from reflector.runtime.child import FOLDERS, work, worktree_of
from reflector.runtime.ingest import ingest
from reflector.runtime.launch import Ended as ChildEnded
from reflector.runtime.launch import Listening
from reflector.runtime.loop import REFLECTION, Quiet, drain, upkeep
from reflector.runtime.scheduling import Memory, Scheduler
from reflector.runtime.wiring import Context, context
from reflector.store.disk import Home
from reflector.vcs.port import Identity
from tests.support.children import Child
from tests.support.clocks import WHEN, FakeChance, FakeClock, OwnRuns
from tests.support.scripted_engine import HEAD, finish, perform

SCRIPTED = Engine("scripted", can_dream=True, calls_model=True)
ENGINE = Path(__file__).with_name("scripted_engine.py")


class Shifted(SystemClock):
    """The machine's clock, so many seconds further on: where real processes wait for each other."""

    def __init__(self, seconds: float = 0) -> None:
        self.passed = seconds

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.passed)


@functools.cache
def _template(identities: tuple[str, ...]) -> Path:
    """Make a home once; every scene is a copy of it."""
    folder = Path(tempfile.mkdtemp(prefix="reflector-scene-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in identities:
        birth.init(context(str(folder / "home"), name))
    return folder


@dataclass
class Scene:
    """One home under a folder. `config` is TOML for all its identities."""

    folder: Path
    config: str = ""
    identities: tuple[str, ...] = ("default",)
    clock: FakeClock | Shifted = field(default_factory=FakeClock)
    engine: Engine | None = None

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        shutil.copytree(_template(self.identities) / "home", self.home, symlinks=True)
        launcher.write(Home(self.home))  # the copied one serves the home that was copied
        (self.home / "config.toml").write_text(self.config, "utf-8")
        self.talks: dict[str, list[str]] = {}
        self.chance = FakeChance()

    def context(self, identity: str = "default") -> Context:
        found = context(str(self.home), identity)
        return replace(found, ambient=OwnRuns(self.clock, self.chance))

    @property
    def repo(self) -> Path:
        return self.context().agent.repo

    # What happens

    def write(self, *texts: str, session: str = "talk") -> Path:
        """Go on with a transcript: user and assistant take turns."""
        place = self.folder / f"{session}.jsonl"
        before = self.talks.setdefault(session, [])
        with place.open("a", encoding="utf-8") as file:
            for text in texts:
                row = {
                    "role": "assistant" if len(before) % 2 else "user",
                    "content": text,
                    "id": f"{session}-{len(before)}",
                    "session_id": session,
                    "timestamp": stamp(self.clock.now()),
                }
                before.append(text)
                file.write(json.dumps(row) + "\n")
        return place

    def says(self, *texts: str, session: str = "talk", identity: str = "default") -> None:
        """Go on with a transcript, and journal it."""
        ingest(self.context(identity), self.write(*texts, session=session), Quiet())

    def event(
        self, event: Event, memory: Memory | None = None, identity: str = "default"
    ) -> Decision:
        """Let the scheduler decide."""
        found = self.context(identity)
        with found.state() as state:
            return Scheduler(found, state, self.engine).handle(event, memory)

    def drains(self, *child: str, identity: str = "default") -> list[Run]:
        """Be the supervisor until nothing waits; without a child with the scripted engine."""
        command = child or self.script
        return drain(self.context(identity), REFLECTION, Quiet(), command, self.engine) or []

    @property
    def script(self) -> Sequence[str]:
        return (sys.executable, "-I", str(ENGINE), str(self.folder))

    def provider(self, says: str) -> None:
        """Set what the provider of the scripted engine answers, "" for well."""
        (self.folder / "provider").write_text(says, "utf-8")

    def git(self, *words: str) -> str:
        """Be the person at the memory's git."""
        return person_git(self.repo, *words)


class Here(Child):
    """A child inside the test's process: it commits through the library."""

    def commit(self, *updates: str, subject: str = "feat(reflection): a lesson") -> str:
        items = "".join(f"- {each}\n" for each in updates)
        message = f"{subject}\n\nUpdates:\n{items}\nGenerated-By: agent memory\n"
        place = worktree_of(payloads.read(self.folder / "payload.json"))
        with place.writes() as writes:
            return writes.commit_worktree(
                place.branch, place.base, FOLDERS, message, Identity(), WHEN, amend=False
            )


@dataclass
class Stage:
    """The scripted engine in place of `supervisor.run_child`: no process, the same protocol.

    Identities in `plain` use the `rules` engine. A run takes `seconds` of the clock.
    """

    folder: Path
    plain: tuple[str, ...] = ()
    seconds: float = 20
    dirtied: list[Path] = field(default_factory=list)
    now: float = 0

    def __call__(
        self,
        _command: Sequence[str],
        run_folder: Path,
        _environ: Mapping[str, str],
        clock: Clock,
        _seconds: float,
        listening: Listening,
    ) -> ChildEnded:
        listening.on_ready()
        clock.sleep(self.seconds)
        self.now = clock.now().timestamp()
        child = Here(run_folder)
        if child.payload["identity"] in self.plain:
            return self._rules(run_folder)
        with contextlib.redirect_stdout(io.StringIO()):
            ends = perform(child, self.folder, self.person)
            finish(child, ends)
        return ChildEnded("deadline" if ends.how == "deadline" else "exited", ends.code)

    def _rules(self, run_folder: Path) -> ChildEnded:
        return _worked(
            replace(payloads.read(run_folder / "payload.json"), engine="rules"), run_folder
        )

    def person(self, word: str, place: Path, name: str) -> None:
        """Edit what a run learns at this moment: to be committed, or left lying about."""
        text = place.read_text("utf-8") if place.exists() else HEAD
        place.write_text(f"{text}- by hand beside {name}\n", "utf-8")
        if word == "Dirty":
            os.utime(place, (self.now, self.now))  # by the scene's clock, not the machine's
            self.dirtied.append(place)
            return
        repo = place.parents[1]
        person_git(repo, "add", "--", str(place))
        person_git(repo, "commit", "-q", "-m", f"by hand beside {name}")

    def tidy(self) -> None:
        """Put away what the person left lying about."""
        for place in self.dirtied:
            repo = place.parents[1]
            person_git(repo, "add", "--", str(place))
            person_git(repo, "reset", "-q", "--hard")
        self.dirtied.clear()


def inside(
    _command: Sequence[str],
    run_folder: Path,
    _environ: Mapping[str, str],
    _clock: Clock,
    _seconds: float,
    listening: Listening,
) -> ChildEnded:
    """Be `supervisor.run_child` with the real child's work inside the test's process.

    For what rests on the work itself: no process is started or confined, and no client imported.
    """
    listening.on_ready()
    return _worked(payloads.read(run_folder / "payload.json"), run_folder)


def _worked(payload: payloads.Payload, run_folder: Path) -> ChildEnded:
    with contextlib.redirect_stdout(io.StringIO()):
        done, tip = work(payload, run_folder)
    result = json.dumps({"finish": asdict(done), "tip": tip})
    (run_folder / "out" / "result.json").write_text(result, "utf-8")
    return ChildEnded("exited", 0)


class Ended:
    """Work that was done before anybody asked."""

    def code(self) -> int:
        return 0

    def end(self) -> None:
        """It has ended."""

    def kill(self) -> None:
        """It has ended."""


@dataclass(frozen=True)
class Inline:
    """The hands of a daemon inside the test's process: one run, then what is due every hour."""

    engine: Engine | None = None
    stop: Callable[[], bool] = lambda: False

    def start(self, theirs: Context) -> Ended:
        drain(theirs, REFLECTION, Quiet(self.stop), ("false",), self.engine, most=1)
        upkeep(theirs)
        return Ended()


def person_git(repo: Path, *words: str) -> str:
    """Be the person at the memory's git."""
    who = {
        f"GIT_{one}_{two}": "person@example.com"
        for one in ("AUTHOR", "COMMITTER")
        for two in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(repo), *words],
        env={"PATH": os.environ["PATH"], "HOME": "/dev/null", **who},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def outcomes(runs: Sequence[Run]) -> list[str]:
    """Return how runs ended, with the reason if there is one."""
    return [
        "/".join(filter(None, (run.outcome, run.settlement.reason)))
        for run in runs
        if run.settlement and run.outcome
    ]
