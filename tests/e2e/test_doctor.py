"""What `doctor` says of abnormal states, and what `--fix` mends without losing anything."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.support.cli import EXAMPLE, GENERIC, Cli, git
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow


@pytest.fixture
def cli(born) -> Cli:
    made: Cli = born()
    assert made("reflect", GENERIC).code == 0
    return made


def damage(state: Path, at: int) -> None:
    with state.open("r+b") as stream:
        stream.seek(at)
        stream.write(b"\xa5" * 64)


def test_a_sound_home_has_no_finding(cli):
    done = cli("doctor", "--json")
    assert done.code == 0, done.out
    assert done.json["ok"] is True
    assert done.json["fixed"] == []


@pytest.mark.parametrize("at", [0, 100])
def test_after_a_damaged_database_is_fixed_nothing_is_reflected_twice(cli, at):
    state = cli.repo.parent / "state.db"
    damage(state, at)
    broken = cli("status")
    assert broken.code == 3
    assert "doctor --fix" in broken.err
    fixed = cli("doctor", "--fix", "--json")
    assert fixed.code == 0, fixed.out + fixed.err
    assert any("moved the damaged" in sentence for sentence in fixed.json["fixed"])
    assert len(list(state.parent.glob("state.corrupt-*.db"))) == 1
    head = git(cli.repo, "rev-parse", "main")
    assert "Nothing new" in cli("reflect").out
    assert git(cli.repo, "rev-parse", "main") == head
    assert cli("status", "--json").json["problems"] == []


def test_a_lost_journal_whose_transcript_is_gone_waits_for_it_and_starts_nothing(cli, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")
    assert cli("reflect", talk).code == 0
    kept = talk.read_bytes()
    talk.unlink()
    damage(cli.repo.parent / "state.db", 0)
    fixed = cli("doctor", "--fix", "--json").json["fixed"]
    assert any("not in the journal yet" in sentence for sentence in fixed)
    (problem,) = cli("status", "--json").json["problems"]
    assert problem["code"] == "journal_lost"
    quiet = Cli(cli.home, REFLECTOR_TRIGGER_STEP_COUNT="1")
    assert quiet("event", "settled", "--json").json["decision"] in ("refused", "nothing")
    talk.write_bytes(kept)
    assert cli("ingest", talk).code == 0
    assert cli("doctor", "--fix").code == 0
    assert "Nothing new" in cli("reflect").out


def test_a_database_that_another_process_has_open_is_not_moved(cli):
    state = cli.repo.parent / "state.db"
    process = cli.start("supervise")
    try:
        holder = state.parent / "locks" / "state.lock"
        import fcntl

        with holder.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH)
            damage(state, 0)
            done = cli("doctor", "--fix")
        assert done.code == 4
        assert "open in another" in done.err
        assert state.exists()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_an_index_lock_of_a_dead_process_of_ours_is_removed_and_a_foreign_one_is_not(cli):
    lock = cli.repo / ".git" / "index.lock"
    lock.write_text("reflector 20261130T120000-00000000 0123\n")
    assert any("index.lock" in each for each in cli("doctor", "--fix", "--json").json["fixed"])
    assert not lock.exists()
    lock.touch()
    done = cli("doctor", "--fix", "--json")
    assert done.code == 1
    assert lock.exists()
    assert any(each["name"] == "index_lock" and not each["ok"] for each in done.json["checks"])


def test_a_broken_document_that_a_person_committed_is_named(cli):
    (cli.repo / "reference" / "x.md").write_text("no header\n")
    git(cli.repo, "add", "-A")
    git(cli.repo, "commit", "-q", "-m", "by hand")
    done = cli("doctor")
    assert done.code == 1
    assert "reference/x.md" in done.out


def test_a_repaired_database_still_knows_every_entry(cli):
    assert cli("ingest", EXAMPLE).code == 0
    state = cli.repo.parent / "state.db"
    with sqlite3.connect(state) as database:
        before = database.execute("SELECT id FROM entries ORDER BY id").fetchall()
    database.close()
    damage(state, 0)
    assert cli("doctor", "--fix").code == 0
    with sqlite3.connect(state) as database:
        after = database.execute("SELECT id FROM entries ORDER BY id").fetchall()
    database.close()
    assert after == before
