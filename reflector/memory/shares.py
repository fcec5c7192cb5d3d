"""The sections' shares of the block: the written defaults, and what settings put in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

# In percent of the effective budget. The frame keeps to its own at the default budget and is never
# cut; what is not used by one goes to the others.
FRAME = 10
SHORT_MEMORY = 35
SYSTEM_TIER = 45
REST = 10
# On top of that, where a diary is kept: then all of them are lowered in proportion if need be.
DIARY = 10

TIER = ("self", "memory")


@dataclass(frozen=True, slots=True)
class Share:
    """A section's least and most part of the effective budget in percent, and its weight."""

    floor: int
    ceiling: int
    weight: int


SHARES: Mapping[str, Share] = {
    "self": Share(15, 40, 3),
    "memory": Share(30, 75, 5),
    "decisions": Share(4, 50, 4),
    "diary": Share(DIARY, 75, 8),
    "external_projection": Share(4, 50, 2),
    "skills": Share(2, 40, 2),
}
UNNAMED = Share(0, 50, 1)


def written(values: Mapping[str, int]) -> tuple[str, ...]:
    """Write one column of the table as in the settings: `name=number`."""
    return tuple(f"{name}={number}" for name, number in values.items())


FLOORS = written({name: share.floor for name, share in SHARES.items()})
CEILINGS = written({name: share.ceiling for name, share in SHARES.items()})
WEIGHTS = written({name: share.weight for name, share in SHARES.items()})


def shares_of(
    floors: Iterable[str], ceilings: Iterable[str], weights: Iterable[str]
) -> dict[str, Share]:
    """Return the table with what the settings say put in; names they leave out keep their own."""
    table = dict(SHARES)
    for column, values in (("floor", floors), ("ceiling", ceilings), ("weight", weights)):
        for value in values:
            name, _, number = value.partition("=")
            table[name] = replace(table[name], **{column: int(number)})
    return table
