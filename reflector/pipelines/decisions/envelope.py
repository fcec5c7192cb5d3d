"""What one extraction reads: a person's message, and what was said just before it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reflector.agent.phrases import HARNESS
from reflector.core.comparing import letters
from reflector.core.decision import Message
from reflector.pipelines.decisions.pasted import fence_at, fenced

PROMPT = 16_000
PREVIOUS = 400
ASSISTANT = 800
OMITTED = "[code omitted]"

_LEAST = 16
_LEAST_CJK = 4
_MEANING = 3
_MEANING_CJK = 2

Skip = Literal["program", "command", "too_short", "acknowledgement", "empty"]
"""Why a message starts no extraction."""

_ACKNOWLEDGEMENTS = frozenset(
    {
        *("ok", "okay", "kk", "thanks", "thankyou", "thankyouverymuch", "thx", "ty", "cheers"),
        *("continue", "pleasecontinue", "goon", "carryon", "proceed", "keepgoing", "next", "done"),
        *("great", "nice", "cool", "perfect", "good", "lgtm", "looksgood", "looksgoodtome"),
        *("okthanks", "okaythanks", "greatthanks", "perfectthanks", "gotit"),
        *(
            "好的",
            "好",
            "嗯嗯",
            "谢谢",
            "多谢",
            "继续",
            "请继续",
            "好的谢谢",
            "可以",
            "收到",
            "明白",
        ),
        *("明白了", "知道了", "辛苦了", "不错", "繼續", "謝謝"),
        *(
            "はい",
            "ありがとう",
            "ありがとうございます",
            "続けて",
            "続けてください",
            "了解",
            "了解です",
        ),
        *("わかりました", "お願いします", "どうぞ"),
        *(
            "네",
            "예",
            "감사합니다",
            "고마워",
            "고마워요",
            "계속",
            "계속해",
            "계속해줘",
            "좋아",
            "좋아요",
        ),
        *("알겠습니다", "알겠어", "오케이"),
    }
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message as typed, and its referents: cleaned, cut, never evidence. "" where none is."""

    prompt: str
    previous_human: str = ""
    assistant_context: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the public form; what is not there is left out."""
        told = {
            "prompt": self.prompt,
            "previous_human": self.previous_human,
            "assistant_context": self.assistant_context,
        }
        return {name: text for name, text in told.items() if text}


def envelope(messages: Sequence[Message], current: int | None = None) -> Envelope | None:
    """Return what an extraction of one user message reads; None when it said nothing.

    `current` is its index, the last user message when None. What came later is never looked at.
    """
    if current is None:
        users = [at for at, one in enumerate(messages) if one.role == "user"]
        current = users[-1] if users else -1
    if not 0 <= current < len(messages) or messages[current].role != "user":
        return None
    prompt = messages[current].text.strip()
    if not prompt:
        return None
    before = messages[:current]
    return Envelope(
        capped(prompt),
        cleaned(_nearest(before, "user"), PREVIOUS),
        cleaned(_nearest(before, "assistant"), ASSISTANT),
    )


def _nearest(before: Sequence[Message], role: str) -> str:
    return next((one.text for one in reversed(before) if one.role == role and one.text.strip()), "")


def capped(prompt: str, most: int = PROMPT) -> str:
    """Return a prompt of at most `most` code points: head, a line that says so, and tail.

    A fence that is open where the head ends is closed, and one that is open where the tail begins
    is opened again: what was pasted stays pasted.
    """
    if len(prompt) <= most:
        return prompt
    half = (most - 100) // 2
    head, tail = prompt[:half], prompt[-half:]
    note = f"[… {len(prompt) - 2 * half} characters left out …]"
    spans = fenced(prompt)
    shut, again = (fence_at(spans, at, prompt) for at in (half, len(prompt) - half))
    return "\n".join(part for part in (head, shut, note, again, tail) if part)


def cleaned(text: str, most: int) -> str:
    """Return a referent: code blocks as a placeholder, blanks collapsed, at most `most` points."""
    parts: list[str] = []
    at = 0
    for start, end in fenced(text):
        parts += (text[at:start], OMITTED)
        at = end
    return _cut(" ".join("".join((*parts, text[at:])).split()), most)


def _cut(text: str, most: int) -> str:
    """Cut at a character: what is drawn as one stays whole or goes."""
    if len(text) <= most:
        return text
    while most and (unicodedata.combining(text[most]) or text[most] in "\u200d\ufe0f"):
        most -= 1
    return text[:most]


def skipped(prompt: str, *, after_assistant: bool) -> Skip | None:
    """Return why a message starts no extraction, None when it starts one."""
    text = prompt.strip()
    if not text:
        return "empty"
    if text.startswith("/"):
        return "command"
    if HARNESS.match(text):
        return "program"
    least = _LEAST_CJK if is_cjk(text) else _LEAST
    if not meaningful(text) or (len(text) < least and not after_assistant):
        return "too_short"
    return "acknowledgement" if letters(text) in _ACKNOWLEDGEMENTS else None


def meaningful(text: str) -> bool:
    """Tell whether a piece is long enough to decide something: 3 characters, 2 with CJK."""
    count = sum(1 for sign in text if unicodedata.category(sign)[0] in "LMNS")
    return count >= (_MEANING_CJK if is_cjk(text) else _MEANING)


def is_cjk(text: str) -> bool:
    """Tell whether a text holds Chinese, Japanese or Korean characters."""
    return any(
        "\u3041" <= sign <= "\u30ff"
        or "\u3400" <= sign <= "\u9fff"
        or "\uac00" <= sign <= "\ud7a3"
        or "\u1100" <= sign <= "\u11ff"
        or "\uf900" <= sign <= "\ufaff"
        or "\U00020000" <= sign <= "\U0003ffff"
        for sign in text
    )
