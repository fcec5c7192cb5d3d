"""A person's own MEMORY.md: parsed strictly, never repaired, shown whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

Scope = Literal["user", "project"]

MOST_ENTRIES = 20
MOST_CHARACTERS = 2000
MOST_BYTES = 65_536
HEADING = "# Memory"

# The white space of ECMAScript. `str.strip()`, `\s` and `str.splitlines` know other sets.
SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_ENTRY = re.compile(r"- \[([A-Za-z0-9][A-Za-z0-9_-]{0,63})\] ([^\u2028\u2029]+)", re.DOTALL)
_CONTINUATION = re.compile(r"(?:  |\t)([^\u2028\u2029]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Given:
    """A file that is shown. `text` is the whole element, escaped, and ends with a newline.

    `path` is for people: valid text without secrets, not escaped.
    """

    scope: Scope
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ShortMemory:
    """What the compiled block shows of short memory: the files, user first, then project.

    `policy` holds the essential sentences, `troubles` one line for each file that is not shown;
    both are escaped already.
    """

    policy: str = ""
    given: tuple[Given, ...] = ()
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to remember. The lines of a body are joined with LF."""

    id: str
    body: str


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is neither blank nor the heading, an entry or its continuation."""

    line: int


@dataclass(frozen=True, slots=True)
class DuplicateId:
    """An entry whose id was used before."""

    line: int
    id: str


@dataclass(frozen=True, slots=True)
class TooManyEntries:
    """More entries than the limit."""

    count: int


@dataclass(frozen=True, slots=True)
class TooManyCharacters:
    """Bodies of more code points than the limit."""

    count: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is there and was not read; `detail` is for people."""

    code: Literal["unreadable", "not_a_file", "file_too_large", "changed_while_reading", "not_utf8"]
    detail: str


Fault = BadLine | DuplicateId | TooManyEntries | TooManyCharacters | Unread


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text holds. Entries are told even where faults keep all of it from being shown.

    `spans` are where the entries lie in the text, from the hyphen to the end of the last
    continuation, without its line end.
    """

    entries: tuple[Entry, ...] = ()
    faults: tuple[Fault, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def characters(self) -> int:
        """Return the code points of all bodies."""
        return sum(len(entry.body) for entry in self.entries)

    @property
    def injected(self) -> str:
        """Return the form that is shown, before redaction and escaping; "" when not shown."""
        return "" if self.faults else render(self.entries)


def render(entries: Sequence[Entry]) -> str:
    """Write entries; parsed again, the text gives the same ones."""
    return "\n".join(
        "- [{}] {}".format(each.id, each.body.replace("\n", "\n  ")) for each in entries
    )


@dataclass(slots=True)
class _Reading:
    """What was found so far. The entry met last `goes_on` until another line ends it."""

    entries: list[tuple[str, list[str]]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    spans: list[tuple[int, int]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    titled: bool = False
    goes_on: bool = False


def parse(text: str) -> Parsed:
    """Read a whole file. Every text is either free of faults or has each of them told."""
    seen = _Reading()
    for number, (start, line) in enumerate(_lines(text), 1):
        if line.strip(SPACE):
            _take(seen, number, start, line)
    entries = tuple(Entry(id_, "\n".join(body)) for id_, body in seen.entries)
    found = Parsed(entries, (), tuple(seen.spans))
    if len(entries) > MOST_ENTRIES:
        seen.faults.append(TooManyEntries(len(entries)))
    if found.characters > MOST_CHARACTERS:
        seen.faults.append(TooManyCharacters(found.characters))
    return Parsed(entries, tuple(seen.faults), found.spans)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Give every line with the offset where it starts; CRLF, LF and CR end one, nothing else."""
    start = 1 if text.startswith("\ufeff") else 0
    for end in _LINE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


def _take(seen: _Reading, number: int, start: int, line: str) -> None:
    """Read one line that is not blank."""
    entry = _ENTRY.fullmatch(line)
    more = _CONTINUATION.fullmatch(line) if seen.goes_on else None
    if line == HEADING and not seen.titled and not seen.entries:
        seen.titled = True
    elif entry is not None and entry[2][0] not in SPACE:
        if entry[1] in seen.known:
            seen.faults.append(DuplicateId(number, entry[1]))
        seen.known.add(entry[1])
        seen.entries.append((entry[1], [entry[2].rstrip(SPACE)]))
        seen.spans.append((start, start + len(line)))
        seen.goes_on = True
    elif more is not None:
        seen.entries[-1][1].append(more[1].rstrip(SPACE))
        seen.spans[-1] = (seen.spans[-1][0], start + len(line))
    else:
        seen.faults.append(BadLine(number))
        seen.goes_on = False


def sentence(fault: Fault) -> str:
    """Say a fault to a person or an agent, without any word of the file but an id."""
    match fault:
        case BadLine(line):
            return (
                f"line {line} is neither blank nor `{HEADING}` (once, first), `- [id] body` or"
                " the continuation of an entry"
            )
        case DuplicateId(line, id_):
            return f"line {line} uses the id {id_} again"
        case TooManyEntries(count):
            return f"{count} entries, of at most {MOST_ENTRIES}"
        case TooManyCharacters(count):
            return f"{count} characters in the bodies, of at most {MOST_CHARACTERS}"
        case Unread(_, detail):
            return detail
        case _:
            assert_never(fault)


def diagnostic(fault: Fault) -> dict[str, object]:
    """Return the machine form of a fault."""
    match fault:
        case BadLine(line):
            return {"code": "bad_line", "line": line}
        case DuplicateId(line, id_):
            return {"code": "duplicate_id", "line": line, "id": id_}
        case TooManyEntries(count):
            return {"code": "too_many_entries", "count": count, "limit": MOST_ENTRIES}
        case TooManyCharacters(count):
            return {"code": "too_many_characters", "count": count, "limit": MOST_CHARACTERS}
        case Unread(code, detail):
            return {"code": code, "detail": detail}
        case _:
            assert_never(fault)


def diagnostics(faults: Sequence[Fault]) -> list[dict[str, object]]:
    """Return the machine forms of a file's faults; the last one says that nothing is injected."""
    found = [diagnostic(fault) for fault in faults]
    return [*found, {"code": "not_injected"}] if found else []
