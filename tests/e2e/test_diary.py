"""Told in one session, remembered in another weeks later: hooks, a model, and what a person can do."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import stamp
from reflector.core.days import local_day
from reflector.core.diary import Diary, Entry
from reflector.pipelines.diary import time_words
from reflector.runtime.decisions.words import extraction_rules
from reflector.runtime.spooled import drain_spool
from tests.support.cli import Cli, git
from tests.support.companions import Companion, companion, entry
from tests.support.hooks import called, shown
from tests.support.scenes import Shifted

pytestmark = pytest.mark.slow

TOLD = "my friend Anna moved to the lighthouse island, and the harbour feels empty"
WROTE = "A friend moved to the lighthouse island; the harbour feels empty since."
ASKED = "I saw the lighthouse on the island from the harbour, empty as it feels"
NOTE = "Say less when the harbour comes up."
DAYS = 40
MORE = '[recall]\ninject = true\n[diary]\nenabled = true\nnickname = "Sam"\n'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A home in which something was told forty days ago, among much else."""
    with companion(tmp_path_factory.mktemp("diary"), MORE) as made:
        made.clock = Shifted()
        made.model.writes["lighthouse"] = entry(WROTE)
        _first_session(made)
        made.diary.change("what else there was", "test", _among(made))
        yield made


@pytest.fixture
def cli(home: Companion) -> Cli:
    return Cli(home.home)


def _among(home: Companion):
    today = local_day(home.clock.now())
    others = [
        Entry(
            f"f{n:015x}", (today - timedelta(days=90)).isoformat(), f"Talk {n} on topic{n}.", "chat"
        )
        for n in range(80)
    ]

    def change(now: Diary) -> Diary:
        return replace(now, entries={**now.entries, **{each.id: each for each in others}})

    return change


def transcript(home: Companion, session: str, days: int, *texts: str) -> Path:
    place = home.folder / f"{session}.jsonl"
    at = stamp(home.clock.now() - timedelta(days=days))
    rows = [
        {
            "role": "assistant" if number % 2 else "user",
            "content": text,
            "id": f"{session}-{number}",
            "session_id": session,
            "timestamp": at,
        }
        for number, text in enumerate(texts)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


@contextmanager
def undrained(home: Companion) -> Iterator[None]:
    """Be the drainer, so that no other process is started."""
    with (home.home / "locks" / "ingest.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def hook(home: Companion, event: str, session: str, **more: str) -> str:
    place = str(home.folder / f"{session}.jsonl")
    given = {"session_id": session, "cwd": "/", "transcript_path": place, **more}
    with undrained(home):
        done = called(home.home, "claude-code", event, given)
    assert (done.returncode, done.stderr) == (0, b"")
    return shown(done.stdout)


def _first_session(home: Companion) -> None:
    home.clock.passed -= DAYS * 86_400
    transcript(home, "first", 0, TOLD, "Oh. That is far.")
    hook(home, "UserPromptSubmit", "first", prompt=TOLD)
    hook(home, "Stop", "first")
    assert drain_spool(home.context(), launch=False).entries == 2
    assert home.writes() is None
    home.clock.passed += DAYS * 86_400


def test_what_was_told_in_one_session_is_remembered_in_another_and_vaguely(home):
    assert WROTE in home.texts()
    transcript(home, "second", 0, ASKED)
    block = hook(home, "SessionStart", "second", source="startup")
    assert "All conversations are the same you." in block
    assert WROTE not in block
    beside = hook(home, "UserPromptSubmit", "second", prompt=ASKED)
    (line,) = [each for each in beside.split("\n") if "lighthouse" in each]
    assert time_words.vague(DAYS).lower() in line.lower()
    assert "Anna" not in beside
    assert not any(char.isdigit() for char in line)


def test_the_preview_of_the_same_moment_says_the_same(cli):
    text = cli("diary", "preview", "--query", ASKED).out
    (line,) = [each for each in text.split("\n") if "lighthouse" in each]
    assert time_words.vague(DAYS).lower() in line.lower()


def test_nobody_elses_name_is_in_any_file_of_the_diary(home):
    # Packed objects are read below: chance may spell four letters in what is compressed.
    files = (each for each in home.diary.path.rglob("*") if "objects" not in each.parts)
    assert b"Anna" not in b"".join(file.read_bytes() for file in files if file.is_file())
    everything = git(home.diary.path, "cat-file", "--batch-all-objects", "--batch")
    assert "Anna" not in everything


def test_a_note_is_in_the_very_next_block_and_its_commit_says_nothing_of_it(home, cli):
    done = cli("diary", "note", NOTE, "--json")
    assert done.code == 0
    assert git(home.diary.path, "rev-parse", "main").strip() == done.json["commit"]
    assert "harbour" not in git(home.diary.path, "log", "-1", "--format=%B")
    transcript(home, "third", 0, "hello")
    assert NOTE in hook(home, "SessionStart", "third", source="startup")
    assert NOTE in cli("diary", "read").out
    assert cli("diary", "stats", "--json").json["entries"]["note"] == 1


def test_nothing_of_it_is_in_what_is_said_to_whoever_works_for_us(home, cli):
    transcript(home, "fourth", 0, "hello")
    place = str(home.folder / "fourth.jsonl")
    given = {"session_id": "fourth", "cwd": "/", "transcript_path": place}
    with undrained(home):
        done = called(home.home, "claude-code", "SessionStart", given, REFLECTOR_CHILD="1")
    assert done.stdout == b""
    child = Cli(home.home, REFLECTOR_CHILD="1")
    assert "<diary>" in cli("prompt").out
    assert "<diary>" not in child("prompt").out
    told = [each["messages"][0]["content"][0]["text"] for each in home.model.requests]
    assert not any("All conversations are the same you" in each for each in told)
    assert "All conversations" not in extraction_rules()


def test_switched_off_it_can_be_read_and_counted_and_the_rest_says_what_turns_it_on(home):
    off = Cli(home.home, REFLECTOR_DIARY_ENABLED="false")
    assert "lighthouse" in off("diary", "read").out
    assert off("diary", "stats", "--json").json["enabled"] is False
    for words in (["note", "x"], ["skip"], ["forget", "x", "--yes"], ["preview"]):
        done = off("diary", *words, "--json")
        assert (done.code, done.json["error"]["code"]) == (3, "diary_off"), words
        assert "diary.enabled = true" in done.json["error"]["hint"]
    assert "<diary>" not in off("prompt").out


def test_without_a_yes_nothing_goes_and_no_terminal_is_asked(home, cli):
    before = git(home.diary.path, "rev-parse", "main")
    for words in (["burn"], ["forget", NOTE]):
        done = cli("diary", *words, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert git(home.diary.path, "rev-parse", "main") == before


def test_what_drives_a_terminal_is_shown_and_not_sent(home, cli):
    (home.diary.path / "NOTES.md").write_text("- red \x1b[31m and bell \x07\n")
    os.utime(home.diary.path / "NOTES.md", (0, 0))
    for command in (["read"], ["preview"]):
        out = cli("diary", *command).out
        assert "red" in out
        assert "\x1b" not in out
        assert "\x07" not in out


def test_burned_nothing_is_left_of_it_in_the_home(tmp_path):
    cli = Cli(tmp_path / "home", REFLECTOR_DIARY_ENABLED="true")
    assert cli("init").code == 0
    assert cli("diary", "note", NOTE).code == 0
    assert NOTE in cli("prompt").out
    done = cli("diary", "burn", "--yes", "--json")
    assert done.code == 0
    assert done.json["burned"]["entries"] == 1
    assert done.json["searched"]["still_in"] == []
    assert done.json["searched"]["texts"] == 1
    for file in cli.home.rglob("*"):
        assert not file.is_file() or NOTE.encode() not in file.read_bytes(), file
    assert cli("diary", "read", "--json").json["entries"] == []
