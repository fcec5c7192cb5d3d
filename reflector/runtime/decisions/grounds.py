"""Why a decision is in a bank: from its bullet to the deltas, and the words that they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.decision import Recorded, Told
from reflector.core.errors import NotFoundError, UsageError
from reflector.pipelines.decisions.bullets import Bullet
from reflector.runtime.decisions.bank import Held, held
from reflector.runtime.wiring import Context
from reflector.store import bullets, decisions, provenance
from reflector.store.provenance import Seen

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ground:
    """A delta, and the entry in which it was said; None when the journal does not know it."""

    recorded: Recorded
    entry: Seen | None


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is known of a bullet. `place` is "" for one that went, `told` None for one by hand.

    `earlier` are the bullets whose place it took, the newest first.
    """

    bank: str
    text: str
    place: str
    told: Told | None
    deltas: tuple[Ground, ...]
    earlier: tuple[Told, ...]


def why(context: Context, bank: str, wanted: str) -> Grounds:
    """Find a bullet by its words or its place, and what it rests on.

    A bullet that another took the place of is found too. Raises NotFoundError, UsageError when the
    words fit several.
    """
    here = held(context, bank)
    with context.state() as state:
        connection = state.connection
        ledger = bullets.every(connection, bank)
        bullet = _found(here, wanted)
        text = bullet.text if bullet else _gone(ledger, bank, wanted)
        told = next((each for each in reversed(ledger) if each.text == text), None)
        known = [
            found
            for each in (told.deltas if told else ())
            if (found := decisions.delta(connection, each))
        ]
        entries = {
            seen.id: seen
            for seen in provenance.cited(connection, tuple(each.entry for each in known))
        }
    return Grounds(
        bank=bank,
        text=text,
        place=here.place(bullet) if bullet else "",
        told=told,
        deltas=tuple(Ground(each, entries.get(each.entry)) for each in known),
        earlier=_earlier(ledger, text),
    )


def _found(here: Held, wanted: str) -> Bullet | None:
    bullets = here.files.bullets
    by_place = [
        one
        for one in bullets
        if wanted in (here.place(one), here.place(one).removeprefix(f"projects/{here.bank}/"))
    ]
    plain = _plain(wanted)
    exact = [one for one in bullets if _plain(one.text) == plain]
    parts = [one for one in bullets if plain and plain in _plain(one.text)]
    found = by_place or exact[:1] or parts
    if len(found) > 1:
        shown = "; ".join(one.text for one in found[:_SHOWN])
        raise UsageError(
            f"{len(found)} decisions hold these words: {shown}",
            hint="Say more of one, or its place, like product.md:9.",
        )
    return found[0] if found else None


def _gone(ledger: Sequence[Told], bank: str, wanted: str) -> str:
    plain = _plain(wanted)
    found = [each.text for each in ledger if plain and plain in _plain(each.text)]
    if not found:
        raise NotFoundError(
            f"No decision of {bank} holds these words, now or before.",
            hint="`reflector decisions show` lists them; say a part of one.",
        )
    return found[-1]


def _earlier(ledger: Sequence[Told], text: str) -> tuple[Told, ...]:
    """Follow back what a bullet took the place of; each once, since words can come back."""
    found: list[Told] = []
    current = text
    for each in reversed(ledger):
        if each.superseded and each.instead == current and each.text != current:
            found.append(each)
            current = each.text
    return tuple(found)


def _plain(text: str) -> str:
    return " ".join(text.casefold().removeprefix("- ").split())
