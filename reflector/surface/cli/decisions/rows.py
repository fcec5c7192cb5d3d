"""Deltas as rows: the machine form, and what a person is told of one."""

from __future__ import annotations

from reflector.core.cleaning import clean
from reflector.core.decision import Recorded
from reflector.surface.cli.output import Output, safe

_LONGEST = 200


def recorded_json(one: Recorded) -> dict[str, object]:
    """Return the machine form of a delta in the ledger."""
    return {
        "id": one.id,
        "bank": one.bank,
        "conversation": one.conversation or None,
        "entry": one.entry or None,
        "at": one.at,
        "origin": one.origin,
        "consumed_by": one.consumed_by or None,
    } | one.delta.as_json()


def tell(one: Recorded, why: str, out: Output) -> None:
    """Say what a delta holds, and whatever else there is to say of it."""
    delta = one.delta
    flags = [name for name, holds in delta.friction.as_json().items() if holds]
    out.say(
        f"{out.style(f'#{one.id}', 'yellow')}  {delta.kind.value}  {_short(delta.statement)}",
        f"      {'; '.join([*flags, why] if why else flags) or 'no friction'}",
    )
    if delta.rejected_alternative:
        out.say(f"      not: {_short(delta.rejected_alternative)}")
    if delta.rationale:
        out.say(f"      because: {_short(delta.rationale)}")
    if one.origin != "person":
        out.say(f"      said {one.at[:16]} in {safe(one.conversation)}: {_short(delta.evidence)}")


def _short(text: str) -> str:
    plain = safe(clean(" ".join(text.split())))
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]} […]"
