"""A history is imported: oldest first, once, and without waiting for a run."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from reflector.core.errors import PausedError
from reflector.harness import documents, lines
from reflector.runtime import pauses
from reflector.runtime.backfill import Imported, Wish, backfill, progress, unchanged
from reflector.runtime.history import Candidate
from reflector.runtime.loop import Quiet
from reflector.runtime.notices import notices
from reflector.store import imports, journal
from reflector.store.imports import Known, Range
from tests.support.cli import EXAMPLE
from tests.support.clocks import WHEN
from tests.support.scenes import Scene
from tests.support.transcripts import conversation, extend

DAY = 86_400


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


@pytest.fixture
def past(tmp_path):
    """A folder of old conversations."""
    (tmp_path / "past").mkdir()
    return tmp_path / "past"


def talk(folder: Path, name: str, *texts: str, days: float = 1) -> Path:
    """Write a conversation whose file is so many days old."""
    file = folder / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "role": "assistant" if number % 2 else "user",
            "content": text,
            "id": f"{name}-{number}",
            "session_id": name,
            "timestamp": (WHEN - timedelta(days=days)).isoformat(),
        }
        for number, text in enumerate(texts or ("Use tabs.", "Yes."))
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return aged(file, days)


def aged(file: Path, days: float) -> Path:
    at = WHEN.timestamp() - days * DAY
    os.utime(file, (at, at))
    return file


def imported(scene: Scene, *paths: Path, watch: Quiet | None = None, **wish) -> Imported:
    return backfill(scene.context(), paths, Wish(**wish), watch or Quiet())


def backlog(scene: Scene) -> dict[str, int]:
    with scene.context().state() as state:
        found = journal.conversations(state.connection)
        return {each.key: each.unreflected_bytes for each in found if each.unreflected_bytes}


def ranges(scene: Scene, key: str) -> list[Range]:
    with scene.context().state() as state:
        return imports.ranges(state.connection, key)


# What is read


def test_transcripts_are_read_oldest_first_and_once(scene, past):
    for name, days in (("new", 1), ("old", 9), ("deep/er/middle", 5)):
        talk(past, name, days=days)
    done = imported(scene, past)
    assert [Path(each.path).stem for each in done.files] == ["old", "middle", "new"]
    assert sum(done.conversations.values()) == 6
    again = imported(scene, past)
    assert (again.files, again.passed_over) == ((), {"unchanged": 3})


def test_thirty_files_of_mixed_kinds_are_told_apart(scene, past):
    for number in range(10):
        talk(past, f"talk-{number}")
        (past / f"settings-{number}.json").write_text(json.dumps({"theme": "dark", "n": number}))
    for number in range(4):
        (past / f"empty-{number}.jsonl").touch()
        (past / f"torn-{number}.jsonl").write_text('{"role": "us')
    (past / "binary.jsonl").write_bytes(bytes(range(256)) * 20)
    (past / "pretty.json").write_text(json.dumps({"a": {"b": 1}}, indent=2))
    (past / "notes.md").write_text("# Notes\n")
    (past / "session.jsonl").write_bytes(EXAMPLE.read_bytes())
    done = imported(scene, past)
    assert len(done.files) == 11
    assert {each.format for each in done.files} == {"jsonl", "claude-code"}
    assert (done.refused, done.passed_over) == ((), {"not_a_transcript": 20})


def test_a_session_that_cannot_be_read_is_told_among_files_that_are_none(scene, past, monkeypatch):
    monkeypatch.setattr(documents, "LARGEST", 200)
    (past / "torn.json").write_text('{\n "info": {"id": "ses_1"},\n "messages": [')
    (past / "settings.json").write_text('{\n "theme": "da')
    (past / "large.json").write_text("[\n" + '{"role": "user", "content": "Hello."},' * 10 + "{}]")
    done = imported(scene, past)
    told = sorted(Path(str(each.facts["path"])).stem for each in done.refused)
    assert (told, done.passed_over) == (["large", "torn"], {"not_a_transcript": 1})


def test_a_session_that_was_deleted_is_not_read(scene, past):
    talk(past, "kept")
    talk(past, "gone").rename(past / "gone.jsonl.deleted.1764500000")
    done = imported(scene, past)
    assert list(done.conversations) == ["jsonl/kept"]


def test_no_link_is_followed_and_no_pipe_waited_for(scene, past, tmp_path):
    outside = talk(tmp_path / "outside", "outside")
    (past / "link.jsonl").symlink_to(outside)
    (past / "folder").symlink_to(outside.parent)
    (past / "loop").symlink_to(past)
    os.mkfifo(past / "pipe.jsonl")
    done = imported(scene, past)
    assert (done.files, done.passed_over) == ((), {"link": 1, "not_a_file": 1})


def test_the_home_of_reflector_is_left_alone(scene, tmp_path):
    talk(scene.home / "spool", "own")
    assert list(imported(scene, talk(tmp_path / "past", "theirs").parent).conversations)
    assert not imported(scene, scene.home).files
    assert "jsonl/own" not in imported(scene, tmp_path).conversations


def test_a_file_named_twice_is_read_once(scene, past):
    talk(past / "inner", "talk")
    done = imported(scene, past, past / "inner")
    assert len(done.files) == 1


def test_a_file_in_another_form_is_refused_by_its_name_and_keeps_nobody_out(scene, past):
    other = past / "output.jsonl"
    other.write_text('{"type":"thread.started","thread_id":"t"}\n')
    talk(past, "talk")
    done = imported(scene, past)
    assert len(done.files) == 1
    assert [each.facts["path"] for each in done.refused] == [str(other)]


def test_a_disk_that_fails_under_one_file_keeps_nobody_out(scene, past):
    talk(past, "talk", days=1)
    broken = Path("/proc/self/mem")
    done = imported(scene, broken, past)
    assert (len(done.files), [each.facts["path"] for each in done.refused]) == (1, [str(broken)])


def test_a_huge_line_is_a_bad_line(scene, past, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    talk(past, "talk", "Use tabs.", "x" * 5000, "Yes.")
    (done,) = imported(scene, past).files
    assert (done.entries, done.bad_lines) == (2, 1)


def test_a_file_that_grew_is_read_on(scene, past):
    file = aged(conversation(past / "talk.jsonl", "Use tabs.", "Yes."), 2)
    imported(scene, past)
    aged(extend(file, "And spaces?"), 1)
    assert imported(scene, past).conversations == {"jsonl/talk": 1}


def test_a_file_rewritten_in_its_old_size_is_read_again(scene, past):
    file = talk(past, "talk", "Use tabs.", "Yes.")
    imported(scene, past)
    file.write_bytes(file.read_bytes().replace(b"talk-1", b"talk-9"))
    aged(file, -1)
    assert imported(scene, past).conversations == {"jsonl/talk": 1}


FILE = Candidate(Path("/x"), 1, 2, 100, WHEN.timestamp() - 1)
READ = Known(1, 2, 100, 100, 100, degraded=False, read_at="2026-11-30T12:00:00.000Z")


def test_a_file_as_it_was_read_is_unchanged():
    assert unchanged(READ, FILE, settled=False)


@pytest.mark.parametrize(
    "known",
    [
        None,
        Known(9, 2, 100, 100, 100, degraded=False, read_at=READ.read_at),
        Known(1, 9, 100, 100, 100, degraded=False, read_at=READ.read_at),
        Known(1, 2, 90, 90, 90, degraded=False, read_at=READ.read_at),
        Known(1, 2, 100, 100, 100, degraded=True, read_at=READ.read_at),
        Known(1, 2, 100, 50, 60, degraded=False, read_at=READ.read_at),
        Known(1, 2, 100, 100, 100, degraded=False, read_at="2026-11-30T11:00:00.000Z"),
    ],
    ids=["unknown", "device", "inode", "size", "degraded", "half read", "written since"],
)
def test_every_other_file_is_looked_into(known):
    assert not unchanged(known, FILE, settled=False)


def test_a_file_whose_last_rows_are_open_is_looked_into_to_settle_it():
    known = Known(1, 2, 100, 60, 100, degraded=False, read_at=READ.read_at)
    assert unchanged(known, FILE, settled=False)
    assert not unchanged(known, FILE, settled=True)


# Since


def test_only_files_touched_since_then_are_read(scene, past):
    talk(past, "old", days=9)
    talk(past, "new", days=2)
    done = imported(scene, past, since=WHEN - timedelta(days=5))
    assert (list(done.conversations), done.passed_over) == (["jsonl/new"], {"older": 1})


def test_a_copied_file_is_as_old_as_its_last_words(scene, past):
    aged(talk(past, "copied", days=9), 0)
    done = imported(scene, past, since=WHEN - timedelta(days=5))
    assert (done.files, done.passed_over) == ((), {"older": 1})


def test_a_file_without_times_is_as_old_as_the_file(scene, past):
    file = past / "bare.jsonl"
    file.write_text(
        '{"role":"user","content":"Use tabs."}\n{"role":"assistant","content":"Yes."}\n'
    )
    aged(file, 2)
    assert len(imported(scene, past, since=WHEN - timedelta(days=5)).files) == 1


def test_a_long_file_is_judged_by_its_end(scene, past):
    file = talk(past, "long", *["word " * 2000] * 40, days=9)
    row = {"role": "user", "content": "Hi", "id": "z", "session_id": "long"}
    row["timestamp"] = (WHEN - timedelta(days=1)).isoformat()
    with file.open("a") as stream:
        stream.write(json.dumps(row) + "\n")
    aged(file, 1)
    assert len(imported(scene, past, since=WHEN - timedelta(days=5)).files) == 1


# Cursors


def test_an_imported_conversation_waits_for_no_run(scene, past):
    talk(past, "talk", "Use tabs.", "Yes.", "Sure?", "Yes.")
    done = imported(scene, past)
    assert backlog(scene) == {}
    assert done.passed_by == {"jsonl/talk": 4}
    (noted,) = ranges(scene, "jsonl/talk")
    assert (noted.first_sequence, noted.last_sequence) == (1, 4)
    with scene.context().state() as state:
        told = dict(notices(scene.context(), state))["passed_by"]
        scene.clock.passed += 8 * DAY
        later = dict(notices(scene.context(), state))
    assert "4 entries of one imported conversation;" in told
    assert "passed_by" not in later


def test_a_file_that_grew_between_two_imports_is_one_range(scene, past):
    file = aged(conversation(past / "talk.jsonl", "Use tabs.", "Yes."), 2)
    imported(scene, past)
    aged(extend(file, "And spaces?", "No."), 1)
    imported(scene, past)
    assert [(each.first_sequence, each.last_sequence) for each in ranges(scene, "jsonl/talk")] == [
        (1, 4)
    ]


def test_a_backlog_of_its_own_is_kept(scene, past):
    scene.says("Use tabs.", "Yes.", session="talk")
    before = backlog(scene)
    assert before
    for name in ("talk", "other"):
        talk(past, name, "Use tabs.", "Yes.", "And spaces?", "No.")
    done = imported(scene, past)
    assert list(done.passed_by) == ["jsonl/other"]
    assert backlog(scene)["jsonl/talk"] > before["jsonl/talk"]
    assert ranges(scene, "jsonl/talk") == []


def test_what_is_said_after_an_import_waits_for_a_run(scene, past):
    file = aged(conversation(past / "talk.jsonl", "Use tabs.", "Yes."), 2)
    imported(scene, past)
    extend(file, "And spaces?", "No.")
    imported(scene, file)
    assert list(backlog(scene)) == ["jsonl/talk"]


def test_to_reflect_on_it_cursors_are_left_alone(scene, past):
    talk(past, "talk")
    done = imported(scene, past, keep_backlog=True)
    assert (list(backlog(scene)), dict(done.passed_by)) == (["jsonl/talk"], {})


def test_a_single_file_leaves_cursors_alone_unless_the_past_is_asked_for(scene, past):
    done = imported(scene, talk(past, "one"))
    assert ([each.entries for each in done.named], done.is_sum) == ([2], False)
    imported(scene, talk(past, "two"), since=WHEN - timedelta(days=5))
    assert list(backlog(scene)) == ["jsonl/one"]


def test_counters_and_cursors_hold_in_many_batches(scene, past):
    talk(past, "long", *["words"] * 2500)
    imported(scene, past)
    assert backlog(scene) == {}
    with scene.context().state() as state:
        known = journal.conversation(state.connection, "jsonl/long")
    assert known
    assert (known.cursor, known.total_steps, known.steps_since_reflection) == (2500, 1250, 0)
    assert len(ranges(scene, "jsonl/long")) == 1


# A look alone


def tree(home: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(home)): each.read_bytes() if each.is_file() else None
        for each in sorted(home.rglob("*"))
    }


def test_a_dry_run_counts_and_leaves_the_home_as_it_is(scene, past):
    talk(past, "known")
    imported(scene, past)
    talk(past, "new", "Use tabs.", "Yes.", "Sure?")
    before = tree(scene.home)
    done = imported(scene, past, dry_run=True)
    assert tree(scene.home) == before
    assert done.conversations == {"jsonl/new": 3}
    assert done.passed_over == {"unchanged": 1}
    assert [each.as_json()["entries"] for each in done.looks] == [3]


def test_a_dry_run_makes_no_database(scene, past):
    talk(past, "talk")
    state = scene.context().agent.state
    for each in state.parent.glob("state.db*"):
        each.unlink()
    assert imported(scene, past, dry_run=True).conversations == {"jsonl/talk": 2}
    assert not list(state.parent.glob("state.db*"))


def test_a_dry_run_counts_what_is_new_of_a_file_that_grew(scene, past):
    file = aged(conversation(past / "talk.jsonl", "Use tabs.", "Yes."), 2)
    imported(scene, past)
    aged(extend(file, "And spaces?"), 1)
    assert imported(scene, past, dry_run=True).conversations == {"jsonl/talk": 1}


def test_a_dry_run_leaves_out_excluded_folders_and_our_own_sessions(tmp_path, past):
    scene = Scene(tmp_path, config='[journal]\nexclude = ["/secret"]\n')
    for name, cwd in (("a", "/secret/x"), ("b", str(scene.home / "run")), ("c", "/open")):
        row = {"role": "user", "content": "Hi", "id": name, "session_id": name, "cwd": cwd}
        (past / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    done = imported(scene, past, dry_run=True)
    assert done.conversations == {"jsonl/c": 1}
    assert [dict(each.left_out) for each in done.looks if each.left_out] in (
        [{"excluded": 1}, {"own": 1}],
        [{"own": 1}, {"excluded": 1}],
    )


# On the way


def test_a_stopped_import_goes_on_the_next_time(scene, past):
    for number in range(5):
        talk(past, f"talk-{number}", days=9 - number)
    asked = count()
    first = imported(scene, past, watch=Quiet(lambda: next(asked) > 3))
    assert 0 < len(first.files) < 5
    second = imported(scene, past)
    assert len(first.files) + len(second.files) == 5
    assert backlog(scene) == {}


def test_nothing_is_imported_while_paused(scene, past):
    talk(past, "talk")
    found = scene.context()
    pauses.pause(found.home, found.ambient, None)
    with pytest.raises(PausedError):
        imported(scene, past)


def test_progress_names_files_speed_and_what_is_left():
    said = progress(3, 12, 40_000_000, 100_000_000, 512, 4.0)
    assert said == "3 of 12 files, 40.0 of 100.0 MB, 10.0 MB/s, 512 new entries, 6 s left"
    assert progress(11, 12, 99_000_000, 100_000_000, 5, 9.9).endswith("5 new entries")
    assert progress(0, 1, 0, 10, 0, 0.0) == "0 of 1 files, 0.0 of 0.0 MB, 0.0 MB/s, 0 new entries"
    assert progress(1, 9, 10**6, 10**10, 0, 1.0).endswith(", 2 h 46 min left")
    assert progress(1, 9, 10**6, 10**8, 0, 1.0).endswith(", 1 min 39 s left")


def test_what_is_held_back_at_the_end_of_a_file_is_taken_when_it_is_settled(scene, past):
    talk(past, "talk", "Look into it.")
    call = {"id": "c1", "function": {"name": "Bash", "arguments": "{}"}}
    row = {"role": "assistant", "content": None, "id": "a", "tool_calls": [call]}
    with (past / "talk.jsonl").open("a") as stream:
        stream.write(json.dumps({**row, "session_id": "talk"}) + "\n")
    aged(past / "talk.jsonl", 1)
    assert imported(scene, past).conversations == {"jsonl/talk": 1}
    assert imported(scene, past).passed_over == {"unchanged": 1}
    assert imported(scene, past, settled=True).conversations == {"jsonl/talk": 1}
    assert imported(scene, past, settled=True).conversations == {}
    assert backlog(scene) == {}
