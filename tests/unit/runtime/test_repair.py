"""After a lost journal nothing is read twice, and what an import passed by waits for no run."""

from __future__ import annotations

import io
import os
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.runtime.backfill import Wish, backfill
from reflector.runtime.ingest import ingest_stream
from reflector.runtime.loop import Quiet
from reflector.runtime.repair import repair, waiting
from reflector.store import imports, scheduling
from tests.support.auditor import audit, rows
from tests.support.clocks import WHEN
from tests.support.scenes import Scene
from tests.support.transcripts import conversation


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def past(tmp_path: Path) -> Path:
    folder = tmp_path / "past"
    folder.mkdir()
    return folder


def talk(folder: Path, name: str, *texts: str) -> Path:
    file = conversation(folder / f"{name}.jsonl", *(texts or ("Use tabs.", "Yes.")), session=name)
    then = (WHEN - timedelta(days=1)).timestamp()
    os.utime(file, (then, then))
    return file


def imported(scene: Scene, folder: Path) -> None:
    backfill(scene.context(), [folder], Wish(), Quiet())


def damage(scene: Scene) -> None:
    with scene.context().agent.state.open("r+b") as stream:
        stream.write(b"damaged" * 20)


def cursors(scene: Scene) -> dict[str, tuple[int, int]]:
    found = rows(
        scene.context().agent.state, "SELECT key, cursor, last_sequence FROM conversations"
    )
    return {row["key"]: (row["cursor"], row["last_sequence"]) for row in found}


def noted(scene: Scene) -> dict[str, list[tuple[int, int]]]:
    with scene.context().state() as state:
        told = imports.noted(state.connection)
    return {
        key: [(each.first_sequence, each.last_sequence) for each in found]
        for key, found in told.items()
    }


def held(scene: Scene) -> bool:
    with scene.context().state() as state:
        return scheduling.mark(state.connection, scheduling.JOURNAL_LOST) is not None


def test_what_an_import_passed_by_is_no_backlog_after_the_journal_was_lost(scene, past):
    talk(past, "one")
    talk(past, "two", "Use tabs.", "Yes.", "Sure?", "Yes.")
    imported(scene, past)
    before = cursors(scene), noted(scene)
    damage(scene)
    said = repair(scene.context())
    assert "passed by again what an import had passed by: 2 conversations" in said
    assert (cursors(scene), noted(scene)) == before
    assert before[0] == {"jsonl/one": (2, 2), "jsonl/two": (4, 4)}
    assert not held(scene)
    audit(scene.home)


def test_a_backlog_is_still_one_after_the_journal_was_lost(scene, past):
    talk(past, "old")
    imported(scene, past)
    scene.says("Use spaces.", "No.", session="new")
    damage(scene)
    repair(scene.context())
    assert cursors(scene) == {"jsonl/new": (0, 2), "jsonl/old": (2, 2)}


def test_a_journal_lost_twice_still_knows_what_was_passed_by(scene, past):
    talk(past, "one")
    imported(scene, past)
    for _ in range(2):
        scene.clock.passed += 60
        damage(scene)
        repair(scene.context())
    assert noted(scene) == {"jsonl/one": [(1, 2)]}


def test_a_transcript_that_cannot_be_read_now_holds_automatic_runs(scene, past):
    file = talk(past, "one")
    imported(scene, past)
    kept = file.read_bytes()
    file.write_bytes(b"\x00\x01\x02" * 100)
    damage(scene)
    said = repair(scene.context())
    assert any("mend what could not be read" in each for each in said)
    assert held(scene)
    file.write_bytes(kept)
    repair(scene.context())
    assert (cursors(scene), held(scene)) == ({"jsonl/one": (2, 2)}, False)


def test_an_imported_transcript_that_is_gone_holds_nobody(scene, past):
    talk(past, "one")
    file = talk(past, "two")
    imported(scene, past)
    file.unlink()
    damage(scene)
    said = repair(scene.context())
    assert any("such as jsonl/two: their transcripts are gone" in each for each in said)
    assert (cursors(scene), held(scene)) == ({"jsonl/one": (2, 2)}, False)


@pytest.mark.parametrize(
    ("name", "next_step"),
    [
        ("api:talk", "as soon as its program appends to it"),
        ("opencode:talk", "when its next turn ends"),
    ],
)
def test_what_is_in_no_file_is_said_to_be_so_with_what_brings_it_back(scene, past, name, next_step):
    text = talk(past, "talk").read_bytes()
    ingest_stream(scene.context(), io.BytesIO(text), name=name, stem="talk", watch=Quiet())
    damage(scene)
    said = repair(scene.context())
    assert any(name in each and next_step in each for each in said)
    assert not any("could not read" in each for each in said)
    assert not held(scene)


def test_what_main_tells_of_and_is_in_no_file_is_waited_for_by_its_own_way():
    streams = {"opencode:ses_1": "opencode/ses_1", "opencode:ses_2": "opencode/ses_2"}
    first, second = waiting(streams, {"opencode/ses_1", "jsonl/talk"})
    assert first.startswith("2 sessions of OpenCode, such as opencode:ses_1, are in no file")
    assert first.endswith("next turn ends; then run `reflector doctor --fix` again")
    assert second.startswith("1 conversations are not in the journal yet, such as jsonl/talk: ing")


def test_an_audit_misses_what_was_passed_over_unnoted(scene, past):
    talk(past, "one")
    imported(scene, past)
    audit(scene.home)
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("DELETE FROM marks")
    with pytest.raises(AssertionError, match="cursor 2, consumed up to 0"):
        audit(scene.home)
