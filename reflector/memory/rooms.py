"""The room that each section of the block gets."""

from __future__ import annotations

from collections.abc import Mapping

from reflector.memory.budget import Claim, allot
from reflector.memory.shares import DIARY, REST, SYSTEM_TIER, TIER, UNNAMED, Share


def most(name: str, total: int, shares: Mapping[str, Share]) -> int:
    """Return the most that a section can get."""
    share = shares.get(name, UNNAMED)
    return total * max(share.floor, share.ceiling) // 100


def rooms(
    sizes: Mapping[str, int], room: int, total: int, shares: Mapping[str, Share]
) -> dict[str, int]:
    """Give every section its room, all in costs; together at most `room`.

    The system tier, a diary and everything else come first, each as a whole with its fixed share of
    `total`; then each of the three is shared out by floors, ceilings and weights.
    """
    claims = {name: _claim(size, total, shares.get(name, UNNAMED)) for name, size in sizes.items()}
    groups: list[tuple[dict[str, Claim], int]] = [({}, SYSTEM_TIER), ({}, DIARY), ({}, REST)]
    for name, claim in claims.items():
        groups[0 if name in TIER else 1 if name == "diary" else 2][0][name] = claim
    given = allot([_together(each, percent, total) for each, percent in groups], room)
    found: dict[str, int] = {}
    for (each, _), own in zip(groups, given, strict=True):
        found |= dict(zip(each, allot(list(each.values()), own), strict=True))
    return found


def _claim(size: int, total: int, share: Share) -> Claim:
    return Claim(size, total * share.floor // 100, total * share.ceiling // 100, share.weight)


def _together(claims: Mapping[str, Claim], percent: int, total: int) -> Claim:
    size = sum(min(each.size, max(each.floor, each.ceiling)) for each in claims.values())
    weight = sum(each.weight for each in claims.values())
    return Claim(size, total * percent // 100, total, weight)
