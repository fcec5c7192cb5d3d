"""`scripts/home FOLDER`: a home with a rich memory, made by the product itself, always the same."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from reflector.core.ambient import Ambient, stamp
from reflector.core.errors import ReflectorError
from reflector.runtime import birth
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.undo import undo
from reflector.runtime.wiring import Context, context
from reflector.runtime.writing import write
from sample import words
from sample.steady import Counting, Still

BEGIN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
UNDONE = "wrong-turn"
CHILD = Path(__file__).with_name("child.py")


def make(folder: Path) -> Context:
    """Make the home; return its context. FOLDER must not exist."""
    folder.mkdir(parents=True)
    clock = Still(BEGIN)
    found = replace(context(str(folder / "home"), "default"), ambient=Ambient(clock, Counting()))
    birth.init(found)
    (folder / "home" / "MEMORY.md").write_text(words.SHORT_MEMORY, "utf-8")
    project = folder / "project"
    (project / ".reflector").mkdir(parents=True)
    (project / ".reflector" / "MEMORY.md").write_text(words.PROJECT_MEMORY, "utf-8")
    for reason, documents in (words.chapters() | words.skills()).items():
        clock.pass_by(hours=3)
        _write(found, reason, documents)
    for name, texts in words.TALKS:
        clock.pass_by(days=1)
        _learn(found, clock, _talk(folder, clock, name, texts), undone=name == UNDONE)
    return found


def _write(found: Context, reason: str, documents: Mapping[str, bytes]) -> None:
    write(found, lambda _tree: dict(documents), reason, writer="person")


def _talk(folder: Path, clock: Still, name: str, texts: tuple[str, ...]) -> Path:
    """Write a transcript: user and assistant take turns, the user begins."""
    place = folder / "transcripts" / f"{name}.jsonl"
    place.parent.mkdir(exist_ok=True)
    rows = [
        {
            "role": "assistant" if number % 2 else "user",
            "content": text,
            "id": f"{name}-{number}",
            "session_id": name,
            "cwd": "/home/dev/shop",
            "timestamp": stamp(clock.now()),
        }
        for number, text in enumerate(texts)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


def _learn(found: Context, clock: Still, transcript: Path, *, undone: bool) -> None:
    child = (sys.executable, str(CHILD), stamp(clock.now()))
    done = reflect(found, Options(files=(transcript,)), Quiet(), child)
    for run in done.runs:
        clock.pass_by(minutes=5)
        if undone:
            undo(found, run.id)


def main(argv: list[str]) -> int:
    """Make the home and say what can be done with it."""
    parser = argparse.ArgumentParser(prog="scripts/home", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a folder that does not exist")
    folder: Path = parser.parse_args(argv).folder.resolve()
    if folder.exists():
        parser.error(f"{folder} exists already")
    began = time.monotonic()
    try:
        found = make(folder)
    except ReflectorError as error:
        print(f"error: {error.message}\n       {error.hint}", file=sys.stderr)
        return 1
    print(f"Made {found.home.path} in {time.monotonic() - began:.0f} s. To look at it:\n")
    print(f"  export REFLECTOR_HOME={found.home.path}")
    for command in ("status", "runs", "memory ls", "memory log system/human.md", "prompt"):
        print(f"  reflector {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
