"""What a person should know without having to do anything: each notice is one small function."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from reflector.core import park
from reflector.core.ambient import stamp
from reflector.core.park import Parked
from reflector.runtime import news, too_late, waiting
from reflector.runtime.scheduling import today
from reflector.runtime.wiring import Context
from reflector.store import imports, scheduling, sources
from reflector.store.state import Connection, State

Notice = tuple[str, str]
"""A code and a sentence."""

_REPLACED = "typed_secrets"
_TOLD_REPLACED = "told_typed_secrets"
_DEGRADED = "told_degraded"
_IMPORTED = timedelta(days=7)
"""So long an import is news."""
_AT_A_START = ("redacted", "learned", "review_waits", "review_ends", "parked", "degraded")
"""What a session begins with; the rest is for `status` alone."""


def notices(context: Context, state: State) -> tuple[Notice, ...]:
    """Return everything there is to say, the most lasting first."""
    return tuple(notice for tell in _ALL for notice in tell(context, state))


def at_start(context: Context, state: State) -> tuple[tuple[str, ...], str]:
    """Return what a session begins with: sentences, and the stamp that `told` wants back.

    The stamp is "" when nothing of it is forgotten once it was told.
    """
    if not context.settings.flag("notice"):
        return (), ""
    found = notices(context, state)
    sentences = tuple(text for code, text in found if code in _AT_A_START)
    connection = state.connection
    known = news.news(connection)
    facts: dict[str, Any] = {
        "learned": known.run if known else "",
        "typed": scheduling.counts(connection, _REPLACED) if _replaced(connection) else {},
        "parked": _park_began(context, state),
        "degraded": _degradation(connection),
    }
    kept = {name: value for name, value in facts.items() if value}
    return sentences, json.dumps(kept, sort_keys=True) if kept and sentences else ""


def told(context: Context, connection: Connection, shown: str) -> None:
    """Forget what a session began with, in a transaction. What came since stays to be told."""
    facts = _facts(shown)
    news.told_up_to(connection, str(facts.get("learned", "")))
    if isinstance(facts.get("typed"), dict):
        _told_replaced(connection, facts["typed"])
    route = context.settings.text("engine.name")
    state = scheduling.park_state(connection, route)
    if isinstance(state, Parked) and stamp(state.parked_at) == facts.get("parked"):
        _, noticed = park.notice(state, context.ambient.clock.now())
        scheduling.save_park(connection, route, noticed)
    if facts.get("degraded"):
        scheduling.set_mark(connection, _DEGRADED, str(facts["degraded"]))


def _facts(shown: str) -> dict[str, Any]:
    try:
        facts = json.loads(shown)
    except (ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def add_replaced(connection: Connection, counts: Mapping[str, int]) -> None:
    """Count by rule the secrets that were replaced in what a person typed, in a transaction."""
    if counts:
        known = scheduling.counts(connection, _REPLACED)
        total = {rule: known.get(rule, 0) + counts.get(rule, 0) for rule in {*known, *counts}}
        scheduling.set_mark(connection, _REPLACED, json.dumps(total, sort_keys=True))


def _told_replaced(connection: Connection, shown: Mapping[str, object]) -> None:
    """Note up to which totals a person knows: two sessions may have begun with the same."""
    known = scheduling.counts(connection, _TOLD_REPLACED)
    for rule, total in shown.items():
        known[rule] = max(known.get(rule, 0), total if isinstance(total, int) else 0)
    scheduling.set_mark(connection, _TOLD_REPLACED, json.dumps(known, sort_keys=True))


def _replaced(connection: Connection) -> dict[str, int]:
    """Return what nobody was told of yet."""
    told = scheduling.counts(connection, _TOLD_REPLACED)
    left = {
        rule: n - told.get(rule, 0) for rule, n in scheduling.counts(connection, _REPLACED).items()
    }
    return {rule: count for rule, count in left.items() if count > 0}


def _typed_secrets(_context: Context, state: State) -> Iterator[Notice]:
    counts = _replaced(state.connection)
    if total := sum(counts.values()):
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
        what = "1 secret was" if total == 1 else f"{total} secrets were"
        yield "redacted", f"{what} replaced in what you typed since the last session ({rules})."


def _learned(context: Context, state: State) -> Iterator[Notice]:
    if context.settings.flag("notice"):
        yield from news.told(news.news(state.connection))


def _waiting(context: Context, state: State) -> Iterator[Notice]:
    yield from waiting.told(waiting.waits(state), context.ambient.clock.now())


def _parked(context: Context, state: State) -> Iterator[Notice]:
    if since := _park_began(context, state):
        # Never the error's own words: they come from outside.
        yield "parked", f"Automatic runs pause since {since} after failures: `reflector status`."


def _park_began(context: Context, state: State) -> str:
    """Return since when automatic runs pause, "" unless that is news."""
    known = scheduling.park_state(state.connection, context.settings.text("engine.name"))
    is_news, _ = park.notice(known, context.ambient.clock.now())
    return stamp(known.parked_at) if isinstance(known, Parked) and is_news else ""


def _degraded(_context: Context, state: State) -> Iterator[Notice]:
    if _degradation(state.connection):
        count = len(sources.degraded(state.connection))
        what = "1 transcript" if count == 1 else f"{count} transcripts"
        yield "degraded", f"{what} could not be read: `reflector status`."


def _degradation(connection: Connection) -> str:
    """Return what stands for the unreadable transcripts, "" if there is none or it was told."""
    paths = sorted(path for path, _ in sources.degraded(connection))
    digest = hashlib.sha256("\0".join(paths).encode("utf-8", "replace")).hexdigest()[:16]
    return digest if paths and digest != scheduling.mark(connection, _DEGRADED) else ""


def _passed_by(context: Context, state: State) -> Iterator[Notice]:
    since = stamp(context.ambient.clock.now() - _IMPORTED)
    conversations, entries = imports.passed_by(state.connection, since)
    if conversations:
        many = f"{conversations} imported conversations"
        what = "one imported conversation" if conversations == 1 else many
        told = f"No run reads {entries} {'entry' if entries == 1 else 'entries'} of {what}"
        how = "`reflector reflect --conversation ID --recent N` reads the last N steps of one"
        yield "passed_by", f"{told}; {how}."


def _day_over(context: Context, state: State) -> Iterator[Notice]:
    settings = context.settings
    day = today(state, context.ambient.clock.now(), settings)
    most = settings.money("day.max_cost_usd")
    if settings.text("engine.name") != "rules" and day.cost_usd >= most:
        yield (
            "day_cost",
            (
                f"Today's limit of {most:.2f} USD is reached ({day.cost_usd:.2f}): nothing asks a model "
                f"before {day.ends_at:%H:%M}. day.max_cost_usd raises it, --over-budget passes it once."
            ),
        )


_ALL: tuple[Callable[[Context, State], Iterator[Notice]], ...] = (
    _typed_secrets,
    _learned,
    _waiting,
    _parked,
    _degraded,
    _passed_by,
    _day_over,
    too_late.told,
)
