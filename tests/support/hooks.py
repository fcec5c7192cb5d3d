"""Hooks as harnesses call them, and what they read from a hook's output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.support.cli import ROOT

T = TypeVar("T")
HOOK = ROOT / "reflector" / "surface" / "hook.py"

_UNHURRIED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import hook
hook._SECONDS = hook._SECONDS_INJECTING = 60.0
sys.exit(hook.main())
"""


def called(
    home: Path, harness: str, event: str, given: object = None, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """Call a hook as its harness does; `given` is the payload, bytes as they are.

    Its alarm is put off: on a busy machine it may be quicker than the hook.
    """
    raw = given if isinstance(given, bytes) else json.dumps(given or {}).encode()
    return subprocess.run(
        [sys.executable, "-IS", "-c", _UNHURRIED, str(HOOK.parent), "hook", harness, event],
        env={"REFLECTOR_HOME": str(home), "TZ": "UTC", **environ},
        input=raw,
        capture_output=True,
        timeout=20,
        check=False,
    )


def until_spooled(home: Path, call: Callable[[], T]) -> T:
    """Call a hook until it has written its line: one that a busy machine makes late writes none."""
    before = _spooled(home)
    for _ in range(30):
        done = call()
        if _spooled(home) != before:
            return done
    raise AssertionError("the hook was late every time")


def _spooled(home: Path) -> int:
    return sum(file.stat().st_size for file in home.glob("spool/*.jsonl"))


def shown(out: bytes | str) -> str:
    """Return what the model gets of a hook's output: of JSON the context, else all of it."""
    found = parsed(out)
    if found is None:
        return out.decode() if isinstance(out, bytes) else out
    text: str = found.get("hookSpecificOutput", {}).get("additionalContext", "")
    return text


def told(out: bytes | str) -> str:
    """Return what the person gets of a hook's output."""
    return str((parsed(out) or {}).get("systemMessage", ""))


def parsed(out: bytes | str) -> dict[str, Any] | None:
    """Return an output that is one JSON object, None for any other."""
    try:
        found = json.loads(out)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
