"""Judges the blocks that a diary showed: their size, their moment, and every word for time in them.

Like `tests.support.diary_auditor` it knows nothing of the product but what it printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

LEAST = 0.10
DAILY = 0.9
_ENOUGH = 16
"""Signs of a text by which it is known where the rest of it is cut."""
_FRAME = {"en": "It is ", "zh": "现在是"}
_PARTS = {
    "en": (
        "long past midnight, {day} by now",
        "{day} morning",
        "{day} afternoon",
        "{day} evening",
        "late on {day} evening",
    ),
    "zh": ("{day}凌晨", "{day}上午", "{day}下午", "{day}晚上", "{day}深夜"),
}
_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
_VAGUE = {
    "a few days ago": (2, 9),
    "a while back": (10, 24),
    "about last month": (25, 59),
    "long ago": (60, 9999),
    "today": (0, 0),
    "yesterday": (1, 1),
    "two days ago": (2, 2),
    "今天": (0, 0),
    "昨天": (1, 1),
    "前天": (2, 2),
    "前几天": (2, 9),
    "前阵子": (10, 24),
    "大概上个月": (25, 59),
    "很久以前": (60, 9999),
}
_OVER = "(?:, (?:and|but) [^:]+|，[^：]+)?"
"""Whether a failure is over, said behind the day."""
_LINE = re.compile(rf"- (.+?)(?:, too|还有)?{_OVER}(?:: |：)(.*)")
_THEN = re.compile(rf"- (?:Then, too|那时还有){_OVER}(?:: |：)")
_KNOWN = re.compile(r"known \S+ for (\d+) days|认识\S+?有(\d+)天")
_SOURCE = re.compile(r"\d{4}-\d{2}-\d{2}|\bscore\b|\bsalience\b|[0-9a-f]{12}")
LATELY, MIND = ("## Lately", "## 最近"), ("## It comes to mind", "## 你想起来")


def preview(shown: Mapping[str, Any], home: Mapping[str, Any]) -> Iterator[str]:
    """Judge one block: its size, its moment, and every word for time in it."""
    text = shown["text"]
    local = datetime.fromisoformat(shown["at"]).astimezone(ZoneInfo(shown["zone"]))
    when = f"block of {local:%Y-%m-%d %H:%M}"
    if not text:
        yield f"{when}: it is empty"
        return
    yield from (f"{when}: {each}" for each in _too_large(text, shown["explain"]))
    if not any(local_moment(local, language) in text for language in _FRAME):
        yield f"{when}: it says another moment: {text.splitlines()[3]!r}"
    if found := _SOURCE.search(text):
        yield f"{when}: it shows {found[0]!r}"
    parts = sections(text)
    for heading in (*LATELY, *MIND):
        for line in _dated(parts.get(heading, "").split("\n")[1:]):
            yield from (f"{when}: {each}" for each in _told_when(line, local.date(), home))


def _dated(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with the word for time of the one above in the place of `then`."""
    before = ""
    for line in lines:
        found = _THEN.match(line)
        yield f"- {before}: {line[found.end() :]}" if found else line
        if not found and (named := _LINE.match(line)):
            before = named[1]


def _too_large(text: str, explain: Mapping[str, Any]) -> Iterator[str]:
    budget = min(3000, explain["budget_tokens"])
    size = sum(tokens(part) for part in sections(text).values())
    if max(size, explain["tokens"] - explain["frame_tokens"]) > budget:
        yield f"{size} tokens are more than {budget}"
    for name, each in explain["sections"].items():
        if each["tokens"] > each["ceiling"]:
            yield f"{name} has {each['tokens']} of {each['ceiling']}"


def _told_when(line: str, today: date, home: Mapping[str, Any]) -> Iterator[str]:
    found = _LINE.match(line)
    if not found or (bounds := _VAGUE.get(found[1].lower())) is None:
        if line.startswith("- ") and not any(line[2:30] in note for note in home["notes"]):
            yield f"no word for time in {line[:60]!r}"
        return
    said = re.sub(r"…?(?: \((?:It|This|Settled)[^()]*\)|（这[^）]*）)?$", "", found[2])
    days = [day for mark, day in home["told"].items() if mark[:_ENOUGH] in said or said in mark]
    if not days:
        yield f"nobody told {said[:60]!r}"
        return
    ago = {max(0, (today - date.fromisoformat(day)).days) for day in days}
    if not any(bounds[0] <= each <= bounds[1] for each in ago):
        yield f"{found[1]!r} of something {sorted(ago)} days ago: {said[:60]!r}"


def local_moment(local: datetime, language: str) -> str:
    """Return how the frame says weekday and part of the day."""
    part = sum(local.hour >= hour for hour in (5, 12, 18, 22))
    return _FRAME[language] + _PARTS[language][part].format(day=_DAYS[language][local.weekday()])


def sections(text: str) -> dict[str, str]:
    """Return the parts of a block by heading; the frame is none."""
    body = text.removesuffix("</diary>\n")
    starts = [found.start() for found in re.finditer(r"^## ", body, re.MULTILINE)]
    parts = [body[at:to] for at, to in zip(starts, [*starts[1:], len(body)], strict=True)]
    return {part.split("\n", 1)[0]: part for part in parts}


def tokens(text: str) -> int:
    """Estimate as the design says: four ASCII signs, two of another alphabet or one wide one."""
    quarters = sum(
        1 if sign < "\x80" else 8 if sign > "\uffff" else 4 if sign >= "\u2e80" else 2
        for sign in text
    )
    return -(-quarters // 4)


def lately(shown: Mapping[str, Any], entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """Judge that what happened lately was shown, all five, however much else there was."""
    today = datetime.fromisoformat(shown["at"]).astimezone(ZoneInfo(shown["zone"])).date()
    vivid = [each for each in entries if each["kind"] != "note" and _left(each, today) >= LEAST]
    parts = sections(shown["text"])
    lines = "".join(parts.get(heading, "") for heading in LATELY).count("\n- ")
    if lines != min(5, len(vivid)):
        yield f"{lines} lines of lately, of {len(vivid)} that are vivid"
    about = shown["explain"]["sections"].get("recent")
    if about and about["cut"] and about["tokens"] < about["floor"] * 0.9:
        yield f"lately was cut to {about['tokens']} tokens"
    first = min((date.fromisoformat(each["date"]) for each in entries), default=today)
    known = _KNOWN.search(shown["text"])
    if known and int(known[1] or known[2]) != (today - first).days:
        yield f"{known[0]!r}, and the first entry is of {first}"


def _left(entry: Mapping[str, Any], today: date) -> float:
    days = max(0, (today - date.fromisoformat(entry["reinforced_on"] or entry["date"])).days)
    return float(entry["salience"]) * DAILY**days
