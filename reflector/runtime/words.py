"""Where the words that models and agents are told are opened: personas and templates, once."""

from __future__ import annotations

import functools

from reflector.pipelines.prompts import Words
from reflector.runtime.wiring import data_folder


@functools.cache
def open_words() -> Words:
    """Return the words of this installation; nothing of them is read before it is asked for."""
    return Words(data_folder())
