"""What `reflector ingest` says of files, folders and histories."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reflector.core.errors import NotFoundError
from reflector.runtime.history import HISTORIES, stores
from reflector.surface.cli.ingest import _Watch
from reflector.surface.cli.main import main
from reflector.surface.cli.output import Output
from reflector.surface.cli.stop import Stop
from tests.support.clocks import FakeClock
from tests.support.scenes import Scene, Shifted
from tests.support.transcripts import conversation


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, clock=Shifted())


@pytest.fixture
def ingest(scene, capsys):
    def run(*words: str | Path) -> tuple[int, str, str]:
        code = main(["ingest", *map(str, words), "--home", str(scene.home)])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def past(tmp_path):
    (tmp_path / "past").mkdir()
    for number in range(3):
        file = tmp_path / "past" / f"talk-{number}.jsonl"
        conversation(file, "Use tabs.", "Yes.", session=f"talk-{number}")
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    (tmp_path / "past" / "settings.json").write_text('{"theme": "dark"}\n')
    return tmp_path / "past"


def test_a_folder_is_told_in_sum(ingest, past):
    code, out, err = ingest(past)
    assert (code, err) == (0, "")
    assert "Read 3 files of 0.0 MB: 6 new entries in 3 conversations." in out
    assert "jsonl: 3 files, 3 conversations, 6 new entries" in out
    assert "1 not a transcript" in out
    assert "reflector reflect --conversation ID --recent N" in out
    assert "3 unchanged" in ingest(past)[1]


def test_a_folder_has_a_machine_form(ingest, past):
    code, out, _ = ingest(past, "--json")
    told = json.loads(out)
    assert code == 0
    assert [Path(each["path"]).name for each in told["files"]] == [
        "talk-0.jsonl",
        "talk-1.jsonl",
        "talk-2.jsonl",
    ]
    assert set(told["files"][0]) >= {
        *("path", "format", "conversation", "entries", "skipped", "bad_lines", "degraded"),
    }
    assert told["passed_over"] == {"not_a_transcript": 1}
    assert told["conversations"] == {f"jsonl/talk-{n}": 2 for n in range(3)}
    assert told["waits_for_no_run"] == told["conversations"]
    assert (told["refused"], told["dry_run"]) == ([], False)


def test_a_dry_run_says_what_it_would_read_of_each_conversation(ingest, past):
    code, out, _ = ingest(past, "--dry-run")
    assert code == 0
    assert "Would read 3 files" in out
    assert "jsonl/talk-1: 2" in out
    assert "6 new entries" in ingest(past)[1]


def test_a_named_file_is_told_by_its_name(ingest, past):
    code, out, _ = ingest(past / "talk-0.jsonl")
    assert (code, out.count("\n")) == (0, 1)
    assert out.startswith(f"{past}/talk-0.jsonl: 2 new entries, 1 step, 0 skipped, 0 bad lines")


def test_a_named_file_that_is_no_transcript_is_refused(ingest, past):
    code, out, err = ingest(past / "settings.json", past / "talk-0.jsonl")
    assert code == 1
    assert "2 new entries" in out
    assert f"{past}/settings.json is no transcript" in err
    told = json.loads(ingest(past / "settings.json", "--json")[1])
    assert [each["path"] for each in told["refused"]] == [str(past / "settings.json")]


def test_many_refusals_are_told_by_kind_and_named_for_machines(ingest, past):
    for number in range(12):
        row = '{"type":"thread.started","thread_id":"t"}\n'
        (past / f"output-{number}.jsonl").write_text(row)
    code, _, err = ingest(past)
    assert code == 1
    assert err.count("error:") == 10
    assert "12 files were refused in all (output of codex exec --json 12)" in err
    assert len(json.loads(ingest(past, "--json")[1])["refused"]) == 12


def test_only_what_was_active_since_then_is_read(ingest, past):
    assert "3 without activity since then" in ingest(past, "--since", "1d")[1]
    assert "3 conversations" in ingest(past, "--since", "2020-01-01")[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["past", "--since", "soon"], "--since: 'soon' is no time like"),
        ([], "nothing to read"),
        ([""], "names no file"),
        (["--history", "emacs"], "invalid choice"),
    ],
)
def test_what_is_typed_wrong_is_a_usage_error(ingest, words, says):
    code, _, err = ingest(*words)
    assert code == 2
    assert says in err


@pytest.mark.slow
def test_to_reflect_starts_runs_on_what_was_imported(ingest, scene, past):
    rule = "Never push to main directly."
    conversation(past / "rule.jsonl", rule, "I will not.", session="rule")
    code, out, _ = ingest(past, "--reflect", "--json")
    told = json.loads(out)
    assert code == 0, told
    assert [each["outcome"] for each in told["runs"]] == ["merged"]
    assert told["waits_for_no_run"] == {}
    assert rule[:-1] in scene.git("log", "-p")


# The stores of harnesses


@pytest.mark.parametrize(
    ("harness", "environ", "below"),
    [
        ("claude-code", {"HOME": "/h"}, "/h/.claude/projects"),
        ("claude-code", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c/projects"),
        ("codex", {"HOME": "/h"}, "/h/.codex/sessions"),
        ("codex", {"HOME": "/h", "CODEX_HOME": "/c"}, "/c/sessions"),
        ("gemini-cli", {"HOME": "/h"}, "/h/.gemini/tmp"),
        ("pi", {"HOME": "/h"}, "/h/.pi/agent/sessions"),
    ],
)
def test_the_store_of_a_harness_is_where_it_keeps_it(tmp_path, harness, environ, below):
    moved = {name: f"{tmp_path}{value}" for name, value in environ.items()}
    with pytest.raises(NotFoundError, match=f"{harness} keeps no sessions in {tmp_path}{below}"):
        stores(harness, moved)
    (place := Path(f"{tmp_path}{below}")).mkdir(parents=True)
    assert stores(harness, moved) == [place]


def test_every_history_is_of_a_harness_that_is_read():
    assert HISTORIES == ("claude-code", "codex", "gemini-cli", "pi")


def test_the_history_of_a_harness_is_imported(ingest, past, monkeypatch, tmp_path):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    (tmp_path / "codex").mkdir()
    past.rename(tmp_path / "codex" / "archived_sessions")
    assert "6 new entries in 3 conversations" in ingest("--history", "codex")[1]


# On the way


def test_who_reads_no_terminal_is_told_how_far_it_is_every_ten_seconds(tmp_path, capsys):
    clock = FakeClock()
    found = Scene(tmp_path, clock=clock).context()
    watch = _Watch(Output(json=True, colour=False, live=False), Stop(), found)
    for second in range(31):
        clock.passed = second
        watch.progress(f"{second} of 31 files")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "10 of 31 files\n20 of 31 files\n30 of 31 files\n"


def test_on_a_terminal_progress_is_one_line_that_is_written_over(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    clock = FakeClock()
    found = Scene(tmp_path, clock=clock).context()
    watch = _Watch(Output(json=False, colour=False, live=True), Stop(), found)
    for second in (0, 30):
        clock.passed = second
        watch.progress(f"{second} of 31 files")
    assert capsys.readouterr().err == "\r\x1b[K0 of 31 files\r\x1b[K30 of 31 files"
