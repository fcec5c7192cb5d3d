"""What each engine can do: known without importing any of them."""

from __future__ import annotations

from reflector.core.schedule import Engine

ABILITIES = {
    "rules": Engine("rules", can_dream=False, calls_model=False),
    "anthropic": Engine("anthropic"),
    "command": Engine("command"),
}
"""By engine name. `rules` reads what was said in so many words: it has nothing to dream of."""
