"""What a hook prints for each harness: its form, its notice, and nothing that voids the rest."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.surface import hook, hook_seldom, hook_shown
from tests.support.hooks import HOOK, called, parsed, shown, told

BLOCK = '<!-- x -->\nthe "memory" \\ 密\t𝄞\n'
NOTICE = 'Reflector: Learned 1 thing: `reflector show "r-1"`.'
STAMP = '{"learned": "r-1"}'
FORMS = {
    "claude-code": ("SessionStart", "json"),
    "codex": ("SessionStart", "text"),
    "gemini-cli": ("SessionStart", "json"),
    "opencode": ("session.created", "text"),
    "pi": ("session_start", "text"),
    "oh-my-pi": ("session_start", "text"),
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with a block and a notice, where somebody drains already."""
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    heads = tmp_path / "agents" / "me" / "repo" / ".git" / "refs" / "heads"
    heads.mkdir(parents=True)
    (heads / "main").write_text("a" * 40)
    block(tmp_path, BLOCK)
    (tmp_path / "agents" / "me" / "notice").write_text(f"reflector-notice 1\n{STAMP}\n\n{NOTICE}")
    (tmp_path / "hook.gate").write_text("default me\n")
    with (tmp_path / "locks" / "ingest.lock").open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield tmp_path


def block(home: Path, text: str) -> None:
    kept = f"reflector-block 2\nmain {'a' * 40}\n\n{text}"
    (home / "agents" / "me" / "block").write_text(kept, "utf-8")


def spooled(home: Path) -> list[dict[str, str]]:
    lines = [line for file in home.glob("spool/*") for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("harness", FORMS)
def test_each_harness_is_given_the_block_in_its_form(home, harness):
    event, form = FORMS[harness]
    done = called(home, harness, event, {"source": "startup"})
    assert (done.returncode, done.stderr, shown(done.stdout)) == (0, b"", BLOCK)
    found = parsed(done.stdout)
    if form == "text":
        assert done.stdout.decode() == BLOCK
        assert "told" not in spooled(home)[0]
        return
    assert found == {
        "systemMessage": NOTICE,
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": BLOCK},
    }
    assert done.stdout.count(b"\n") == 1
    assert spooled(home)[0]["told"] == STAMP


@pytest.mark.parametrize("harness", FORMS)
def test_other_events_show_nothing_and_gemini_still_reads_json(home, harness):
    for event in ("Stop", "AfterAgent", "session.idle", "agent_end", "SessionEnd", "Whatever"):
        done = called(home, harness, event, {"cwd": "/"})
        assert done.stdout == (b"{}\n" if harness == "gemini-cli" else b"")


def test_an_unknown_harness_is_shown_nothing(home):
    assert called(home, "unheard-of", "SessionStart").stdout == b""
    assert len(spooled(home)) == 1


@pytest.mark.parametrize("given", [b"", b"no JSON", b"[]", b"{" + b" " * 5_000_000 + b"}"])
def test_gemini_reads_json_whatever_happened(home, given):
    done = called(home, "gemini-cli", "AfterAgent", given)
    assert (done.returncode, done.stdout) == (0, b"{}\n")


def test_gemini_reads_json_from_a_hook_that_says_nothing_on_purpose(home):
    assert called(home, "gemini-cli", "SessionStart", REFLECTOR_CHILD="1").stdout == b"{}\n"
    (home / "hook.gate").write_text("paused -\n")
    assert called(home, "gemini-cli", "SessionStart").stdout == b"{}\n"
    assert spooled(home) == []
    assert called(home / "none", "gemini-cli", "SessionStart").stdout == b"{}\n"


def test_gemini_reads_json_from_a_hook_that_is_late(home):
    ours, theirs = os.pipe()
    command = [sys.executable, "-IS", str(HOOK), "hook", "gemini-cli", "AfterAgent"]
    try:
        done = subprocess.run(
            command,
            env={"REFLECTOR_HOME": str(home)},
            stdin=ours,
            capture_output=True,
            timeout=20,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stdout) == (0, b"{}\n")


@pytest.mark.parametrize("source", ["startup", "resume", "clear", ""])
def test_a_session_that_begins_is_told(home, source):
    assert told(called(home, "claude-code", "SessionStart", {"source": source}).stdout) == NOTICE


def test_after_a_compaction_the_memory_is_shown_and_nobody_is_told_again(home):
    done = called(home, "claude-code", "SessionStart", {"source": "compact"})
    assert (shown(done.stdout), told(done.stdout)) == (BLOCK, "")
    assert "told" not in spooled(home)[0]


def test_without_a_notice_the_memory_is_shown_alone(home):
    (home / "agents" / "me" / "notice").unlink()
    done = called(home, "claude-code", "SessionStart", {"source": "startup"})
    assert parsed(done.stdout) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": BLOCK}
    }
    (home / "agents" / "me" / "notice").write_text("of another version\n\ntext")
    assert told(called(home, "claude-code", "SessionStart").stdout) == ""


def test_without_a_memory_the_notice_is_told_alone(home):
    block(home, "")
    line = hook_shown.formed("claude-code", "SessionStart", NOTICE, b"", "json")
    assert parsed(line) == {"systemMessage": NOTICE}
    assert hook_shown.formed("claude-code", "SessionStart", "", b"", "json") == b""


def test_without_anything_to_say_gemini_is_still_given_json():
    for harness, line in (("gemini-cli", b"{}\n"), ("claude-code", b"")):
        hook._owe((harness, "SessionStart", ""), b"")
        assert hook._owed.pop() == line
    assert hook._owed == []


def test_a_line_that_would_be_too_long_gives_way_to_the_plain_block(home):
    block(home, '"' * 6_000)
    done = called(home, "claude-code", "SessionStart", {"source": "startup"})
    assert done.stdout == b'"' * 6_000


@pytest.mark.parametrize(
    ("harness", "kept"),
    [
        ("claude-code", BLOCK),
        ("codex", BLOCK.strip()),
        ("pi", BLOCK),
    ],
)
def test_a_session_that_goes_on_is_not_given_what_it_has(home, harness, kept):
    talk = home / "talk.jsonl"
    row = json.dumps({"content": f"before\n{kept}"}, ensure_ascii=False)
    talk.write_text(f"{row}\n", "utf-8")
    given = {"transcript_path": str(talk)} | ({} if harness == "pi" else {"source": "resume"})
    event, _ = FORMS[harness]
    assert shown(called(home, harness, event, given).stdout) == ""
    talk.write_text(f'{row}\n{{"type":"compaction","summary":"x"}}\n', "utf-8")
    assert shown(called(home, harness, event, given).stdout) == BLOCK


@pytest.mark.parametrize(
    ("more", "busy"),
    [
        ({"background_tasks": [{"id": "a1", "type": "subagent", "status": "running"}]}, True),
        ({"background_tasks": [], "session_crons": [{"id": "c1"}]}, False),
        ({"background_tasks": [], "stop_hook_active": True}, False),
        ({"stop_hook_active": False}, False),
    ],
)
def test_a_turn_is_busy_only_beside_work_in_the_background(home, more, busy):
    done = called(home, "claude-code", "Stop", {"session_id": "s", **more})
    assert (done.returncode, done.stdout) == (0, b"")
    assert ("busy" in spooled(home)[0]) is busy


def test_what_the_drainer_needs_of_subagents_and_opencode_is_spooled(home):
    given = {
        "session_id": "s",
        "agent_transcript_path": "/p/s/subagents/agent-a1.jsonl",
        "opencode_path": "/usr/bin/opencode",
        "source": "startup",
        "prompt": "CANARY",
    }
    called(home, "opencode", "session.idle", given)
    (line,) = spooled(home)
    del given["prompt"]
    assert line.pop("time")
    assert line == {"harness": "opencode", "event": "session.idle", **given}


def test_a_harness_that_has_gone_disturbs_nothing(home):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = subprocess.Popen(
            [sys.executable, "-IS", str(HOOK), "hook", "gemini-cli", "SessionStart"],
            env={"REFLECTOR_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
        )
        _, err = process.communicate(timeout=20)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


def test_gemini_goes_on_without_what_hooks_added_so_it_is_added_again(home):
    talk = home / "talk.jsonl"
    talk.write_text(json.dumps({"content": BLOCK}, ensure_ascii=False) + "\n", "utf-8")
    given = {"transcript_path": str(talk), "source": "resume"}
    assert shown(called(home, "gemini-cli", "SessionStart", given).stdout) == BLOCK


_READS = """
import sys
sys.path.insert(0, sys.argv.pop(1))
known = set(sys.modules)
import hook
hook._SECONDS = hook._SECONDS_INJECTING = 60.0
hook.hook(*sys.argv[1:])
read = [sys.modules[name] for name in sys.modules if name not in known]
names = [each.__name__ for each in read if getattr(each, "__file__", "").endswith(".py")]
sys.stderr.write(" ".join(sorted(names)))
"""


@pytest.mark.parametrize(
    ("event", "files"), [("Stop", "hook"), ("SessionStart", "hook hook_shown")]
)
def test_a_hook_reads_no_file_that_its_event_can_do_without(home, event, files):
    done = subprocess.run(
        [sys.executable, "-IS", "-c", _READS, str(HOOK.parent), "claude-code", event],
        env={"REFLECTOR_HOME": str(home)},
        input=b'{"session_id": "s-1", "source": "startup", "prompt_id": "p"}',
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.stderr.decode() == files
    assert shown(done.stdout) == (BLOCK if event == "SessionStart" else "")


def test_an_empty_text_is_in_no_transcript():
    assert not hook_seldom.seen(b'{"content": ""}', b" \n")


@pytest.mark.parametrize("odd", ["folder", "held pipe"])
def test_a_transcript_that_cannot_be_read_costs_no_block(home, tmp_path, odd):
    place = tmp_path / "odd"
    if odd == "folder":
        place.mkdir()
        done = called(home, "codex", "SessionStart", {"transcript_path": str(place)})
    else:
        os.mkfifo(place)
        held = os.open(place, os.O_RDWR)
        done = called(home, "codex", "SessionStart", {"transcript_path": str(place)})
        os.close(held)
    assert (done.returncode, done.stdout.decode()) == (0, BLOCK)
