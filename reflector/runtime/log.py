"""The supervisor's log: one JSON object per event, never transcript or memory text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger

RUN_RESERVED = "run.reserved"
RUN_STARTED = "run.started"
RUN_SETTLED = "run.settled"
RUN_RECOVERED = "run.recovered"
ROUTE_PARKED = "route.parked"
SUPERVISOR_STARTED = "supervisor.started"
SUPERVISOR_ENDED = "supervisor.ended"
SPOOL_DRAINED = "spool.drained"
CLEANUP_FAILED = "cleanup.failed"

_LARGEST = 5_000_000


@contextmanager
def opened(path: Path, **bound: str) -> Iterator[FilteringBoundLogger]:
    """Open the log for one command; `bound` keys are on every line."""
    if path.exists() and path.stat().st_size > _LARGEST:
        path.replace(path.with_suffix(".log.1"))
    with path.open("a", encoding="utf-8") as stream:
        yield _logger(stream).bind(**bound)


def _logger(stream: TextIO) -> FilteringBoundLogger:
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
    )
    return logger
