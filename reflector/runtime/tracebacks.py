"""How an uncaught error of a detached process says itself: without secrets, into a file of the home."""

from __future__ import annotations

import sys
from types import TracebackType

from reflector.core.cleaning import clean


def clean_tracebacks() -> None:
    """Let uncaught errors of this process hold no secret."""
    sys.excepthook = _say_cleaned


def _say_cleaned(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    import traceback  # noqa: PLC0415 - only when something is already wrong

    sys.stderr.write(clean("".join(traceback.format_exception(kind, error, trace))))
