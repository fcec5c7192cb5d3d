"""The languages that are understood without a model, told apart by their script."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reflector.agent.phrases import Language, Phrases
from reflector.agent.phrases_cjk import CHINESE, JAPANESE, KOREAN
from reflector.agent.phrases_english import ENGLISH

LANGUAGES: Mapping[Language, Phrases] = {
    "en": ENGLISH,
    "zh": CHINESE,
    "ja": JAPANESE,
    "ko": KOREAN,
}

_KANA = re.compile("[ぁ-ゖァ-ヺー]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[一-鿿㐀-䶿]")


def language_of(text: str) -> Language:
    """Tell the language by its script: kana, Hangul and Han are enough, the rest is English."""
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh" if _HAN.search(text) else "en"
