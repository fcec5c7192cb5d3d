"""Ctrl-C and friends: a wish to stop, which the work looks at between two effects."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Stop:
    """Whether a person wants this command to end."""

    def __init__(self) -> None:
        """Begin without a wish."""
        self.requested = False

    def __call__(self) -> bool:
        """Tell whether to stop now."""
        return self.requested


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Turn the signals that end a command into a wish, for as long as the block runs.

    A signal in the middle of a merge must not tear it: the work asks at its safe points.
    """
    stop = Stop()

    def wish(_number: int, _frame: FrameType | None) -> None:
        stop.requested = True

    before = {number: signal.signal(number, wish) for number in _SIGNALS if not _outlived(number)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _outlived(number: signal.Signals) -> bool:
    """Tell whether the person asked for it: `nohup` starts us with the hang-up ignored."""
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
