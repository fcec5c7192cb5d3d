"""The circuit breaker: when automatic runs stop, which one may probe, what ends it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, assert_never

from reflector.core.ambient import instant, stamp
from reflector.core.failure import Failure

VERSION: Final = 1
PROBE_EVERY: Final = timedelta(hours=6)
FRESH: Final = timedelta(days=7)
"""A park older than this is no news: `status` shows it, no notice does."""

THRESHOLDS: Final = {"retryable": 6, "final": 3, "fatal": 1}
"""Failures in a row that park, by the class of the latest one."""


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The latest automatic failure. `kind` is a key of THRESHOLDS."""

    run: str
    at: datetime
    fingerprint: str
    kind: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Streak:
    """Automatic failures in a row: all of them, and those of provider scope.

    `common` are the conversations that every one of them read: while one is left, the failures
    can be blamed on it alone, and the provider is innocent.
    """

    failures: int
    of_provider: int
    common: frozenset[str]
    first_at: datetime
    last: LastFailure

    @property
    def weight(self) -> int:
        """Return how many of them speak against the provider."""
        return self.of_provider if self.common else self.failures


@dataclass(frozen=True, slots=True)
class Watching:
    """Automatic runs start. `streak` is None after a success."""

    streak: Streak | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """Automatic runs are refused but for a probe. `settings` is the fingerprint they failed with."""

    streak: Streak
    parked_at: datetime
    settings: str = ""
    last_probe_at: datetime | None = None
    noticed: bool = False

    @property
    def next_probe_at(self) -> datetime:
        """Return when the next probe may start."""
        return (self.last_probe_at or self.parked_at) + PROBE_EVERY

    @property
    def innocent(self) -> bool:
        """Whether nothing speaks against the provider itself: only what runs read was at fault."""
        return self.streak.of_provider == 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What was stored says nothing. It holds nobody up; `doctor` reports it."""

    why: str


ParkState = Watching | Parked | Unreadable


@dataclass(frozen=True, slots=True)
class Admit:
    """The run may start."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The run may start half-open, after `store` has been saved."""

    store: Parked


@dataclass(frozen=True, slots=True)
class Refused:
    """No automatic run before `until`."""

    until: datetime


Gate = Admit | Probe | Refused


def gate(state: ParkState, now: datetime, *, automatic: bool) -> Gate:
    """Decide whether a run may start. Manual runs always may."""
    if not automatic:
        return Admit()
    match state:
        case Watching() | Unreadable():
            return Admit()
        case Parked():
            since = now - (state.last_probe_at or state.parked_at)
            # A distance, not a difference: a clock set back must not put probes off for long.
            if abs(since) < PROBE_EVERY:
                return Refused(state.next_probe_at)
            return Probe(replace(state, last_probe_at=now))
        case _:
            assert_never(state)


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed. `settings` is the fingerprint of the settings that it ran with."""

    run: str
    conversations: frozenset[str]
    reason: str
    detail: str
    settings: str = ""


def after_failure(
    state: ParkState, failed: FailedRun, failure: Failure, now: datetime, *, automatic: bool
) -> tuple[ParkState, bool]:
    """Return the state after a failed run, and whether it parked just now.

    A manual failure changes nothing. A failed probe, or a run that was under way when the route
    was parked, leaves it parked without a word.
    """
    if not automatic:
        return state, False
    last = LastFailure(
        failed.run, now, failure.fingerprint, _class(failure), failed.reason, failed.detail[:512]
    )
    match state:
        case Parked():
            streak = _longer(state.streak, failed, failure, last)
            return replace(state, streak=streak, settings=failed.settings), False
        case Unreadable():
            # It may have been parked: to begin to count anew would unpark it unseen.
            streak = _longer(None, failed, failure, last)
            return Parked(streak, now, failed.settings), True
        case Watching():
            streak = _longer(state.streak, failed, failure, last)
            if streak.weight < THRESHOLDS[last.kind]:
                return Watching(streak), False
            return Parked(streak, now, failed.settings), True
        case _:
            assert_never(state)


def after_success() -> ParkState:
    """Return the state after any run of the route that consumed, manual ones included."""
    return Watching()


def at_start(state: ParkState, settings: str) -> ParkState:
    """Clear a park whose fatal failure other settings caused than those of now."""
    if isinstance(state, Parked) and state.streak.last.kind == "fatal":
        return state if state.settings == settings else Watching()
    return state


def notice(state: ParkState, now: datetime) -> tuple[bool, ParkState]:
    """Tell whether the next notice says "parked", and return the state that remembers it."""
    if not isinstance(state, Parked) or state.noticed:
        return False, state
    return abs(now - state.parked_at) <= FRESH, replace(state, noticed=True)


def settings_fingerprint(settings: Mapping[str, str]) -> str:
    """Return 16 hex digits that change with any of the settings of an engine route."""
    plain = json.dumps(sorted(settings.items()))
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def _class(failure: Failure) -> str:
    if failure.fatal:
        return "fatal"
    return "retryable" if failure.retryable else "final"


def _longer(
    streak: Streak | None, failed: FailedRun, failure: Failure, last: LastFailure
) -> Streak:
    read = failed.conversations or frozenset({""})  # a dream may read the memory alone
    provider = int(failure.scope == "provider")
    if streak is None:
        return Streak(1, provider, read, last.at, last)
    return Streak(
        streak.failures + 1,
        streak.of_provider + provider,
        streak.common & read,
        streak.first_at,
        last,
    )


def to_json(state: ParkState) -> str:
    """Write the state for storage; what was unreadable stays unreadable."""
    fields = {"version": VERSION, "state": type(state).__name__.lower(), **asdict(state)}
    return json.dumps(fields, default=_plain)


def _plain(value: object) -> str | list[str]:
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError


def from_json(text: str | None) -> ParkState:
    """Read what `to_json` wrote. None is a route that never failed; anything odd is Unreadable."""
    if text is None:
        return Watching()
    try:
        return _parsed(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Unreadable(f"{type(error).__name__}: the stored park state cannot be read.")


def _parsed(fields: dict[str, Any]) -> ParkState:
    if fields["version"] != VERSION:
        return Unreadable(f"The stored park state has version {fields['version']!r}.")
    match fields["state"]:
        case "unreadable":
            return Unreadable(_text(fields["why"]))
        case "watching":
            return Watching(None if fields["streak"] is None else _streak(fields["streak"]))
        case "parked" if isinstance(fields["noticed"], bool):
            probed = fields["last_probe_at"]
            return Parked(
                streak=_streak(fields["streak"]),
                parked_at=_time(fields["parked_at"]),
                settings=_text(fields["settings"]),
                last_probe_at=None if probed is None else _time(probed),
                noticed=fields["noticed"],
            )
        case _:
            raise ValueError


def _streak(fields: dict[str, Any]) -> Streak:
    last = dict(fields["last"])
    at = _time(last.pop("at"))
    if last["kind"] not in THRESHOLDS:
        raise ValueError
    return Streak(
        _count(fields["failures"]),
        _count(fields["of_provider"]),
        frozenset(map(_text, fields["common"])),
        _time(fields["first_at"]),
        LastFailure(at=at, **{name: _text(value) for name, value in last.items()}),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _time(value: object) -> datetime:
    found = instant(_text(value))
    if found.tzinfo is None:
        raise ValueError
    return found
