"""`reflector reflect` as it is, in a process of its own, with its time divided among its parts.

Started with: begin (`time.monotonic()` of who starts it), file for the times, the command line.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from pathlib import Path
from typing import Any

_BEGAN = time.monotonic()
_CHILD = Path(__file__).with_name("timed_child.py")


def main(begin: float, target: Path, argv: list[str]) -> int:
    """Run the command; write the seconds of every part, and what the child said of itself."""
    from benchmarks.stopwatch import Stopwatch  # noqa: PLC0415 - counted as start-up

    watch = Stopwatch("start of Python", begin)
    watch.turn("imports, settings, arguments")
    _wrap(watch)
    from reflector.surface.cli.main import main as command  # noqa: PLC0415

    code = command(argv)
    watch.turn("end of Python")
    spent = watch.stop()
    target.write_text(json.dumps({"parts": spent, "ended": time.monotonic()}), "utf-8")
    return code


def _wrap(watch: Any) -> None:
    from reflector.runtime import bench, block_cache, reflect, supervisor  # noqa: PLC0415
    from reflector.store import reservations  # noqa: PLC0415
    from reflector.surface.cli import reflect as command  # noqa: PLC0415
    from reflector.vcs import worktree  # noqa: PLC0415

    parts: list[tuple[Any, str, str]] = [
        (reflect, "_ingest", "ingest"),
        (reflect, "recover", "recover"),
        (reflect, "bring_home", "recover"),
        (reflect, "_reserve", "ledger"),
        (supervisor, "prepare", "payload and prompt"),
        (supervisor, "judge", "validate"),
        (supervisor, "integrate", "integrate"),
        (supervisor, "settle", "settle"),
        (bench, "clean_up", "clean-up"),
        (block_cache, "refresh", "cached block"),
        (worktree, "create", "worktree"),
        (command, "learned", "report"),
        (command, "reflect", "supervise"),
        (supervisor._Work, "_administration", "administration"),  # noqa: SLF001
        (supervisor._Work, "_parent_ready", "look at the parent"),  # noqa: SLF001
        (supervisor._Work, "_tip", "inspect"),  # noqa: SLF001
    ]
    parts += [(reservations, name, "ledger") for name in ("advance", "note", "settle", "kept")]
    started: Any = command
    started.reflect = functools.partial(reflect.reflect, child=(sys.executable, "-I", str(_CHILD)))
    for owner, name, part in parts:
        if not hasattr(owner, name):
            sys.stderr.write(
                f"timed_reflect: there is no {name} any more; {part} counts elsewhere\n"
            )
            continue
        setattr(owner, name, watch.timed(part, getattr(owner, name)))
    _wrap_child(watch, supervisor)


def _wrap_child(watch: Any, supervisor: Any) -> None:
    run_child, listening = supervisor.run_child, supervisor.Listening

    def listen(on_ready: Any, *rest: Any) -> Any:
        def ready() -> None:
            watch.turn("child work")
            on_ready()

        return listening(ready, *rest)

    supervisor.Listening = listen
    supervisor.run_child = watch.timed("child start", run_child)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
