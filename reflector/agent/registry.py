"""Which engines there are."""

from __future__ import annotations

from reflector.agent.engine import Engine
from reflector.agent.rules import RulesEngine
from reflector.core.errors import UsageError


def engine(name: str) -> Engine:
    """Return the engine of that name. Raises UsageError when there is none."""
    if name != RulesEngine.name:
        raise UsageError(f"There is no engine {name!r}.", hint="The only engine is 'rules'.")
    return RulesEngine()
