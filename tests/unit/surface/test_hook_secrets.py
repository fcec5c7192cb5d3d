"""What a hook spools holds no secret, and ordinary values cost no rules."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reflector.surface import hook
from tests.support.cli import ROOT
from tests.support.secret_samples import ALNUM, CAUGHT, FIELDS

# A bot's number and a plain UUID look like parts of any path.
_LIKE_A_PATH = {"plaid"}


@pytest.mark.parametrize("rule", sorted(set(CAUGHT) - _LIKE_A_PATH))
def test_a_secret_in_a_path_is_odd(rule):
    for secret in CAUGHT[rule]:
        assert hook._odd(f"/home/me/src/{secret}/shop")


@pytest.mark.parametrize("form", FIELDS)
def test_what_stands_under_a_key_is_odd(form):
    assert hook._odd(form.format("hunter" + "2longer"))


@pytest.mark.parametrize(
    "value",
    [
        "5e55105e-0000-4000-8000-000000000001",
        "/home/me/.claude/projects/-home-me-shop/5e55105e-0000-4000-8000-000000000001.jsonl",
        "/srv/customers/2026-11-30/invoices",
        "/home/me/.codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-0190aa00-7c1e-7b4e.jsonl",
        "prompt_input_exit",
        "/home/me/keyboard/secret/tokens",
        "",
    ],
)
def test_ordinary_values_are_not(value):
    assert not hook._odd(value)


def test_a_hook_spools_no_secret(tmp_path):
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    token = "ghp" + "_" + ALNUM[:36]
    given = {
        "session_id": "s1",
        "cwd": f"/src/{token}/x",
        "reason": "password: " + "hunter" + "22x",
        "transcript_path": f"/t/{token}.jsonl",
    }
    with (tmp_path / "locks" / "ingest.lock").open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        command = [sys.executable, "-IS", str(ROOT / "reflector" / "surface" / "hook.py")]
        lines: list[dict[str, str]] = []
        for _ in range(9):  # one that a busy machine makes late writes nothing
            subprocess.run(
                [*command, "hook", "claude-code", "Stop"],
                env={"REFLECTOR_HOME": str(tmp_path), "PATH": os.environ["PATH"]},
                input=json.dumps(given).encode(),
                check=True,
                timeout=20,
            )
            if lines := list(_lines(tmp_path)):
                break
    assert {name: lines[0][name] for name in given} == {
        "session_id": "s1",
        "cwd": "/src/[REDACTED:github]/x",
        "reason": "password: [REDACTED:password-field]",
        "transcript_path": "/t/[REDACTED:github].jsonl",
    }


def _lines(home: Path):
    for file in home.glob("spool/*.jsonl"):
        yield from map(json.loads, file.read_text("ascii").splitlines())
