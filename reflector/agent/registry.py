"""Which engines there are. Only the chosen one is imported."""

from __future__ import annotations

from reflector.agent.engine import Engine
from reflector.core.ambient import Ambient
from reflector.core.errors import UsageError


def engine(name: str, ambient: Ambient) -> Engine:
    """Return the engine of that name. Raises UsageError when there is none."""
    match name:
        case "rules":
            from reflector.agent.rules import RulesEngine  # noqa: PLC0415 - only the chosen one

            return RulesEngine()
        case "anthropic":
            from reflector.agent.anthropic_engine import AnthropicEngine  # noqa: PLC0415

            return AnthropicEngine(ambient)
        case "command":
            from reflector.agent.command_engine import CommandEngine  # noqa: PLC0415

            return CommandEngine(ambient.clock)
        case _:
            there = "There are 'rules', 'anthropic' and 'command'."
            raise UsageError(f"There is no engine {name!r}.", hint=there)
