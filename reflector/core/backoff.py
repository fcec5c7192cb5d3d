"""Waiting after failures, and finding the rows of a conversation that no run survives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from reflector.core.failure import Failure
from reflector.core.snapshot import Snapshot

FIRST: Final = 5.0
LONGEST: Final = 300.0
JITTER: Final = 0.1
_DOUBLINGS: Final = 6

FINAL_STRIKES: Final = 2
"""Failures of one start with one fingerprint, not retryable, after which less is read."""
RETRYABLE_STRIKES: Final = 4
"""The same for retryable ones."""
ALL_STRIKES: Final = 6
"""Failures of one start whatever their fingerprints: a cause that words itself anew each time
must not be tried for ever."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often in a row a conversation's automatic runs failed, and until when it waits."""

    consecutive_failures: int = 0
    next_eligible_at: datetime | None = None


def seconds(failures: int, chance: float) -> float:
    """Return how long to wait after so many failures in a row; `chance` in [0, 1) spreads it."""
    plain = min(LONGEST, FIRST * 2.0 ** min(max(failures, 1) - 1, _DOUBLINGS))
    return plain * (1 - JITTER + 2 * JITTER * chance)


def after_failure(before: Backoff, now: datetime, chance: float) -> Backoff:
    """Return the wait after one more failed automatic run. Manual and dream runs change none."""
    failures = before.consecutive_failures + 1
    return Backoff(failures, now + timedelta(seconds=seconds(failures, chance)))


def eligible(next_eligible_at: datetime | None, now: datetime) -> bool:
    """Tell whether a conversation's wait is over.

    A wait longer than any that we set means that the clock was set back: it holds nobody up.
    """
    if next_eligible_at is None:
        return True
    left = next_eligible_at - now
    return left <= timedelta(0) or left > timedelta(seconds=LONGEST * (1 + JITTER))


@dataclass(frozen=True, slots=True)
class Strike:
    """How often runs from one start failed with one fingerprint."""

    fingerprint: str
    failures: int
    retryable: bool

    @property
    def enough(self) -> bool:
        """Whether less must be read from this start."""
        return self.failures >= (RETRYABLE_STRIKES if self.retryable else FINAL_STRIKES)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A start (conversation, first entry) from which runs failed over their content.

    `budget` is the most bytes that the next snapshot from here may have. `alone`: the next run
    that reads it reads nothing else, so that no other conversation is blamed for it.
    """

    conversation: str
    first_entry: str
    strikes: tuple[Strike, ...]
    budget: int
    alone: bool = False

    @property
    def condemned(self) -> bool:
        """Whether it failed often enough that less must be read."""
        total = sum(strike.failures for strike in self.strikes)
        return total >= ALL_STRIKES or any(strike.enough for strike in self.strikes)


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows that no run survives: the cursor passes them, and `retry` of the run replays them."""

    snapshot: Snapshot
    fingerprint: str


def after_content_failure(
    before: Suspect | None,
    taken: Snapshot,
    failure: Failure,
    *,
    smallest: bool,
    shared: bool,
    max_bytes: int,
) -> Suspect | SetAside | None:
    """Decide what becomes of a snapshot whose run failed; None when it is not to blame.

    `before` is what is known of the conversation, `smallest` whether no shorter snapshot can be cut
    from this start, `shared` whether the run read other conversations too, `max_bytes` the budget
    without suspicion.
    """
    if failure.scope != "content" or taken.mode == "replay":
        return before
    start = Suspect(taken.conversation, taken.first_entry, (), max_bytes)
    if before is not None and _same_start(before, start):
        start = replace(before, budget=min(before.budget, max_bytes))
    struck = replace(start, strikes=_struck(start.strikes, failure), alone=start.alone or shared)
    if not struck.condemned or shared:
        return struck
    if smallest:
        return SetAside(taken, failure.fingerprint)
    # Half of what was really read: half of an unfilled budget would read the same rows again.
    return replace(struck, budget=max(1, min(struck.budget, taken.size) // 2))


def _same_start(one: Suspect, other: Suspect) -> bool:
    return (one.conversation, one.first_entry) == (other.conversation, other.first_entry)


def _struck(strikes: tuple[Strike, ...], failure: Failure) -> tuple[Strike, ...]:
    known = {strike.fingerprint: strike for strike in strikes}
    old = known.get(failure.fingerprint, Strike(failure.fingerprint, 0, failure.retryable))
    # The same words, once retryable and once not: the stricter class decides.
    known[failure.fingerprint] = Strike(
        failure.fingerprint, old.failures + 1, old.retryable and failure.retryable
    )
    return tuple(known.values())


def budget(suspect: Suspect | None, first_entry: str, max_bytes: int) -> int:
    """Return the most bytes that a snapshot from this start may have."""
    if suspect is None or suspect.first_entry != first_entry:
        return max_bytes
    return min(suspect.budget, max_bytes)
