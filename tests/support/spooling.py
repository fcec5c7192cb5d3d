"""A spool as hooks fill it, and the drainer inside the test's process."""

from __future__ import annotations

import json

from reflector.runtime.spooled import Drained, drain_spool
from tests.support.auditor import rows
from tests.support.scenes import Scene

CONFIG = "[trigger]\nstep_count = 2\n"
TODAY = "2026-11-30.jsonl"


def hook(scene: Scene, event: str = "Stop", session: str = "talk", **fields: object) -> None:
    """Append what a hook would."""
    known = {
        "time": "1.0",
        "harness": "claude-code",
        "event": event,
        "session_id": session,
        "transcript_path": str(scene.folder / f"{session}.jsonl"),
        "cwd": "/",
        **fields,
    }
    with (scene.home / "spool" / TODAY).open("a") as file:
        file.write(json.dumps(known, separators=(",", ":")) + "\n")


def drained(scene: Scene) -> Drained:
    return drain_spool(scene.context(), launch=False)


def reserved(scene: Scene, identity: str = "default") -> list[tuple[str, str]]:
    state = scene.context(identity).agent.state
    found = rows(
        state,
        "SELECT trigger, conversation FROM runs JOIN run_snapshots ON run = runs.id "
        "WHERE state = 'active' ORDER BY position",
    )
    return [tuple(row) for row in found]
