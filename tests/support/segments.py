"""A person whose conversations are extracted, and a model that answers by what it is shown.

`Model.learns` maps a piece of a segment to what the model makes of it; everything else is nothing.
It cites the ids that it is shown: `$USER` and `$TOOL` in a list of ids stand for the first one of
that kind. A scene is what `Model.scenes` has a piece for, else working. What is alike supersedes or
is skipped as `Model.reconciles` says, by default it is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reflector.core.ambient import stamp
from reflector.core.run import Run
from reflector.pipelines.experiences import calls as names
from reflector.pipelines.experiences import reconciling
from reflector.runtime import child, supervisor
from reflector.runtime.calls.waits import Waits
from reflector.runtime.experiences.due import AUTOMATIC, Wish
from reflector.runtime.experiences.reserving import extract
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet, bench_for
from reflector.store import segments
from tests.support.messages_server import Block, Reply, Script, calls, serving
from tests.support.projects import asking, here
from tests.support.scenes import Scene

QUIET = 601.0
"""Seconds after which a conversation is quiet."""
_ROW = re.compile(r"^\[(\S+)\] (user|assistant calls)$", re.MULTILINE)


def experience(task: str, solution: str, **more: Any) -> dict[str, Any]:
    """Return an experience as a model gives it."""
    plain = {"search_keys": [], "boundary_envs": "", "confidence": 0.8, "evidence": ["$USER"]}
    return {"task": task, "solution": solution, **plain, **more}


def fact(subject: str, statement: str, **more: Any) -> dict[str, Any]:
    """Return a fact as a model gives it."""
    plain = {"files": [], "details": [], "evidence": ["$USER"]}
    return {"subject": subject, "statement": statement, **plain, **more}


def nothing() -> dict[str, Any]:
    return {"experiences": [], "fact": {}}


@dataclass
class Model(Script):
    """A server that answers by what it is shown. `down` makes it fail every request."""

    replies: Sequence[Reply] = ()
    learns: dict[str, dict[str, Any]] = field(default_factory=dict)
    scenes: dict[str, str] = field(default_factory=dict)
    reconciles: Callable[[str], list[dict[str, Any]]] = lambda _text: []
    answers: Callable[[str], Reply | None] = lambda _text: None
    down: Reply | None = None
    hook: Callable[[], None] = lambda: None

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.keys.append(key)
        return number, self.down or self._answer(request)

    def _answer(self, request: Block) -> Reply:
        text, tool = shown(request), request["tool_choice"]["name"]
        if tool == names.SCENE:
            found = next((word for piece, word in self.scenes.items() if piece in text), "working")
            return calls((tool, {"scene": found}))
        if tool == reconciling.TOOL:
            return calls((tool, {"decisions": self.reconciles(text)}))
        self.hook()
        return self.answers(text) or calls((tool, self.extraction(text)))

    def extraction(self, text: str) -> dict[str, Any]:
        """Return what the pieces in a segment teach, citing its rows."""
        segment = text.split("<segment>", 1)[-1]
        found = nothing()
        for piece, taught in self.learns.items():
            if piece in segment:
                found["experiences"] += taught.get("experiences", [])
                found["fact"] = taught.get("fact") or found["fact"]
        ids = {kind: which for which, kind in reversed(_ROW.findall(segment))}
        raw = json.dumps(found).replace("$USER", ids.get("user", "none"))
        return dict(json.loads(raw.replace("$TOOL", ids.get("assistant calls", "none"))))

    def asked(self, tool: str) -> list[str]:
        """Return what every call of a tool was shown."""
        return [shown(one) for one in self.requests if one["tool_choice"]["name"] == tool]


def shown(request: Block) -> str:
    """Return the first message of a request."""
    return str(request["messages"][0]["content"][0]["text"])


@dataclass
class Person(Scene):
    """A person who works with an agent in projects."""

    model: Model = field(default_factory=Model)

    def project(self, name: str = "shop") -> Path:
        """Return a folder that is the top of a working tree."""
        folder = self.folder / "src" / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def works(self, *said: str | Mapping[str, Any], session: str = "talk") -> None:
        """Go on with a conversation, and journal it: user and assistant in turns.

        A mapping is a tool's call: its `tool`, `arguments` and `result`.
        """
        place = self.folder / f"{session}.jsonl"
        before = self.talks.setdefault(session, [])
        with place.open("a", encoding="utf-8") as file:
            for one in said:
                for row in self._rows(one, session, before):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        ingest(self.context(), place, Quiet(), settled=True)

    def _rows(
        self, one: str | Mapping[str, Any], session: str, before: list[str]
    ) -> Iterator[dict[str, Any]]:
        plain = {
            "session_id": session,
            "cwd": str(self.project()),
            "timestamp": stamp(self.clock.now()),
        }
        number = len(before)
        before.append(str(one))
        if isinstance(one, str):
            texts = [each for each in before[:-1] if not each.startswith("{")]
            role = "assistant" if len(texts) % 2 else "user"
            yield {"role": role, "content": one, "id": f"{session}-{number}", **plain}
            return
        function = {"name": one["tool"], "arguments": json.dumps(one["arguments"])}
        call = {"id": f"call-{session}-{number}", "type": "function", "function": function}
        row = {"role": "assistant", "content": "", "tool_calls": [call], **plain}
        yield {**row, "id": f"{session}-{number}"}
        yield {"role": "tool", "tool_call_id": call["id"], "content": one["result"], **plain}

    def extracts(self, wish: Wish = AUTOMATIC) -> list[Run | Waits]:
        """Extract what is due, in this process."""
        with bench_for(self.context(), "experiences", Quiet(), ("false",)) as bench:
            assert bench is not None
            done, end = extract(bench, wish)
            return [*done, end]

    def cursor(self, session: str = "talk") -> int:
        """Return how far a conversation was read."""
        with self.context().state() as state:
            return segments.cursor(state.connection, f"jsonl/{session}")

    def kept(self, folder: str = "") -> dict[str, str]:
        """Return the experiences and facts on main, by path."""
        listed = self.git("ls-tree", "-r", "--name-only", "main").splitlines()
        wanted = (folder,) if folder else ("experiences/", "facts/")
        return {
            path: self.git("show", f"main:{path}")
            for path in listed
            if path.startswith(wanted) and path.endswith(".md")
        }


def in_process(scene: Person, patch: pytest.MonkeyPatch) -> None:
    """Let children work in this process, by the clock of the scene: no wait is real."""
    patch.setattr(supervisor, "run_child", here)
    patch.setattr(child, "system", lambda: scene.context().ambient)


@contextmanager
def person(folder: Path, more: str = "") -> Iterator[Person]:
    """Serve a model, and make the home of a person who uses it."""
    model = Model()
    with serving(model) as url:
        yield Person(folder, asking(url, more), model=model)
