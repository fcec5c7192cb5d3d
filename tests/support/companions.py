"""A person who talks with an agent that keeps a diary, and the model that judges and writes it.

What the model says is fixed by what it is shown: `Model.writes` maps a piece of the last messages to
the answer of a consolidation, everything else gives an empty one; `Model.nights` are the answers of
a night's batches in order. `Model.no` are pieces of a sentence that is not worth keeping.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reflector.core.diary import Diary
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary.asking import Caller
from reflector.runtime.diary.consolidating import consolidate_all
from reflector.runtime.diary.judging import judge_all
from reflector.runtime.diary.repository import Repository
from reflector.runtime.diary.sleep import Slept, sleep
from reflector.store import diary
from reflector.store.diary import Counts
from tests.support.cli import git as person_git
from tests.support.messages_server import Block, Reply, Script, fails, says, serving
from tests.support.projects import asking
from tests.support.scenes import Scene

T = TypeVar("T")
TALK = "jsonl/talk"
ON = "[diary]\nenabled = true\n"
OVERLOADED = fails(529, "overloaded_error")
NOTHING: dict[str, Any] = {"entry": None, "traits": [], "lexicon": [], "mood": 0}


def entry(
    text: str, traits: Sequence[Any] = (), lexicon: Sequence[str] = (), mood: float = 0, **more: Any
) -> dict[str, Any]:
    """Return an answer of a consolidation with an entry."""
    made = {"text": text, "kind": "disclosure", "salience": 0.7} | more
    return {"entry": made, "traits": list(traits), "lexicon": list(lexicon), "mood": mood}


@dataclass
class Model(Script):
    """A server that answers by what it is shown. `down` answers everything instead."""

    replies: Sequence[Reply] = ()
    no: list[str] = field(default_factory=list)
    writes: dict[str, Any] = field(default_factory=dict)
    nights: list[Any] = field(default_factory=list)
    down: Reply | None = None
    judged: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    before_answer: Callable[[], None] = lambda: None

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.keys.append(key)
        self.before_answer()
        if self.down is not None:
            return number, self.down
        return number, self._answer(request["messages"][0]["content"][0]["text"])

    def _answer(self, text: str) -> Reply:
        if "<last_sentence>" in text:
            said = text.split("<last_sentence>\n")[1].split("\n</last_sentence>", maxsplit=1)[0]
            self.judged.append(said)
            return says("no" if any(piece in said for piece in self.no) else "yes")
        self.shown.append(text)
        if "<diary_items>" in text:
            return _told(self.nights.pop(0) if self.nights else {})
        last = text.split("<last_messages>\n")[1].split("\n</last_messages>", maxsplit=1)[0]
        lines = [line for line in last.split("\n") if line.startswith("user: ")]
        wanted = lines[-1] if lines else ""
        found = [answer for piece, answer in self.writes.items() if piece in wanted]
        return _told(found[0] if found else NOTHING)


def _told(answer: Any) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return says(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


@dataclass
class Companion(Scene):
    """A home in which a diary is kept."""

    model: Model = field(default_factory=Model)

    @property
    def diary(self) -> Repository:
        return Repository(self.context())

    def kept(self) -> Diary:
        """Return the diary at its HEAD."""
        return self.diary.read(adopt=False)

    def texts(self) -> list[str]:
        """Return the texts of all entries, oldest first."""
        found = sorted(self.kept().entries.values(), key=lambda one: (one.created_at, one.id))
        return [one.text for one in found]

    def judges(self) -> Waits | None:
        return self._with(lambda caller: judge_all(caller, lambda: False))

    def writes(self, dropped: list[str] | None = None) -> Waits | None:
        """Judge and write down what waits."""
        lost = [] if dropped is None else dropped
        self.judges()
        return self._with(lambda caller: consolidate_all(caller, lambda: False, lost.append))

    def sleeps(self) -> Slept | Waits:
        return self._with(lambda caller: sleep(caller, lambda: False))

    def _with(self, work: Callable[[Caller], T]) -> T:
        with self.context().state() as state:
            caller = Caller(self.context(), state)
            try:
                return work(caller)
            finally:
                caller.close()

    def counts(self) -> Counts:
        with self.context().state() as state:
            return diary.counts(state.connection)

    def mentions(self, items: Sequence[str], day: str, talk: str = TALK, turn: int = 1) -> None:
        """Note that items were recalled."""
        with self.context().state() as state, state.transaction() as connection:
            diary.mentioned(connection, items, talk, turn, day)

    def night(self, hours: float = 24) -> None:
        """Let time pass."""
        self.clock.sleep(hours * 3600)

    def diary_git(self, *words: str) -> str:
        return person_git(self.diary.path, *words)


@contextmanager
def companion(folder: Path, more: str = "", engine: str = "anthropic") -> Iterator[Companion]:
    """Serve a model, and make a home in which a diary is kept."""
    model = Model()
    with serving(model) as url:
        config = asking(url, f"{more}\n{ON}" if "[diary]" not in more else more)
        yield Companion(folder, config.replace('"anthropic"', f'"{engine}"'), model=model)
