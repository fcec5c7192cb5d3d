"""The two sides of a race as processes, and who judges what they did to each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.auditor import git
from tests.support.cli import ROOT

RUNNER, PERSON = Path(__file__).with_name("runner.py"), Path(__file__).with_name("person.py")


class Partner:
    """A long-lived process that answers each line with a JSON line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def ask(self, line: str) -> None:
        self._in.write(f"{line}\n".encode())
        self._in.flush()

    def answer(self) -> Any:
        line = self._out.readline()
        assert line, "it died"
        return json.loads(line)


@contextmanager
def partner(*words: str | Path) -> Iterator[Partner]:
    environ = {name: os.environ[name] for name in os.environ if name.startswith(("GIT_", "PATH"))}
    process = subprocess.Popen(
        [sys.executable, *map(str, words)],
        env={**environ, "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield Partner(process)
    finally:
        process.communicate()


@dataclass
class Judge:
    """Compares what both sides say with what git and the files say."""

    repo: Path
    lesson: str = "- Lesson {} of the race."
    lessons: set[int] = field(default_factory=set)
    outcomes: list[str] = field(default_factory=list)

    def heard(self, runs: list[dict[str, Any]]) -> None:
        for run in runs:
            self.outcomes.append(run["outcome"])
            if run["outcome"] == "merged":
                talks = (each["conversation"] for each in run["snapshots"])
                self.lessons.update(int(talk.rpartition("-")[2]) for talk in talks)

    def wrong(self, person: dict[str, Any]) -> Iterator[str]:
        files, staged = _bytes(person["files"]), _bytes(person["staged"])
        for path, content in files.items():
            if (found := _read(self.repo / path)) != content:
                yield f"{path} was {content!r}, it is {found!r}"
        for path, content in staged.items():
            if (found := git(self.repo, "show", f":{path}", check=False)) != content:
                yield f"staged {path} was {content!r}, it is {found!r}"
        yield from self._status(files, staged)
        yield from self._history(person)

    def _status(self, files: dict[str, bytes], staged: dict[str, bytes]) -> Iterator[str]:
        words = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
        said = set(filter(None, git(self.repo, *words).decode().split("\0")))
        expected = {self._line(path, files, staged) for path in files | staged} - {""}
        if said != expected:
            yield f"git status says {sorted(said)}, expected {sorted(expected)}"

    def _line(self, path: str, files: dict[str, bytes], staged: dict[str, bytes]) -> str:
        head = self._at(f"main:{path}")
        index = staged.get(path, head)
        if index is None:
            return f"?? {path}"
        first = " " if index == head else "A" if head is None else "M"
        second = " " if files.get(path, index) == index else "M"
        return f"{first}{second} {path}" if first + second != "  " else ""

    def _at(self, what: str) -> bytes | None:
        if b"missing" in git(self.repo, "cat-file", "-t", what, check=False) or not git(
            self.repo, "rev-parse", "-q", "--verify", what, check=False
        ):
            return None
        return git(self.repo, "cat-file", "blob", what)

    def _history(self, person: dict[str, Any]) -> Iterator[str]:
        texts: dict[str, list[str]] = {}
        for path in {path for path, _ in person["committed"]} | {"system/human.md"}:
            texts[path] = (self._at(f"main:{path}") or b"").decode().splitlines()
        for path, line in person["committed"]:
            if texts[path].count(line) != 1:
                yield f"the person's line {line!r} is {texts[path].count(line)} times in {path}"
        for number in sorted(self.lessons):
            line = self.lesson.format(number)
            times = texts["system/human.md"].count(line)
            if times != (line not in person["deleted"]):
                yield f"lesson {number} is {times} times in main"


def _bytes(texts: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode("latin-1") for path, text in texts.items()}


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
