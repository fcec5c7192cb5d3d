"""A person who works on projects with an agent, and a model that extracts and consolidates.

What the model of the script gives is fixed by what it is shown: `Model.hears` maps a piece of a
person's message to the deltas that it gives, everything else gives none. A consolidation writes a
bullet for each delta; `Model.edits` replaces that.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reflector.core.ambient import Clock, stamp
from reflector.core.run import Run
from reflector.runtime import payload as payloads
from reflector.runtime.calls.waits import Waits
from reflector.runtime.child import work
from reflector.runtime.decisions.consolidation import consolidate
from reflector.runtime.decisions.due import AUTOMATIC, Wish
from reflector.runtime.decisions.extraction import Worked, work_off
from reflector.runtime.ingest import ingest
from reflector.runtime.launch import Ended, Listening
from reflector.runtime.loop import Quiet, bench_for
from reflector.store import decisions
from tests.support.messages_server import Block, Reply, Script, calls, fails, serving
from tests.support.scenes import Scene

DELTA = re.compile(r'^- id (\d+), (\w+)(?:, ([a-z, ]+))?: "(.*)"$', re.MULTILINE)
HOME = {
    "architecture_decision": "architecture",
    "product_decision": "product",
    "style_decision": "style",
    "constraint": "architecture",
    "rejected_approach": "architecture",
    "correction": "product",
}


def delta(statement: str, evidence: str, *flags: str, kind: str = "product_decision", **more: str):
    """Return a candidate as a model gives it."""
    friction = {name: name in flags for name in ("corrective", "regression", "subtle")}
    return {
        "kind": kind,
        "statement": statement,
        "source": "explicit_user",
        "evidence": evidence,
        "friction": friction,
        **more,
    }


@dataclass
class Model(Script):
    """A server that answers by what it is shown. `down` makes it fail every request."""

    replies: Sequence[Reply] = ()
    hears: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    edits: Callable[[str], Mapping[str, Any]] | None = None
    down: Reply | None = None
    asked: list[str] = field(default_factory=list)

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.keys.append(key)
        if self.down is not None:
            return number, self.down
        return number, self._answer(request)

    def _answer(self, request: Block) -> Reply:
        text = request["messages"][0]["content"][0]["text"]
        tool = request["tool_choice"]["name"]
        if tool == "record_deltas":
            said = text.split("<user_message>\n")[1].split("\n</user_message>")[0]
            self.asked.append(said)
            given = [one for piece, found in self.hears.items() if piece in said for one in found]
            return calls((tool, {"deltas": given}))
        edits = self.edits or plainly
        return calls((tool, dict(edits(text))))


def shown(text: str) -> list[tuple[int, str, str]]:
    """Return id, kind and statement of every delta that a consolidation is shown."""
    return [
        (int(number), kind, json.loads(f'"{said}"'))
        for number, kind, _, said in DELTA.findall(text)
    ]


def plainly(text: str) -> Mapping[str, Any]:
    """Write a bullet for each delta."""
    edits: dict[str, list[Any]] = {}
    for number, kind, said in shown(text):
        edit = {"action": "add", "section": "Decided", "bullet": said, "deltas": [number]}
        edits.setdefault(HOME[kind], []).append(edit)
    return edits


OVERLOADED = fails(529, "overloaded_error")


@dataclass
class Person(Scene):
    """A person with projects: folders that rows of transcripts name."""

    model: Model = field(default_factory=Model)

    def project(self, name: str = "shop") -> Path:
        """Return a folder that is the top of a working tree."""
        folder = self.folder / "src" / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def types(self, *texts: str, session: str = "talk", cwd: Path | None = None) -> None:
        """Go on with a transcript, user and assistant in turns, and journal it."""
        place = self.folder / f"{session}.jsonl"
        before = self.talks.setdefault(session, [])
        with place.open("a", encoding="utf-8") as file:
            for text in texts:
                row = {
                    "role": "assistant" if len(before) % 2 else "user",
                    "content": text,
                    "id": f"{session}-{len(before)}",
                    "session_id": session,
                    "cwd": str(cwd or self.project()),
                    "timestamp": stamp(self.clock.now()),
                }
                before.append(text)
                file.write(json.dumps(row) + "\n")
        ingest(self.context(), place, Quiet())

    def works(self) -> Worked:
        """Extract what waits."""
        with self.context().state() as state:
            return work_off(self.context(), state)

    def consolidates(self, wish: Wish = AUTOMATIC) -> list[Run | Waits]:
        """Consolidate what is due, in this process."""
        with bench_for(self.context(), "decisions", Quiet(), ("false",)) as bench:
            assert bench is not None
            done, end = consolidate(bench, wish)
            return [*done, end]

    def ledger(self) -> list[str]:
        """Return the statement of every delta."""
        with self.context().state() as state:
            return [one.delta.statement for one in decisions.ledger(state.connection)]

    def bank(self, name: str = "shop") -> str:
        """Return the bank of a project."""
        with self.context().state() as state:
            found = decisions.banks(state.connection)
        return next(each for each in found if each.rpartition("-")[0] == name)

    def file(self, name: str, project: str = "shop") -> str:
        """Return a decision file as main has it, "" when it is not there."""
        path = f"projects/{self.bank(project)}/{name}.md"
        listed = self.git("ls-tree", "-r", "--name-only", "main").splitlines()
        return self.git("show", f"main:{path}") if path in listed else ""


def here(
    _command: Sequence[str],
    run_folder: Path,
    environ: Mapping[str, str],
    _clock: Clock,
    _seconds: float,
    listening: Listening,
) -> Ended:
    """Be the child of a consolidation, in place of `supervisor.run_child`: no process."""
    listening.on_ready()
    before = dict(os.environ)
    os.environ.update({k: v for k, v in environ.items() if k.startswith("ANTHROPIC_")})
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            done, tip = work(payloads.read(run_folder / "payload.json"), run_folder)
    finally:
        os.environ.clear()
        os.environ.update(before)
    result = json.dumps({"finish": asdict(done), "tip": tip})
    (run_folder / "out" / "result.json").write_text(result, "utf-8")
    return Ended("exited", 0)


def asking(url: str, more: str = "") -> str:
    """Return settings by which a model of this server is asked; its price counts for nothing."""
    return (
        f'sandbox = "off"\n{more}\n[engine]\nname = "anthropic"\nmodel = "m"\nbase_url = "{url}"\n'
        "[day]\nmax_cost_usd = 1000.0\n"
    )


@contextmanager
def person(folder: Path, more: str = "") -> Iterator[Person]:
    """Serve a model, and make the home of a person who uses it."""
    model = Model()
    with serving(model) as url:
        yield Person(folder, asking(url, more), model=model)
