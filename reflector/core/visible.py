"""One line of text without the characters that nobody sees."""

from __future__ import annotations

import re

# What joins characters (U+200C, U+200D) stays: whole scripts and many pictures are written with it.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Return a text on one line, blanks collapsed: whoever reads it sees what a model reads."""
    return " ".join(_UNSEEN.sub("", " ".join(text.split())).split())
