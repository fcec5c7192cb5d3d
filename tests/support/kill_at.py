"""Run the real command and die by SIGKILL at one point: `python kill_at.py POINT -- WORDS…`.

A point is `before:NAME` or `after:NAME`, where NAME is a phase that is being saved, `settled`, or
an effect of git.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from reflector.runtime import bench, leftovers
from reflector.store import reservations
from reflector.surface.cli.main import main
from reflector.vcs import worktree
from reflector.vcs.porcelain import Porcelain

EFFECTS: dict[str, tuple[object, str]] = {
    "worktree": (worktree, "create"),
    "ref": (Porcelain, "update_ref"),
    "files": (Porcelain, "read_tree_update"),
    "cleanup": (leftovers, "clean_up"),
}


def die() -> None:
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def around(call: Callable[..., Any], wanted: str, now: Callable[..., bool]) -> Callable[..., Any]:
    """Wrap a call so that it dies before or after it, when `now` says so."""

    def wrapped(*args: Any, **named: Any) -> Any:
        hit = now(*args, **named)
        if hit and wanted == "before":
            die()
        result = call(*args, **named)
        if hit and wanted == "after":
            die()
        return result

    return wrapped


def arm(point: str) -> None:
    """Put the deadly wrapper where the point says."""
    wanted, name = point.split(":")
    if name == "settled":
        reservations.settle = around(reservations.settle, wanted, lambda *_a, **_n: True)
    elif name in EFFECTS:
        owner, attribute = EFFECTS[name]

        def really(*_args: Any, **named: Any) -> bool:
            return not named.get("dry_run", False)

        wrapped = around(getattr(owner, attribute), wanted, really)
        setattr(owner, attribute, wrapped)
        if name == "cleanup":
            setattr(bench, attribute, wrapped)
    else:
        reservations.advance = around(
            reservations.advance, wanted, lambda *args, **_n: args[4].value == name
        )


if __name__ == "__main__":
    arm(sys.argv[1])
    sys.exit(main(sys.argv[3:]))
