"""When a run is asked for, and with what weight."""

from __future__ import annotations

from typing import Final

from reflector.core.run import Request

MANUAL: Final = 30
"""Priority of what a person asked for: before every automatic trigger."""

SLOT: Final = {"reflection": "reflection", "dream": "reflection"}
"""Which slot a pipeline's runs take: one active run per identity and slot."""


def manual(
    *, origin: str, engine: str, model: str = "", focus: str = "", dry_run: bool = False
) -> Request:
    """Return the request of a person: it always reserves, whatever the thresholds say."""
    return Request(
        pipeline="reflection",
        trigger="manual",
        origin=origin,
        priority=MANUAL,
        engine=engine,
        model=model,
        focus=focus,
        dry_run=dry_run,
    )
