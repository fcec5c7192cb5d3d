"""The hook's own judgement: what it may write, for whom, and which block still holds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.surface import hook, hook_seldom, hook_shown
from tests.support.cli import ROOT
from tests.support.hooks import called, shown

HOOK = ROOT / "reflector" / "surface" / "hook.py"
TEXT = st.text("ab/*", max_size=8)


@given(st.text("ab/*", max_size=6), st.text("ab/", max_size=8))
def test_a_star_stands_for_anything(pattern, text):
    oracle = ".*".join(map(re.escape, pattern.split("*")))
    assert hook_seldom._glob(pattern, text) == bool(re.fullmatch(oracle, text))


@pytest.mark.parametrize(
    ("pattern", "cwd", "out"),
    [
        ("/secret", "/secret", True),
        ("/secret", "/secret/deep/er", True),
        ("/secret", "/secretive", False),
        ("/src/*/private", "/src/a/private/b", True),
        ("*/node_modules", "/x/node_modules/y", True),
        ("/secret", "", False),
    ],
)
def test_a_folder_below_an_excluded_one_is_excluded(pattern, cwd, out):
    assert hook._recorded([("exclude", pattern)], cwd) is not out


@pytest.mark.parametrize(("until", "recorded"), [("-", False), ("9" * 10, False), ("1.5", True)])
def test_a_pause_holds_until_its_end(until, recorded):
    assert hook._recorded([("paused", until)], "/") is recorded


def test_the_longest_folder_says_whose_memory_it_is():
    gate = [
        ("identity", "outer /src"),
        ("identity", "inner /src/inner"),
        ("default", "somebody"),
    ]
    assert hook._agent(gate, "/src/inner/x") == "inner"
    assert hook._agent(gate, "/src/innermost") == "outer"
    assert hook._agent(gate, "/elsewhere") == "somebody"
    assert hook._agent([], "/elsewhere") == ""


def spooled(home: Path) -> list[str]:
    return [line for file in home.glob("spool/*.jsonl") for line in file.read_text().splitlines()]


@pytest.fixture
def home(tmp_path):
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_a_line_names_the_event_and_holds_nothing_that_was_said(home):
    said: dict[str, object] = {
        "session_id": "s-1",
        "transcript_path": '/t/"x"\n.jsonl',
        "cwd": "/ünder",
        "prompt": "CANARY",
        "tool_input": {"command": "CANARY"},
        "last_assistant_message": "CANARY",
        "background_tasks": [{"CANARY": 1}],
        "session_title": "CANARY",
    }
    hook._spool(os.fsencode(home), "claude-code", "Stop", said)
    (line,) = spooled(home)
    assert "CANARY" not in line
    assert len(line) < 4096
    fields = json.loads(line)
    assert fields.pop("time").startswith("1")
    assert fields == {
        "harness": "claude-code",
        "event": "Stop",
        "session_id": "s-1",
        "transcript_path": '/t/"x"\n.jsonl',
        "cwd": "/ünder",
        "busy": "1",
    }


def test_a_line_too_long_to_be_whole_between_processes_is_only_said_to_be(home):
    hook._spool(os.fsencode(home), "claude-code", "Stop", {"cwd": "/" + "x" * 4000})
    hook._spool(os.fsencode(home), "claude-code", "Stop", {"cwd": "/" + "x" * 5000})
    long, short = map(json.loads, spooled(home))
    assert len(long["cwd"]) == 4001
    assert short.keys() == {"time", "harness", "event", "lost"}
    assert short["lost"] == "line"


def test_a_link_in_place_of_the_spool_is_not_followed(home):
    hook._spool(os.fsencode(home), "h", "e", {})
    (day,) = (home / "spool").iterdir()
    day.unlink()
    day.symlink_to(home / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        hook._spool(os.fsencode(home), "h", "e", {})
    assert not (home / "elsewhere").exists()


def test_main_is_found_loose_and_packed(home):
    git = home / "repo" / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    assert hook_shown.main_commit(os.fsencode(home), hook._read) == b""
    (git / "packed-refs").write_text(f"# pack-refs\n{'b' * 40} refs/heads/main\n")
    assert hook_shown.main_commit(os.fsencode(home), hook._read) == b"b" * 40
    (git / "refs" / "heads" / "main").write_text("a" * 40 + "\n")
    assert hook_shown.main_commit(os.fsencode(home), hook._read) == b"a" * 40


# A process of its own


def run(home: Path, given: bytes, event: str = "Stop", **environ: str):
    """Be a harness that calls the hook, and has time."""
    return called(home, "claude-code", event, given, **environ)


def quiet(home: Path) -> Path:
    """Hold the drainer's lock, so that no drainer starts."""
    import fcntl

    descriptor = os.open(home / "locks" / "ingest.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return home


ODD = {
    "nothing": b"",
    "no JSON": b"hello",
    "half": b'{"cwd": "/x", "pro',
    "a list": b"[1, 2]",
    "not text": b"\xff\xfe\x00",
    "deep": b'{"a":' * 3000 + b"1",
    "deeper": b"[" * 200_000,
    "huge": b'{"cwd": "/x", "prompt": "' + b"x" * 6_000_000 + b'"}',
    "numbers": b'{"session_id": 7, "cwd": ["x"], "transcript_path": null}',
    "odd numbers": b'{"x": NaN, "y": 1e999, "z": -Infinity}',
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_it_is_given_it_succeeds_in_silence(home, name):
    done = run(quiet(home), ODD[name])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("event", ["Stop", "SessionStart"])
def test_without_a_home_it_succeeds_in_silence_and_makes_none(tmp_path, event):
    done = run(tmp_path / "none", b"{}", event)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_child_of_ours_spools_nothing(home):
    assert run(quiet(home), b"{}", REFLECTOR_CHILD="1").returncode == 0
    assert spooled(home) == []
    assert run(home, b"{}").returncode == 0
    assert len(spooled(home)) == 1


def test_a_harness_that_never_closes_its_pipe_is_not_kept_waiting(home):
    process = subprocess.Popen(
        [sys.executable, "-IS", str(HOOK), "hook", "claude-code", "Stop"],
        env={"REFLECTOR_HOME": str(quiet(home))},
        stdin=subprocess.PIPE,
    )
    assert process.wait(timeout=10) == 0
    assert process.stdin
    process.stdin.close()


@pytest.mark.parametrize("cwd", ["/\ud800", "/a\0b", "relative", "/" + "x" * 9000, ""])
def test_a_session_in_an_odd_place_is_shown_what_holds_everywhere(home, cwd):
    agent = home / "agents" / "me"
    agent.mkdir(parents=True)
    (agent / "block").write_bytes(b"reflector-block 2\nmain x\nvolatile 4 8\n\nthe old memory\n")
    (home / "hook.gate").write_text("default me\n")
    done = run(quiet(home), json.dumps({"cwd": cwd}).encode(), "SessionStart")
    assert (done.returncode, shown(done.stdout)) == (0, "the memory\n")


def resumed(home: Path, *rows: object, source: str = "resume") -> str:
    """Go on with a session whose transcript has these rows; return what is printed."""
    agent = home / "agents" / "me"
    (agent / "repo" / ".git" / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (agent / "repo" / ".git" / "refs" / "heads" / "main").write_text("a" * 40)
    (agent / "block").write_text(f"reflector-block 2\nmain {'a' * 40}\n\n{SHOWN}", "utf-8")
    (home / "hook.gate").write_text("default me\n")
    talk = home / "talk.jsonl"
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    talk.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    given = {"source": source, "transcript_path": str(talk)}
    printed: bytes = run(home, json.dumps(given).encode(), "SessionStart").stdout
    assert bool(printed) == bool(shown(printed))
    return shown(printed)


SHOWN = '<!-- x -->\nthe "memory" \\ 密\n'
ROW = {"type": "attachment", "attachment": {"content": [f"{SHOWN}"]}}
COMPACTED = {"type": "system", "subtype": "compact_boundary"}


def test_a_session_that_goes_on_is_not_shown_the_same_text_twice(home):
    quiet(home)
    assert resumed(home) == SHOWN
    assert resumed(home, {"x": 1}, ROW, {"x": 2}) == ""
    assert resumed(home, {"content": SHOWN.replace("memory", "other memory")}) == SHOWN


def test_after_a_compaction_it_is_shown_again_on_purpose_and_once(home):
    quiet(home)
    assert resumed(home, ROW, source="compact") == SHOWN
    assert resumed(home, ROW, source="startup") == SHOWN
    assert resumed(home, ROW, COMPACTED) == SHOWN
    assert resumed(home, ROW, COMPACTED, ROW) == ""
    assert resumed(home, ROW, {"type": "compacted", "payload": {}}) == SHOWN
    assert resumed(home, {"said": '"compact_boundary"'}, ROW, {"said": '"compact_boundary"'}) == ""


def test_a_memory_whose_spool_cannot_be_written_is_shown_all_the_same(home):
    agent = home / "agents" / "me"
    (agent / "repo" / ".git" / "refs" / "heads").mkdir(parents=True)
    (agent / "repo" / ".git" / "refs" / "heads" / "main").write_text("a" * 40)
    (agent / "block").write_text(f"reflector-block 2\nmain {'a' * 40}\n\nthe memory\n")
    (home / "hook.gate").write_text("default me\n")
    (home / "spool").rmdir()
    done = run(home, b"{}", "SessionStart")
    assert (done.returncode, shown(done.stdout)) == (0, "the memory\n")
    assert run(home, b'{"cwd": "/"}').stdout == b""
