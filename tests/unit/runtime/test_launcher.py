"""The launcher serves the home that it lies in, whoever starts it and from wherever."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import reflector
from reflector.runtime import birth, launcher
from reflector.runtime.wiring import context
from tests.support.hooks import until_spooled

pytestmark = pytest.mark.slow


def start(program: Path, *words: str, stdin: str = "", **environ: str) -> str:
    """Start the launcher with nothing in the environment that says where the home is."""
    done = subprocess.run(
        [program, *words],
        input=stdin,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return done.stdout


def test_a_hook_writes_into_the_home_of_its_launcher(tmp_path, guarded):
    found = context(str(tmp_path / "a home"))
    found.home.create()
    program = launcher.write(found.home)
    link = tmp_path / "reflector"
    link.symlink_to(program)
    payload = json.dumps({"session_id": "s", "cwd": "/work"})
    other = str(tmp_path / "other")
    call = partial(start, stdin=payload, HOME=str(guarded))
    words = ("hook", "codex", "Stop")
    until_spooled(found.home.path, partial(call, program, *words))
    until_spooled(found.home.path, partial(call, link, *words, REFLECTOR_HOME=other))
    spool = (found.home.path / "spool").glob("*.jsonl")
    assert sum(file.read_text().count('"event":"Stop"') for file in spool) == 2
    assert not (guarded / ".reflector").exists()


def test_a_command_that_is_handed_on_reads_that_home_too(tmp_path, guarded):
    found = context(str(tmp_path / "a home"))
    birth.init(found)
    program = found.home.path / "bin" / "reflector"
    text = start(program, "memory", "cat", "system/human.md", HOME=str(guarded))
    assert "# Human" in text
    assert not (guarded / ".reflector").exists()


def test_the_launcher_can_be_started_from_the_first_moment_on(tmp_path):
    found = context(str(tmp_path))
    program = launcher.write(found.home)
    assert stat.S_IMODE(program.stat().st_mode) == 0o700


def test_a_hook_whose_python_is_gone_says_nothing_and_everything_else_says_why(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone" / "python"))
    program = launcher.write(context(str(tmp_path / "home")).home)
    assert start(program, "hook", "codex", "Stop", stdin="{}") == ""
    with pytest.raises(subprocess.CalledProcessError) as refused:
        start(program, "memory", "cat", "system/human.md")
    assert refused.value.returncode == 127
    assert "`reflector init`" in refused.value.stderr


def test_a_hook_whose_package_is_gone_says_nothing_and_everything_else_says_why(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(reflector, "__file__", str(tmp_path / "gone" / "__init__.py"))
    program = launcher.write(context(str(tmp_path / "home")).home)
    assert start(program, "hook", "codex", "Stop", stdin="{}") == ""
    with pytest.raises(subprocess.CalledProcessError) as refused:
        start(program, "memory", "cat", "system/human.md")
    assert "`reflector init`" in refused.value.stderr


def test_a_python_at_an_odd_place_is_started(tmp_path, monkeypatch):
    folder = tmp_path / 'it\'s a "venv" $HOME' / ("long" * 30)
    folder.mkdir(parents=True)
    python = folder / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    found = context(str(tmp_path / "home"))
    found.home.create()
    program = launcher.write(found.home)
    payload = json.dumps({"session_id": "s", "cwd": "/work"})
    until_spooled(found.home.path, partial(start, program, "hook", "codex", "Stop", stdin=payload))
