"""What is to be forgotten, as something that is found in texts and bytes wherever it was written."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reflector.core.errors import UsageError

_MOST = 4096
_ENDLESS = 256
_REPEAT = re.compile(r"\{(\d{1,4})(?:(,)(\d{1,4})?)?\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE = re.compile(r"\\[dDsSwWbBntr]|\\[^A-Za-z0-9]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Needle:
    """Passages, in every form in which Reflector writes text, or one expression.

    `texts` are looked for in text, `forms` in bytes: plain, inside JSON, escaped for an element.
    """

    texts: tuple[str, ...] = ()
    forms: tuple[bytes, ...] = ()
    expression: re.Pattern[str] | None = None

    @property
    def nothing(self) -> bool:
        """Tell whether there is nothing to look for."""
        return not self.texts and self.expression is None

    def within(self, content: bytes) -> bool:
        """Tell whether it is in these bytes, in any form."""
        if self.expression is not None:
            return self.expression.search(content.decode("utf-8", "replace")) is not None
        return any(form in content for form in self.forms)

    def said(self, text: str) -> bool:
        """Tell whether it is in a text, in any form: a text may be JSON itself."""
        return self.within(text.encode("utf-8", "surrogatepass"))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where it stands in a text, as plain text."""
        if self.expression is not None:
            yield from (match.span() for match in self.expression.finditer(text))
        for wanted in self.texts:
            start = text.find(wanted)
            while start >= 0:
                yield start, start + len(wanted)
                start = text.find(wanted, start + len(wanted))


def passages(texts: Iterable[str]) -> Needle:
    """Look for these texts, letter for letter."""
    plain = tuple(dict.fromkeys(form for text in texts if text for form in _composed(text)))
    forms = dict.fromkeys(form for text in plain for form in _written(text))
    return Needle(plain, tuple(forms))


def matching(pattern: str) -> Needle:
    """Look for an expression; raise UsageError for one that could take longer than linear time.

    Allowed are letters, classes, `.`, anchors, `|`, and repetition of one letter or class. What
    repeats without an end repeats at most 256 times, and all repetitions together may match in at
    most 4096 ways from one place, so that the time is bounded by the length of the text.
    """
    bounded = _bounded(pattern)
    try:
        expression = re.compile(bounded, re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"{pattern!r} is no regular expression: {error}.",
            hint="Without --regex it is taken letter for letter.",
        ) from error
    if expression.search("") is not None:
        raise UsageError(
            f"{pattern!r} fits every text.", hint="Say what must be there for something to go."
        )
    return Needle(expression=expression)


def without(needle: Needle, text: str) -> str:
    """Return a text without the lines in which it stands, unchanged if it stands in none."""
    gone = sorted(needle.spans(text))
    if not gone:
        return text
    kept, start, marks = [], 0, iter([*gone, (len(text) + 1, len(text) + 1)])
    mark = next(marks)
    for line in text.split("\n"):
        end = start + len(line)
        while mark[1] <= start and mark[0] < start:
            mark = next(marks)
        if mark[0] > end:
            kept.append(line)
        start = end + 1
    return "\n".join(kept)


def _composed(text: str) -> tuple[str, ...]:
    return (text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD")))


def _written(text: str) -> Iterator[bytes]:
    """Yield the forms of a text: as it is, in JSON, in JSON inside JSON, inside an element."""
    forms = [text, html.escape(text, quote=False), html.escape(text)]
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        forms += [once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]]
        forms.append(json.dumps(once, ensure_ascii=True)[1:-1])
    return (form.encode("utf-8", "surrogatepass") for form in forms)


def _bounded(pattern: str) -> str:
    """Return the expression with ends to its repetitions; raise UsageError if it is not safe."""
    written, ways, at = [], 1, 0
    while at < len(pattern):
        atom = _atom(pattern, at)
        at += len(atom)
        written.append(atom)
        least, most, length = _repetition(pattern, at)
        if not length:
            continue
        if atom in ("|", "^", "$"):
            raise _unsafe(pattern, f"{atom!r} cannot be repeated")
        ways *= most - least + 1
        written.append(f"{{{least},{most}}}")
        at += length
        if _repetition(pattern, at)[2] or pattern[at : at + 1] in ("?", "+"):
            raise _unsafe(pattern, "a repetition of a repetition")
    if ways > _MOST:
        raise _unsafe(pattern, "too many repetitions")
    return "".join(written)


def _atom(pattern: str, at: int) -> str:
    char = pattern[at]
    if char == "[":
        found = _CLASS.match(pattern, at)
    elif char == "\\":
        found = _ESCAPE.match(pattern, at)
    elif char in "()*+?{}":
        found = None
    else:
        return char
    if found is None:
        raise _unsafe(pattern, f"{char!r} at {at}")
    return found.group()


def _repetition(pattern: str, at: int) -> tuple[int, int, int]:
    """Return least, most and written length of the repetition at a place; length 0 = none."""
    simple = {"?": (0, 1), "*": (0, _ENDLESS), "+": (1, _ENDLESS)}.get(pattern[at : at + 1])
    if simple:
        return (*simple, 1)
    found = _REPEAT.match(pattern, at)
    if found is None:
        return 1, 1, 0
    least = int(found[1])
    most = least if not found[2] else int(found[3]) if found[3] else least + _ENDLESS
    return least, most, len(found.group())


def _unsafe(pattern: str, why: str) -> UsageError:
    return UsageError(
        f"The expression {pattern!r} might take too long: {why}.",
        hint="Use letters, classes and few bounded repetitions, without groups; or leave --regex "
        "out and name the text itself.",
    )
