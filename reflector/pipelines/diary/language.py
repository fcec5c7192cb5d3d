"""In which of its two languages a diary speaks: the one that its own texts are in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile("[\u3041-\u30ff]")
_LETTER = re.compile("[A-Za-z\u00c0-\u024f]+")


def of(text: str) -> Language:
    """Return Chinese for a text of which Han makes up more than its Latin words."""
    if _KANA.search(text):
        return "en"
    return "zh" if len(_HAN.findall(text)) > len(_LETTER.findall(text)) else "en"


def of_all(texts: Iterable[str]) -> Language:
    """Return the language of most of the texts."""
    found = [of(text) for text in texts]
    return "zh" if found.count("zh") * 2 > len(found) else "en"
