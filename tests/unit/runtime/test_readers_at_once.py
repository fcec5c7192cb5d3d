"""Two readers of one transcript at once: whatever order they save in, nothing is lost or doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from tests.support.scenes import Scene

ROWS = 2500  # more than two batches


@dataclass(frozen=True)
class Between(Quiet):
    """Does something after the first batch, and stops after the second."""

    meanwhile: Callable[[], object] = lambda: None
    told: list[int] = field(default_factory=list)

    def reading(self, path: Path, done: int, total: int) -> None:
        del path, total
        self.told.append(done)
        if len(self.told) == 1:
            self.meanwhile()

    def stop(self) -> bool:
        return len(self.told) == 2


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def written(path: Path, texts: list[str]) -> Path:
    rows = ({"role": "user", "content": text, "session_id": "talk"} for text in texts)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def texts_of(scene: Scene) -> list[str]:
    with scene.context().state() as state:
        found = state.connection.execute("SELECT text FROM entries ORDER BY sequence").fetchall()
    return [row["text"] for row in found]


def test_a_reader_that_was_overtaken_takes_nothing_back(scene, tmp_path):
    said = [f"Line {number}." for number in range(ROWS)]
    talk = written(tmp_path / "talk.jsonl", said)
    behind = Between(meanwhile=lambda: ingest(scene.context(), talk, Quiet()))
    ingest(scene.context(), talk, behind)
    ingest(scene.context(), talk, Quiet())
    assert texts_of(scene) == said


def test_a_reader_that_begins_anew_takes_no_count_from_another(scene, tmp_path):
    said = [f"Line {number % 1700}." for number in range(ROWS)]  # equal rows far apart
    talk = written(tmp_path / "talk.jsonl", said)

    def other() -> None:
        ingest(scene.context(), talk, Between())

    first = Between(meanwhile=other)
    ingest(scene.context(), talk, first)
    ingest(scene.context(), talk, Quiet())
    assert texts_of(scene) == said
