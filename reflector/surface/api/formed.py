"""What the runtime answers, in the values of the API."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.cleaning import clean, clean_values
from reflector.core.machine import SLOT
from reflector.core.run import Run
from reflector.runtime import documents, front
from reflector.runtime.learned import learned
from reflector.runtime.present import run_json
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.state import State
from reflector.surface.api.values import Decided, Document, Reflected

_REFLECTION = SLOT["reflection"]


def reflected(found: Context, runs: Sequence[Run], *, limited: bool = False) -> Reflected:
    """Return what runs brought about, and whether a limit stopped them."""
    brought = learned(found, runs)
    return Reflected(
        runs=tuple(clean_values(run_json(each)) for each in runs),
        changes=tuple(each.as_json() for each in brought.changes),
        learned={path: tuple(map(clean, lines)) for path, lines in brought.added.items()},
        report=clean(brought.report),
        limited=limited,
    )


def asked_for(state: State, decision: str) -> str | None:
    """Return the id of the run that was just reserved, or that waits for its turn."""
    if decision == "queued":
        waiting = reservations.pending(state.connection)
        return next((each.id for each in waiting if each.request.pipeline == "reflection"), None)
    # Nobody has taken it over yet, or a supervisor that was at work already has.
    unowned = reservations.unowned(state.connection, _REFLECTION)
    active = reservations.active(state.connection, _REFLECTION)
    return unowned or next((each.id for each in active), None)


def decided(answer: front.Answer) -> Decided:
    """Return what came of an event."""
    told = answer.as_json()
    return Decided(told["decision"], told["why"], told["until"], told["supervisor"])


def document(each: documents.Listing) -> Document:
    """Return a document of a list, without secrets."""
    return Document(
        path=each.path,
        description=clean(each.description),
        tokens=each.tokens,
        size=each.size,
        read_only=each.read_only,
        in_context=each.in_context,
        problem=clean(each.problem),
    )
