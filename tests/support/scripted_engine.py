"""An engine that does what the conversation says: learns, fails, refuses, dies, gets in the way.

`python scripted_engine.py FOLDER RUN_FOLDER` is a child that speaks the real protocol; `Stage` is
the same engine inside the test's own process, where a run costs a few git objects and no
interpreter. FOLDER keeps what happens once (`Attempts`) and what the provider says today
(`provider`).

What a user entry says decides, the worst of a payload first: `Poison.` is refused for ever,
`Refuse.` and `Crash.` so many times (`Crash 3.`), `Silent.` ends without a result, `Late.` runs into
its deadline, `Die.` takes the supervisor with it, `Collide.` and `Dirty.` have a person edit what
the run learns, `Lesson NAME.` is learned, everything else is nothing to record.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.children import Child

WORD = re.compile(r"\b(Poison|Refuse|Crash|Silent|Late|Die|Collide|Dirty)(?: (\d+))?\.")
LESSON = re.compile(r"\bLesson ([\w-]+)\.")
WORST = ("Die", "Poison", "Refuse", "Crash", "Silent", "Late", "Collide", "Dirty")
HEAD = "---\ndescription: what was learned\n---\n"
FILES = 16


class Death(BaseException):
    """The supervisor is gone: what an uncatchable signal does, inside one process."""


class Attempts:
    """Counts how often something was tried, across processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def next(self, name: str) -> int:
        place = self._folder / f"tried-{name}"
        with place.open("ab") as file:
            file.write(b".")
        return place.stat().st_size


@dataclass
class Ends:
    """How a run's child ends: a finish, or something else."""

    kind: str = "committed"
    how: str = "exited"
    code: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)


def said(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return id and text of every user entry."""
    return [
        (entry["id"], entry["text"])
        for talk in payload["conversations"]
        for entry in talk["entries"]
        if entry["kind"] == "user"
    ]


def lesson_file(name: str) -> str:
    """Return where a lesson goes; conversations share a few files."""
    return f"reference/lessons-{sum(name.encode()) % FILES}.md"


def lessons(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(entry, found) for entry, text in said(payload) for found in LESSON.findall(text)]


def learn(tree: Path, found: Sequence[tuple[str, str]]) -> list[str]:
    """Write what is not there yet; return the items for the commit."""
    items = []
    for entry, name in found:
        place = tree / lesson_file(name)
        text = place.read_text("utf-8") if place.exists() else HEAD
        line = f"- lesson {name}\n"
        if line not in text:
            place.write_text(text + line, "utf-8")
            items.append(f"{lesson_file(name)}: {name} [entry {entry}]")
    return items


def failed(reason: str, detail: str) -> Ends:
    return Ends("failed", fields={"reason": reason, "detail": detail})


def luck(payload: Mapping[str, Any], folder: Path) -> tuple[str, str]:
    """Return the worst that still happens to a payload, "" for nothing, and where it is said."""
    words = [
        (word, int(times or 1), entry)
        for entry, text in said(payload)
        for word, times in WORD.findall(text)
    ]
    for word, times, entry in sorted(words, key=lambda each: WORST.index(each[0])):
        name = re.sub(r"\W", "-", f"{word}-{entry}")
        if word == "Poison" or Attempts(folder).next(name) <= times:
            return word, entry
    return "", ""


ENDS: dict[str, Ends] = {
    "Poison": failed("refusal", "The model refuses to read this."),
    "Refuse": failed("refusal", "The model refused."),
    "Crash": Ends(code=3),
    "Silent": Ends("none"),
    "Late": Ends("none", how="deadline"),
}
PROVIDER: dict[str, Ends] = {
    "quota": failed("quota", "429: the quota of this hour is used up."),
    "overloaded": failed("overloaded", "529 overloaded"),
    "auth": failed("auth", "401: the key is not valid."),
}


def perform(child: Child, folder: Path, person: Callable[[str, Path, str], None]) -> Ends:
    """Do what the payload says; `person` edits the memory beside the run."""
    provider = folder / "provider"
    weather = provider.read_text("utf-8").strip() if provider.exists() else ""
    if weather in PROVIDER:
        return PROVIDER[weather]
    word, _ = luck(child.payload, folder)
    if word == "Die":
        raise Death
    if word in ENDS:
        return ENDS[word]
    found = lessons(child.payload)
    if child.payload["pipeline"] == "dream":
        found = [(child.evidence, f"dream-{child.payload['run_id']}")]
    items = learn(child.tree, found)
    if word and found:
        person(word, Path(child.payload["repository"]) / lesson_file(found[0][1]), found[0][1])
    if not items:
        return Ends("nothing_to_record")
    child.commit(*items, subject=f"feat({child.payload['pipeline']}): lessons")
    return Ends()


def finish(child: Child, ends: Ends) -> None:
    """Write the result, if this end has one."""
    if ends.kind != "none" and not ends.code:
        cost = {"input_tokens": 900, "output_tokens": 90, "cached_tokens": 0, "cost_usd": 0.01}
        child.finish(ends.kind, usage=cost, **ends.fields)


def main() -> int:
    """Speak the protocol."""
    folder, child = Path(sys.argv[1]), Child(Path(sys.argv[2]))
    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        return 0
    ends = perform(child, folder, lambda *_: None)
    if ends.how == "deadline":
        sys.stdin.read()
    finish(child, ends)
    return ends.code


if __name__ == "__main__":
    sys.exit(main())
