"""The machine-wide cap on live runs: whoever waits longest gets the next turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reflector.core.ambient import Ambient
from reflector.store.locks import Lock

_PAUSE = 0.1


@contextmanager
def turn(folder: Path, places: int, ambient: Ambient, stop: Callable[[], bool]) -> Iterator[bool]:
    """Hold one of `places` for the time of a run; False when told to stop while waiting.

    Every waiter holds a ticket, a locked file whose name sorts by time, and only the oldest living
    ticket may take a place: an identity that just ran queues up again behind the others. A dead
    waiter's ticket is not locked any more and counts for nothing.
    """
    place = _free(folder, places) if not _waiting(folder) else None
    if place is None:
        place = _queue(folder, places, ambient, stop)
    if place is None:
        yield False
        return
    try:
        yield True
    finally:
        place.release()


def _queue(folder: Path, places: int, ambient: Ambient, stop: Callable[[], bool]) -> Lock | None:
    ticket = _ticket(folder, ambient)
    try:
        while not stop():
            first = next(iter(_waiting(folder)), ticket.path)
            place = _free(folder, places) if first == ticket.path else None
            if place is not None:
                return place
            ambient.clock.sleep(_PAUSE)
        return None
    finally:
        ticket.path.unlink(missing_ok=True)
        ticket.release()


def _ticket(folder: Path, ambient: Ambient) -> Lock:
    """Draw a ticket and lock it.

    Who looks at it between these two takes it for a dead one's and throws it away: draw again.
    """
    while True:
        now, token = ambient.clock.now(), ambient.token()
        ticket = Lock(folder / f"turn-{now:%Y%m%d%H%M%S%f}-{token}.lock")
        if ticket.take() and ticket.path.exists():
            return ticket
        ticket.release()


def _free(folder: Path, places: int) -> Lock | None:
    for number in range(places):
        lock = Lock(folder / f"place-{number}.lock")
        if lock.take():
            return lock
    return None


def _waiting(folder: Path) -> list[Path]:
    """Return the tickets of living waiters, oldest first; a dead one's ticket is thrown away."""
    alive = []
    for path in sorted(folder.glob("turn-*.lock")):
        probe = Lock(path)
        if probe.take():
            path.unlink(missing_ok=True)
            probe.release()
        elif path.exists():
            alive.append(path)
    return alive
