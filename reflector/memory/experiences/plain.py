"""The header of an item as we write it ourselves, read without YAML; any other is left to YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reflector.memory.document import MAX_DESCRIPTION

# What means the same in quotes and without, wherever it stands: printable, and no end of a line.
_SIGN = r"\w\u2010-\u2027\u3001-\u303f\uff01-\uffef"
# Begins with a letter or is a path: no number, no date, no indicator. `: ` and ` #` would end it.
_PLAIN = rf"\.?[^\W\d_](?:[{_SIGN} !-\"$-9;-~]|:(?=[{_SIGN}!-~])|(?<! )#)*(?<! )|/[\w./-]*"
_QUOTED = rf"'(?:[{_SIGN} !-&(-~]|'')*'"
_TEXT = f"(?:{_PLAIN}|{_QUOTED})"
_FIELD = re.compile(
    rf"([a-z_]+):(?: (?:({_TEXT})|([01]\.[0-9]{{1,15}}))\n|\n((?:- {_TEXT}\n)+))",
)
_OPEN, _CLOSE = "---\n", "\n---\n"
_FLAGS = {"true": True, "false": False}
_OTHER = frozenset({"yes", "no", "on", "off", "null", "y", "n", ".inf", ".nan", *_FLAGS})
"""Words that YAML takes for no text, in whatever case."""

Values = Mapping[str, object]
"""What stands under each key, as YAML would read it."""


def read(raw: bytes, known: frozenset[str]) -> tuple[Values, str] | None:
    """Return header and body of a document that says nothing but known keys, each in plain form.

    None for any other: whoever gets it asks YAML.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    end = text.find(_CLOSE, len(_OPEN))
    if not text.startswith(_OPEN) or end < 0 or "\r" in text:
        return None
    values = _values(text, len(_OPEN), end + 1)
    if values is None or not values.keys() <= known:
        return None
    about = values.get("description")
    if not isinstance(about, str) or not about.strip() or len(about) > MAX_DESCRIPTION:
        return None
    return values, text[end + len(_CLOSE) :]


def _values(text: str, at: int, end: int) -> Values | None:
    found: dict[str, object] = {}
    while at < end:
        match = _FIELD.match(text, at, end)
        if match is None or match[1] in found:
            return None
        key, said, share, items = match.groups()
        value = _scalar(said) if said else float(share) if share else _list(items)
        if value is None:
            return None
        found[key] = value
        at = match.end()
    return found


def _list(items: str) -> Sequence[object] | None:
    found = [_scalar(line[2:]) for line in items[:-1].split("\n")]
    return found if all(isinstance(each, str) for each in found) else None


def _scalar(said: str) -> str | bool | None:
    """Return what a scalar says; None for a word that YAML takes for something else."""
    if said[0] == "'":
        return said[1:-1].replace("''", "'")
    if said in _FLAGS:
        return _FLAGS[said]
    return None if len(said) <= len("false") and said.lower() in _OTHER else said
