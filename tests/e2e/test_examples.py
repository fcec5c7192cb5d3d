"""The examples of embedding, as they are run: against servers that play a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflector import Memory
from tests.support import messages_server, openai_server
from tests.support.cli import ROOT

pytestmark = pytest.mark.slow

PREFERENCE = "Always sign the tags of a release."
TURNS = ("How many lines has notes.txt?", PREFERENCE, "Thank you.")


def run(name: str, folder: Path, *lines: str, **environ: str) -> str:
    """Run an example with what a person types, to its end."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), "--home", str(folder / "home")],
        input="".join(f"{line}\n" for line in lines),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
        | environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def journaled(folder: Path) -> dict[str, Any]:
    (talk,) = Memory.open(folder / "home").status()["conversations"]
    found: dict[str, Any] = talk
    return found


def test_what_a_person_told_the_anthropic_loop_is_in_the_first_request_of_the_next(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("a\nb\nc\n")
    counts = messages_server.calls(("count_lines", {"path": "notes.txt"}), text="I look.")
    first = messages_server.Script([counts, messages_server.says("Three.")])
    with messages_server.serving(first) as url:
        out = run("anthropic_loop.py", tmp_path, *TURNS, **anthropic_at(url))
    assert PREFERENCE.rstrip(".") in out
    assert PREFERENCE.rstrip(".") not in json.dumps(first.requests[0])
    # A question with a tool call, then two turns of one request each; a step is a message with text.
    assert (len(first.requests), journaled(tmp_path)["steps"]) == (4, 4)
    result = first.requests[1]["messages"][-1]["content"][0]
    assert (result["type"], result["content"]) == ("tool_result", "3")

    second = messages_server.Script([messages_server.says("Hello.")])
    with messages_server.serving(second) as url:
        run("anthropic_loop.py", tmp_path, "Hello.", **anthropic_at(url))
    assert PREFERENCE.rstrip(".") in second.requests[0]["system"]


def anthropic_at(url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}


def test_what_a_person_told_the_openai_loop_is_in_the_first_request_of_the_next(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("a\nb\nc\n")
    counts = openai_server.Reply("I look.", [("count_lines", {"path": "notes.txt"})])
    first = openai_server.Script([counts, openai_server.Reply("Three.")])
    with openai_server.serving(first) as url:
        out = run("openai_loop.py", tmp_path, *TURNS, **openai_at(url))
    assert PREFERENCE.rstrip(".") in out
    assert PREFERENCE.rstrip(".") not in json.dumps(first.requests[0])
    assert (len(first.requests), journaled(tmp_path)["steps"]) == (4, 4)
    assert first.requests[1]["messages"][-1]["content"] == "3"
    assert first.violations == []

    second = openai_server.Script([openai_server.Reply("Hello.")])
    with openai_server.serving(second) as url:
        run("openai_loop.py", tmp_path, "Hello.", **openai_at(url))
    system = second.requests[0]["messages"][0]
    assert system["role"] == "system"
    assert PREFERENCE.rstrip(".") in system["content"]


def openai_at(url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
