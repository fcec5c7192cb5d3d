"""Names that all of this folder shares, without anything that would have to be imported for them."""

from __future__ import annotations

from typing import Final

PIPELINE: Final = "experiences"
SLOT: Final = "experiences"
"""The slot of extractions; its presence lock is the worker's."""
