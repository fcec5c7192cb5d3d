"""Words for time: taken out of old texts, and put in front of what is shown."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from reflector.pipelines.diary.language import Language
from reflector.pipelines.diary.stale_words import JOINED, RULES

_QUOTED = re.compile(
    r"“[^“”]*”|\"[^\"]*\"|„[^“”„]*[“”]|«[^«»]*»|‘[^‘’]*’(?!\w)|「[^「」]*」|『[^『』]*』|《[^《》]*》"
    r"|`[^`]*`|(?<![\w'])'[^'\n]*'(?!\w)"
)
_CLOSERS = " \t\"'“”‘’)]»」』"
_ENDS = ".!?…。！？\n"
_NEAR = 32
_ROUNDS = 8

_VAGUE: Final[dict[Language, tuple[str, str, str, str]]] = {
    "en": ("a few days ago", "a while back", "about last month", "long ago"),
    "zh": ("前几天", "前阵子", "大概上个月", "很久以前"),
}
_UP_TO = (9, 24, 59)


def vague(days: int, language: Language = "en") -> str:
    """Say how long ago something was the way one remembers it: in one of four classes."""
    return _VAGUE[language][sum(days > most for most in _UP_TO)]


def relative(days: int, language: Language = "en") -> str:
    """Say on which of the last days something was; further back it becomes vague."""
    if days <= 0:
        return "今天" if language == "zh" else "today"
    if days == 1:
        return "昨天" if language == "zh" else "yesterday"
    if days == 2:
        return "前天" if language == "zh" else "two days ago"
    return vague(days, language)


def strip(text: str) -> str:
    """Take the time words out of a text that was written on another day.

    What stands in quotation marks or code stays: it was said or written that way. A text of time
    words alone stays as it is. Doing it twice changes nothing.
    """
    for _ in range(_ROUNDS):
        shorter = _once(text)
        if shorter == text:
            break
        text = shorter
    return text


def _once(text: str) -> str:
    parts: list[str] = []
    at = 0
    for quoted in _QUOTED.finditer(text):
        parts += (text[at : quoted.start()], quoted[0])
        at = quoted.end()
    parts.append(text[at:])
    done = ""
    for number, part in enumerate(parts):
        done += part if number % 2 else _plain(part, done)
    changed = done != text
    done = done.strip() if changed else done
    return done if any(map(str.isalnum, done)) else text


def _plain(part: str, before: str) -> str:
    """Strip what lies between two quotations; `before` is the text in front of it."""
    for rule in RULES:
        if not rule.concerns(part):
            continue
        if rule.by:
            part = rule.pattern.sub(partial(_cased, rule.by), part)
        else:
            part = _without(rule.pattern, part, before[-_NEAR:])
    return part


def _cased(by: str, found: re.Match[str]) -> str:
    return by[:1].upper() + by[1:] if found[0][:1].isupper() else by


def _without(pattern: re.Pattern[str], part: str, before: str) -> str:
    kept = ""
    at = 0
    for found in pattern.finditer(part):
        if found.start() < at:
            continue
        kept += part[at : found.start()]
        at = found.end()
        opens = _opens(before + kept[-_NEAR:])
        if opens and (joined := JOINED.match(part, at)):
            at = joined.end()
        kept = _closed_up(kept, part[at : at + 1])
        if kept[-1:] in "(（" and kept and part[at : at + 1] in (")", "）"):
            kept, at = kept[:-1].rstrip(" \t"), at + 1
        if opens and found[0][:1].isupper() and part[at : at + 1].islower():
            kept += part[at].upper()
            at += 1
    return kept + part[at:]


def _opens(before: str) -> bool:
    """Tell whether a sentence begins behind this."""
    said = before.rstrip(_CLOSERS)
    return not said or said[-1] in _ENDS


def _closed_up(kept: str, follows: str) -> str:
    """Take the space back that the word leaves behind, where another one or a stop follows."""
    return kept.rstrip(" \t") if follows in ("", *" ,.;:!?)\n") else kept
