"""How it is said that something was not recorded."""

from __future__ import annotations

from collections.abc import Mapping

_REASONS = {
    "own": "a session of Reflector's own",
    "excluded": "its folder is in journal.exclude",
    "off": "its project has a .reflector/off",
    "headless": "journal.headless is false",
    "paused": "recording was paused",
    "norecord": "off the record",
    "forgotten": "you had it forgotten",
}


def left_out(counts: Mapping[str, int]) -> str:
    """Say how many entries were not recorded, and why."""
    return "left out: " + ", ".join(f"{n} ({_REASONS[why]})" for why, n in sorted(counts.items()))
