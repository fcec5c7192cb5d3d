"""What the end of a run changes: cursors, back-off, suspicion and park, in one decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reflector.core import backoff, park
from reflector.core.backoff import Backoff, SetAside, Suspect
from reflector.core.failure import Failure, classify
from reflector.core.park import FailedRun, ParkState
from reflector.core.run import Outcome, Reason, consumes
from reflector.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that ended. `smallest` names the conversations whose snapshot has only one group.

    `settings` is the fingerprint of its engine route's settings.
    """

    run: str
    pipeline: str
    automatic: bool
    dry_run: bool
    outcome: Outcome
    reason: Reason | None
    detail: str
    snapshots: tuple[Snapshot, ...]
    smallest: frozenset[str] = frozenset()
    settings: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered of a conversation's failures."""

    backoff: Backoff = field(default_factory=Backoff)
    suspect: Suspect | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """What is to be saved with the outcome, all in its transaction.

    `consumed` and `set_aside` move the cursor to their ends. `records` holds only what changed,
    `park` is the state of the run's route. `parked` says that it was parked just now.
    """

    park: ParkState
    parked: bool = False
    failure: Failure | None = None
    consumed: tuple[Snapshot, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)


def complete(
    ended: Ended,
    records: Mapping[str, Record],
    before: ParkState,
    max_bytes: int,
    now: datetime,
    chance: float,
) -> Completed:
    """Decide everything that follows from a run's end.

    `records` are those of its conversations (none = never failed), `before` the park state of its
    engine route, `max_bytes` the snapshot budget of the settings, `chance` in [0, 1) the jitter.
    A dry run changes nothing, however it ends.
    """
    if ended.dry_run or ended.outcome is Outcome.DRY_RUN:
        return Completed(before)
    advanced = tuple(each for each in ended.snapshots if each.mode == "advance")
    if consumes(ended.outcome):
        cleared = {each.conversation: Record() for each in advanced}
        return Completed(park.after_success(), consumed=advanced, records=cleared)
    failure = classify(ended.outcome, ended.reason, ended.detail)
    if failure is None:
        return Completed(before)
    changed: dict[str, Record] = {}
    aside: list[SetAside] = []
    for each in advanced:
        old = records.get(each.conversation, Record())
        verdict = _suspected(ended, old.suspect, each, failure, max_bytes)
        if isinstance(verdict, SetAside):
            aside.append(verdict)  # the cursor moves on: what held it up is gone
            changed[each.conversation] = Record()
        else:
            changed[each.conversation] = Record(_wait(ended, old, now, chance), verdict)
    after, parked = _parked(ended, failure, before, now)
    return Completed(after, parked, failure, set_aside=tuple(aside), records=changed)


def _suspected(
    ended: Ended, old: Suspect | None, taken: Snapshot, failure: Failure, max_bytes: int
) -> Suspect | SetAside | None:
    return backoff.after_content_failure(
        old,
        taken,
        failure,
        smallest=taken.conversation in ended.smallest,
        shared=len({each.conversation for each in ended.snapshots}) > 1,
        max_bytes=max_bytes,
    )


def _wait(ended: Ended, old: Record, now: datetime, chance: float) -> Backoff:
    if not ended.automatic or ended.pipeline == "dream":
        return old.backoff
    return backoff.after_failure(old.backoff, now, chance)


def _parked(
    ended: Ended, failure: Failure, before: ParkState, now: datetime
) -> tuple[ParkState, bool]:
    read = frozenset(each.conversation for each in ended.snapshots)
    reason = ended.reason.value if ended.reason else ended.outcome.value
    failed = FailedRun(ended.run, read, reason, ended.detail, ended.settings)
    return park.after_failure(before, failed, failure, now, automatic=ended.automatic)
