"""A run's child as it is, with the engine's own time written into the run's `out/` folder.

Started as a file by `timed_reflect`, so it imports nothing beside it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from reflector.agent.registry import engine
from reflector.runtime import child

_commit = child.WorktreeCommit.__call__
_spent = {"engine": 0.0, "commit": 0.0}


class _Timed:
    def __init__(self, *given: Any) -> None:
        self._engine: Any = engine(*given)

    def run(self, *given: Any) -> Any:
        began = time.monotonic()
        try:
            return self._engine.run(*given)
        finally:
            _spent["engine"] += time.monotonic() - began - _spent["commit"]


def _timed_commit(self: child.WorktreeCommit, *given: Any) -> str:
    began = time.monotonic()
    try:
        return _commit(self, *given)
    finally:
        _spent["commit"] += time.monotonic() - began


def main(run_folder: Path) -> int:
    """Work one run and write down what the engine took of it."""
    changed: Any = child
    changed.engine = _Timed
    changed.WorktreeCommit.__call__ = _timed_commit
    code = child.main(run_folder)
    (run_folder / "out" / "times.json").write_text(json.dumps(_spent), "utf-8")
    return code


if __name__ == "__main__":
    os._exit(main(Path(sys.argv[1])))  # as the child itself ends
