"""How often a shared phrase occurred, counted by several replicas and added up once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reflector.core.diary import Share, Term


def settled(term: Term, replica: str, like: Iterable[Share] = ()) -> Term:
    """Return a term whose shares add up to its count; the difference was counted here.

    `like` are the shares that it came from, where it was made anew and brought none of its own.
    """
    shares = _by_replica(term.counts or like)
    if replica and (nameless := shares.pop("", None)):
        # Counted before this diary had a name among others, so nobody else has it.
        own = shares.get(replica, Share(replica, 0, 0))
        edition = max(own.edition, nameless.edition) + 1
        shares[replica] = Share(replica, edition, own.value + nameless.value)
    count = max(0, term.count)
    if not shares or count != _total(shares):
        own = shares.get(replica, Share(replica, 0, 0))
        others = sum(share.value for name, share in shares.items() if name != replica)
        shares[replica] = Share(replica, own.edition + 1, count - others)
    return replace(term, count=count, counts=_listed(shares))


def joined(ours: Iterable[Share], theirs: Iterable[Share]) -> tuple[Share, ...]:
    """Return what each replica said last."""
    found = _by_replica(ours)
    for share in theirs:
        there = found.get(share.replica, share)
        found[share.replica] = max(there, share, key=lambda one: (one.edition, one.value))
    return _listed(found)


def summed(base: Term, ours: Term, theirs: Term, replica: str) -> tuple[Share, ...]:
    """Return the shares of two settled terms that one replica counted on apart, from `base` on.

    What was counted here on both sides is added; another replica's share is only ever replaced.
    """
    mine, other = _by_replica(ours.counts), _by_replica(theirs.counts)
    nothing = Share(replica, 0, 0)
    was, one, two = (each.get(replica, nothing) for each in (_by_replica(base.counts), mine, other))
    found = _by_replica(joined(ours.counts, theirs.counts))
    if was not in (one, two):
        value = one.value + two.value - was.value
        found[replica] = Share(replica, max(one.edition, two.edition) + 1, value)
    return _listed(found)


def total(shares: Iterable[Share]) -> int:
    """Return the count: never less than none, whatever was taken back at the same time."""
    return _total(_by_replica(shares))


def _total(shares: Mapping[str, Share]) -> int:
    return max(0, sum(share.value for share in shares.values()))


def _by_replica(shares: Iterable[Share]) -> dict[str, Share]:
    return {share.replica: share for share in shares}


def _listed(shares: Mapping[str, Share]) -> tuple[Share, ...]:
    return tuple(shares[name] for name in sorted(shares))
