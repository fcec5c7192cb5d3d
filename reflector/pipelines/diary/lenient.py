"""JSON out of what a model said in plain text, whatever stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_TRAILING = re.compile(r",(?=\s*[}\]])")
_TRIES = 40


def first_object(text: str, names: frozenset[str]) -> Mapping[str, Any] | None:
    """Return the first JSON object in a text that has one of these names; None without any.

    Fences, sentences before it and after it, and commas too many are no fault. One that is cut is
    none, and what lies inside it is not taken for the whole.
    """
    starts = [found.start() for found in re.finditer(r"\{", text)][:_TRIES]
    for at in starts:
        for piece in (text[at:], _TRAILING.sub("", text[at:])):
            try:
                value, _ = json.JSONDecoder(strict=False).raw_decode(piece)
            except (ValueError, RecursionError):
                continue
            # An empty one says that there is nothing, if it is no piece of another.
            whole = not value and at == starts[0]
            if isinstance(value, Mapping) and (whole or names & value.keys()):
                return value
    return None
