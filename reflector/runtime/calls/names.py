"""Names of the small calls, without anything that would have to be imported for them."""

from __future__ import annotations

from typing import Final

ASKS: Final = "anthropic"
"""The only engine that small forced calls go through."""
GAVE_UP: Final = "gave_up"
"""Why a job was ended that no model answered, before the reason."""
