"""The step records of a run: one line for each call of a model, its words redacted beside it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reflector.agent.engine import Step
from reflector.core.ambient import Ambient
from reflector.core.redact import redact

FILE = "steps.jsonl"
_LONGEST = 300


class StepLog:
    """Writes the records of one run into its `out/`. Failing to write never fails a run."""

    def __init__(self, out: Path, ambient: Ambient, name: str = "") -> None:
        """Begin with nothing written. `name` keeps the files of several logs of a folder apart."""
        self._out = out
        self._ambient = ambient
        self._name = name
        self._count = 0

    def __call__(self, step: Step) -> None:
        """Write one record."""
        with contextlib.suppress(OSError, ValueError):
            self._write(step)

    def _write(self, step: Step) -> None:
        self._count += 1
        row: dict[str, Any] = {
            "number": self._count,
            "at": self._ambient.now(),
            "step": step.name,
            "model": step.model,
            "elapsed_ms": step.elapsed_ms,
            "tokens": dict(step.tokens),
            "tools": list(step.tools),
            "error": step.error,
            "detail": redact(step.detail).text[:_LONGEST],
            "conversation": step.conversation,
            "counts": dict(step.counts),
        }
        with (self._out / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        words = json.dumps({"asked": step.asked, "answered": step.answered}, ensure_ascii=False)
        folder = self._out / "steps"
        folder.mkdir(exist_ok=True)
        clean = redact(words).text.encode("utf-8", "replace")
        (folder / f"{self._name}{self._count:04d}.json").write_bytes(clean)


def read(run_folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a run, in order; a line that cannot be read is passed over."""
    try:
        lines = (run_folder / "out" / FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict):
                yield row
