"""The supervisor's log: one JSON object per event, never transcript or memory text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger

from reflector.core.cleaning import clean_values
from reflector.store.disk import on_disk

RUN_RESERVED = "run.reserved"
RUN_STARTED = "run.started"
RUN_SETTLED = "run.settled"
RUN_RECOVERED = "run.recovered"
RUN_UNCONFINED = "run.unconfined"
ROUTE_PARKED = "route.parked"
SUPERVISOR_STARTED = "supervisor.started"
SUPERVISOR_ENDED = "supervisor.ended"
OWNER_KILLED = "owner.killed"
CLEANUP_FAILED = "cleanup.failed"
LEFTOVER_REMOVED = "leftover.removed"
ENTRY_RECALLED = "entry.recalled"
TURN_DROPPED = "turn.dropped"
NIGHT_ENDED = "night.ended"

_LARGEST = 5_000_000


@contextmanager
def opened(path: Path, **bound: str) -> Iterator[FilteringBoundLogger]:
    """Open the log for one command; `bound` keys are on every line."""
    with on_disk(path):
        if path.exists() and path.stat().st_size > _LARGEST:
            path.replace(path.with_suffix(".log.1"))
        stream = path.open("a", encoding="utf-8", errors="backslashreplace")
    try:
        yield _logger(stream).bind(**bound)
    finally:
        with contextlib.suppress(OSError):
            stream.close()


class _Forgiving:
    """A log file that may lose lines: a full disk must not change how a run ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            return self._stream.write(text)
        return 0

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def _cleaned(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Take secrets out: an error repeats what git, the system or an engine said."""
    return dict(clean_values(event))


def _logger(stream: TextIO) -> FilteringBoundLogger:
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(cast("TextIO", _Forgiving(stream))),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _cleaned,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
    )
    return logger
