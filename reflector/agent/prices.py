"""What models cost, as their provider publishes it. A model that is not here has no known price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reflector.agent.engine import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: read, written, read from the cache, written into the cache."""

    read: float
    written: float

    @property
    def from_cache(self) -> float:
        """Return the price of what the cache answers: a tenth."""
        return self.read / 10

    @property
    def into_cache(self) -> float:
        """Return the price of what enters the cache for five minutes: a quarter more."""
        return self.read * 1.25


_PRICES: Final[dict[str, Price]] = {
    "claude-opus-5": Price(5, 25),
    "claude-sonnet-5": Price(2, 10),
    "claude-opus-4-5": Price(5, 25),
    "claude-sonnet-4-5": Price(3, 15),
    "claude-haiku-4-5": Price(1, 5),
}
"""By the beginning of a model's name; dated names begin the same."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one request used."""

    read: int = 0
    written: int = 0
    from_cache: int = 0
    into_cache: int = 0

    @property
    def all(self) -> int:
        """Return every token that a limit counts."""
        return self.read + self.written + self.from_cache + self.into_cache


def cost(model: str, tokens: Tokens) -> float | None:
    """Return what a request cost in dollars, None when the price is not known."""
    price = next((each for name, each in _PRICES.items() if model.startswith(name)), None)
    if price is None:
        return None
    parts = (
        tokens.read * price.read,
        tokens.written * price.written,
        tokens.from_cache * price.from_cache,
        tokens.into_cache * price.into_cache,
    )
    return sum(parts) / _MILLION


def dearest(usage: Usage) -> float:
    """Return what a call cost in dollars; one whose price nobody knows, as of the dearest model."""
    if usage.cost_usd is not None:
        return usage.cost_usd
    most = max(_PRICES.values(), key=lambda price: price.written)
    return (usage.input_tokens * most.read + usage.output_tokens * most.written) / _MILLION


def add(usage: Usage, model: str, tokens: Tokens) -> Usage:
    """Return the usage with one more request. One unknown price makes the sum unknown."""
    paid = cost(model, tokens)
    known = usage.cost_usd is not None and paid is not None
    return Usage(
        input_tokens=usage.input_tokens + tokens.read + tokens.from_cache + tokens.into_cache,
        output_tokens=usage.output_tokens + tokens.written,
        cached_tokens=usage.cached_tokens + tokens.from_cache,
        cost_usd=(usage.cost_usd or 0) + (paid or 0) if known else None,
    )
