"""The runner's side: one process that reflects whenever a line on stdin names a lesson.

`python runner.py HOME`. Each lesson is a conversation of its own. Answers are JSON lines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from reflector.runtime.reflect import Options, reflect
from reflector.runtime.wiring import Context, context
from tests.support.transcripts import conversation
from tests.support.watching import QuietWatch

CHILD = (sys.executable, str(Path(__file__).with_name("child.py")))


def work(found: Context, number: int, folder: Path) -> list[dict[str, Any]]:
    """Ingest one more conversation and reflect on all that waits."""
    name = f"race-{number}"
    text = f"Lesson {number} of the race."
    talk = conversation(folder / f"{name}.jsonl", text, "Noted.", session=name)
    ingested = reflect(found, Options(files=[talk]), QuietWatch(), CHILD)
    others = reflect(found, Options(), QuietWatch(), CHILD)
    return [
        {
            "run": run.id,
            "outcome": run.settlement.outcome.value,
            "detail": run.settlement.detail,
            "snapshots": [each.as_json() for each in run.snapshots],
        }
        for run in (*ingested.runs, *others.runs)
        if run.settlement
    ]


def main() -> None:
    """Answer until stdin ends."""
    found = context(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(work(found, int(line), Path(sys.argv[2]))), flush=True)


if __name__ == "__main__":
    main()
