"""Ids that a harness took from a secret: kept nowhere, and still as many as there were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflector.runtime.ingest import Ingested, ingest
from reflector.runtime.loop import Quiet
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM

TOKENS = ["ghp" + "_" + ALNUM[at : at + 36] for at in range(3)]


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def heard(scene: Scene, path: Path, *ids: str) -> Ingested:
    rows = (
        {"role": "user", "content": f"Line {number}.", "id": name, "session_id": "talk"}
        for number, name in enumerate(ids)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return ingest(scene.context(), path, Quiet())


def leaks(scene: Scene) -> list[str]:
    files = [each for each in scene.home.rglob("*") if each.is_file()]
    return [str(each) for each in files for token in TOKENS if token.encode() in each.read_bytes()]


def test_rows_whose_ids_are_secrets_stay_as_many_and_leak_nothing(scene, tmp_path):
    assert heard(scene, tmp_path / "a.jsonl", *TOKENS, "plain-1").entries == 4
    assert heard(scene, tmp_path / "b.jsonl", *TOKENS, "plain-1", "plain-2").entries == 1
    assert leaks(scene) == []
