"""In which language an extraction is asked and answered: the user's, never that of a tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflector.core.entry import Kind
from reflector.pipelines.decisions.pasted import pasted
from reflector.pipelines.experiences.rows import Row, contents, is_call, spoken

LAST_TURNS = 5
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_OTHER = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7ff\u1100-\u11ff]")
_WORD = re.compile(r"[^\W\d_\u2e80-\uffff]+")
# Each word is read once, from where it begins: what is pasted may be one of a million letters.
_NAMES = re.compile(
    r"`[^`\n]*`|https?://\S+"
    r"|(?<![^\s`])[^\s`/\\_.=:-]*+[/\\_.=:-][^\sA-Za-z0-9]*+[A-Za-z0-9]\S*",
    re.ASCII,
)
_MOST = 20_000


def chinese(rows: Sequence[Row]) -> bool:
    """Tell whether Chinese is spoken: by the last user turns, else by what else there is."""
    turns = [one.text for one in spoken(rows)[-LAST_TURNS:]]
    for said in ([_typed(text) for text in turns], turns):
        if votes := [_is_chinese(text) for text in said if _has_language(text)]:
            return (sum(votes), votes[-1]) > (len(votes) / 2, False)
    others = [one.text for one in rows if not is_call(one) and one.kind != Kind.REASONING]
    everything = (each for one in rows for each in contents(one))
    for texts in (others, everything):
        if _has_language(joined := "\n".join(texts)[-_MOST:]):
            return _is_chinese(joined)
    return False


def _typed(text: str) -> str:
    """Return what was typed, without what was pasted and without names that have no language."""
    kept, at = [], 0
    for start, end in pasted(text):
        kept.append(text[at:start])
        at = end
    return _NAMES.sub(" ", "".join((*kept, text[at:])))


def _has_language(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_HAN, _OTHER, _WORD))


def _is_chinese(text: str) -> bool:
    han, other = len(_HAN.findall(text)), len(_OTHER.findall(text))
    # A character says about half of what a word does. Japanese writes Han as well, but never long
    # without its own letters.
    return 2 * han > len(_WORD.findall(text)) and other * 10 < han
