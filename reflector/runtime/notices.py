"""What a person should know without having to do anything: each notice is one small function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from reflector.runtime import news, waiting
from reflector.runtime.wiring import Context
from reflector.store import scheduling
from reflector.store.state import Connection, State

Notice = tuple[str, str]
"""A code and a sentence."""

_REPLACED = "typed_secrets"


def notices(context: Context, state: State) -> tuple[Notice, ...]:
    """Return everything there is to say, the most lasting first."""
    return tuple(notice for tell in _ALL for notice in tell(context, state))


def told_all(connection: Connection) -> None:
    """Forget what counts since the last session: a session has begun with it."""
    news.told_all(connection)
    scheduling.clear_mark(connection, _REPLACED)


def add_replaced(connection: Connection, counts: Mapping[str, int]) -> None:
    """Count by rule the secrets that were replaced in what a person typed, in a transaction."""
    if counts:
        known = _replaced(connection)
        total = {rule: known.get(rule, 0) + counts.get(rule, 0) for rule in {*known, *counts}}
        scheduling.set_mark(connection, _REPLACED, json.dumps(total, sort_keys=True))


def _replaced(connection: Connection) -> dict[str, int]:
    try:
        counts = dict(json.loads(scheduling.mark(connection, _REPLACED) or "{}"))
        return {str(rule): int(count) for rule, count in counts.items()}
    except (ValueError, TypeError):
        return {}


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


_ALL: tuple[Callable[[Context, State], Iterator[Notice]], ...] = (
    _typed_secrets,
    _learned,
    _waiting,
)
