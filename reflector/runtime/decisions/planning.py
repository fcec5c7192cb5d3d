"""Which banks have decisions that friction has shown to matter, and when they are consolidated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import cast

from reflector.core import consolidation
from reflector.core.ambient import instant, stamp
from reflector.core.consolidation import Attempts
from reflector.core.decision import Recorded
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.decisions.law import History, Mode, Ruling, eligible
from reflector.runtime.settings import Settings
from reflector.store import bullets, decisions, ledger_state, scheduling
from reflector.store.state import Connection

BATCH_TOKENS = 6000
_OVERHEAD = 30
_SOONEST = "decisions_soonest"


@dataclass(frozen=True, slots=True)
class Plan:
    """What waits in a bank. `due_at` is when what is eligible goes in, None when nothing is."""

    bank: str
    rulings: tuple[Ruling, ...]
    due_at: datetime | None

    @property
    def eligible(self) -> tuple[Recorded, ...]:
        """Return the deltas that may enter, in the order of speaking."""
        return tuple(each.recorded for each in self.rulings if each.eligible)


def plans(connection: Connection, settings: Settings, now: datetime) -> list[Plan]:
    """Return every bank with deltas that wait, the one that waits longest first."""
    waiting: dict[str, list[Recorded]] = {}
    for one in decisions.ledger(connection, waiting=True):
        waiting.setdefault(one.bank, []).append(one)
    return [_plan(connection, settings, bank, found, now) for bank, found in waiting.items()]


def _plan(
    connection: Connection, settings: Settings, bank: str, waiting: list[Recorded], now: datetime
) -> Plan:
    history = History(decisions.ledger(connection, bank), bullets.every(connection, bank))
    mode = cast("Mode", settings.text("decisions.admission"))
    rulings = tuple(eligible(waiting, history, mode))
    if not any(each.eligible for each in rulings):
        return Plan(bank, rulings, None)
    interval = timedelta(minutes=settings.number("decisions.interval_minutes"))
    return Plan(bank, rulings, consolidation.due_at(attempts(connection, bank), interval, now))


@dataclass(frozen=True, slots=True)
class Soonest:
    """When the first bank is due, None when nothing is eligible."""

    at: datetime | None


def recalled(connection: Connection, settings: Settings, now: datetime) -> Soonest | None:
    """Return what was planned last, None when it is not known or does not hold any more.

    An event must not rule on thousands of deltas each time.
    """
    known = scheduling.facts(connection, _SOONEST)
    if known.get("state") != _state(connection, settings) or known.get("as_of", "") > stamp(now):
        return None
    at = known.get("at")
    return Soonest(instant(at) if at else None)


def soonest(found: Sequence[Plan]) -> datetime | None:
    """Return when the first of some banks is due, None when nothing is eligible."""
    return min((plan.due_at for plan in found if plan.due_at), default=None)


def remember(
    connection: Connection, settings: Settings, found: Sequence[Plan], now: datetime
) -> None:
    """Remember when the first of all banks is due, inside the caller's transaction."""
    at = soonest(found)
    fields = {
        "state": _state(connection, settings),
        "as_of": stamp(now),
        "at": stamp(at) if at else "",
    }
    scheduling.set_mark(connection, _SOONEST, json.dumps(fields))


def _state(connection: Connection, settings: Settings) -> str:
    names = ("decisions.admission", "decisions.interval_minutes")
    chosen = [str(settings.values[name]) for name in names]
    return "/".join((ledger_state.fingerprint(connection), *chosen))


def batch(connection: Connection, plan: Plan) -> tuple[Recorded, ...]:
    """Return the deltas that one run takes: what fits, and less after every fault."""
    found = plan.eligible
    most = consolidation.part(len(found), attempts(connection, plan.bank).failures)
    taken: list[Recorded] = []
    left = BATCH_TOKENS
    for one in found[:most]:
        left -= _tokens(one)
        if taken and left < 0:
            break
        taken.append(one)
    return tuple(taken)


def _tokens(one: Recorded) -> int:
    delta = one.delta
    texts = (delta.statement, delta.evidence, delta.rejected_alternative, delta.rationale)
    return _OVERHEAD + sum(map(estimate_tokens, texts))


def attempts(connection: Connection, bank: str) -> Attempts:
    """Return how the last consolidations of a bank went; what cannot be read was never."""
    fields = scheduling.facts(connection, _name(bank))
    try:
        times = {name: fields.get(name) for name in ("succeeded_at", "failed_at")}
        found = {name: instant(text) if text else None for name, text in times.items()}
        failures = int(fields.get("failures", 0))
        return Attempts(found["succeeded_at"], failures, found["failed_at"])
    except (ValueError, TypeError):
        return Attempts()


def save_attempts(connection: Connection, bank: str, after: Attempts) -> None:
    """Remember how the last consolidations of a bank went."""
    fields = asdict(after)
    for name in ("succeeded_at", "failed_at"):
        fields[name] = stamp(fields[name]) if fields[name] else None
    scheduling.set_mark(connection, _name(bank), json.dumps(fields))
    scheduling.clear_mark(connection, _SOONEST)  # when the bank is due has changed


def _name(bank: str) -> str:
    return f"consolidations of {bank}"
