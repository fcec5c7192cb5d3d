"""Real transcripts extracted by a model that answers by rule; one line each, and what was dropped.

`python -m scripts.experiences_table FOLDER`. The model cites real ids, and now and then invents a
path, a number and an id, or leaves a field out: what becomes of that is the point of the table.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime import steps
from reflector.runtime.experiences.due import Wish
from reflector.runtime.experiences.foreground import extract_now
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.surface.cli.show import report
from tests.support.messages_server import serving
from tests.support.projects import asking
from tests.support.segments import Model, Person, experience, fact, in_process, shown

_ROW = re.compile(
    r"^\[(\S+)\] (user|assistant|assistant calls|tool result of)\n((?:\| .*\n?)+)", re.MULTILINE
)
_PATH = re.compile(r'"(?:file_path|path|filePath)"\s*:\s*"([^"]+)"')
_COMMAND = re.compile(r'"(?:command|cmd)"\s*:\s*"((?:[^"\\]|\\.)+)"')
_KEPT = re.compile(r"(added|updated|skipped|superseded): (\d+)")
_SUFFIXES = (".jsonl", ".json", ".traj")
_INVENTED = "/srv/invented/nowhere.conf"


@dataclass
class Ruled(Model):
    """Answers from what it is shown, by rule, and lies a little: `segments` counts the answers."""

    segments: int = 0

    def extraction(self, text: str) -> dict[str, Any]:
        """Return one or two experiences and a fact that cite the segment."""
        self.segments += 1
        segment = text.split("<segment>", 1)[-1]
        found = _ROW.findall(segment)
        said = [(which, _plain(body)) for which, kind, body in found if kind == "user"]
        calls = [(which, _plain(body)) for which, kind, body in found if kind == "assistant calls"]
        topic = said[-1][1].split("\n")[0][:80] if said else "the work of this segment"
        steps = [match[1] for _, body in calls if (match := _COMMAND.search(body))]
        step = f"Begin with `{steps[0]}`." if steps else "Look before anything is changed."
        ids = [which for which, _ in (*said[-1:], *calls[:1])]
        one = experience(f"How to: {topic}", step, evidence=[*ids, "made-up:1:0"])
        taught = [one, {"task": f"Again: {topic}", "confidence": "high"}]
        paths = _PATH.findall(segment)
        lie = f" (see {_INVENTED}, 987654321 times)" if self.segments % 3 == 0 else ""
        statement = f"{topic}{lie}\nstep: {self.segments}777"
        known = fact(
            paths[0] if paths else "",
            statement,
            files=[*paths[:2], _INVENTED],
            details=[which for which, _ in calls[:1]],
            evidence=ids,
        )
        return {"experiences": taught[: 1 + self.segments % 2], "fact": known}

    def _answer(self, request: dict[str, Any]) -> Any:
        busy = "assistant calls" in shown(request)
        self.scenes = {"": "it depends" if busy else "chat"}  # then the tools tell
        return super()._answer(request)


def _plain(quoted: str) -> str:
    return "\n".join(line[2:] for line in quoted.splitlines())


@dataclass
class Row:
    """What became of one transcript."""

    name: str
    runs: list[Run] = field(default_factory=list)
    scenes: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        """Return it as one line of the table."""
        ends = Counter(str(run.outcome) for run in self.runs)
        lost = {name: n for name, n in sorted(self.counts.items()) if "." in name}
        lost["unverified items"] = self.counts["unverified"]
        return (
            f"{self.name[:44]:44} {len(self.runs):>4}  {_told(ends):24} {_told(self.scenes):30} "
            f"{_told(self.kept):20} {_told(lost)}"
        )


def _told(counts: dict[str, int] | Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "-"


def rows(folder: Path, places: Sequence[Path]) -> list[Row]:
    """Extract every transcript in a home of its own, and say what became of it."""
    model = Ruled()
    found = []
    with serving(model) as url, pytest.MonkeyPatch.context() as patch:
        config = f"{asking(url)}max_runs = 9999\n"
        for number, place in enumerate(places):
            home = folder / str(number)
            home.mkdir()
            found.append(_row(Person(home, config, model=model), patch, place))
    return found


def _row(scene: Person, patch: pytest.MonkeyPatch, place: Path) -> Row:
    in_process(scene, patch)
    row = Row(f"{place.parent.name}/{place.name}")
    try:
        ingest(scene.context(), place, Quiet(), settled=True)
    except ReflectorError as error:
        row.name = f"{row.name}: {error.code}"
        return row
    row.runs = list(extract_now(scene.context(), Quiet(), Wish(force=True)).runs)
    for run in row.runs:
        folder = scene.context().agent.run(run.id)
        row.kept.update({name: int(n) for name, n in _KEPT.findall(report(scene.context(), run))})
        for step in steps.read(folder):
            known = step["counts"].items()
            scenes = {name.removeprefix("scene."): n for name, n in known if name[:6] == "scene."}
            row.scenes.update(scenes)
            row.counts.update({name: n for name, n in known if name[:6] != "scene."})
    return row


def main(words: Sequence[str]) -> int:
    """Print the table of all transcripts below a folder."""
    places = sorted(each for each in Path(words[0]).rglob("*") if each.suffix in _SUFFIXES)
    with tempfile.TemporaryDirectory() as folder:
        found = rows(Path(folder), places)
    print(f"{'transcript':44} runs  {'outcomes':24} {'scenes':30} {'kept':20} dropped and removed")
    for row in found:
        print(row.line())
    print(f"\n{sum(len(row.runs) for row in found)} segments of {len(found)} transcripts")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
