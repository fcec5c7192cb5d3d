"""What a bullet may not name because it will not last: paths, lines of files, hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_SIGN = r"[\w.@+-]"
_PATH = re.compile(
    rf"(?<![\w/])(?:{_SIGN}{{1,80}}/){{1,20}}[\w@+-][\w.@+-]{{0,80}}\.[A-Za-z]\w{{0,5}}\b"  # a/b.py
    rf"|(?<![\w/])(?:{_SIGN}{{1,80}}/){{2,20}}(?!\w)"  # a/b/
    rf"|(?<![\w./~])(?:\.{{1,2}}|~)?/{_SIGN}{{1,80}}/"  # /a/, ./a/, ~/a/
    rf"|(?<![\w./~])(?:\.{{1,2}}|~)/{_SIGN}"  # ./a, ~/a
    r"|(?<!\w)[A-Za-z]:\\"
)
_LINE = re.compile(
    r"\blines? \d|\bL\d{1,6}(?:-L?\d{1,6})?\b|\w\.[A-Za-z]\w{0,5}:\d|第\s?\d{1,7}\s?行"
    r"|\d{1,7}\s?(?:行目|번째 ?줄)",
    re.IGNORECASE,
)
_HASH = re.compile(r"(?<![#\w-])(?=[0-9a-f]{0,39}[0-9])(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,64}(?!\w)")


def located(text: str) -> Iterator[str]:
    """Yield what a text names of the sort."""
    plain = _URL.sub(" ", text)
    if _PATH.search(plain):
        yield "path"
    if _LINE.search(plain):
        yield "line number"
    if _HASH.search(plain):
        yield "hash"
