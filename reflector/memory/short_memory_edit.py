"""Changes of one entry of a MEMORY.md that keep every other character of the file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from reflector.core.errors import DocumentError, NotFoundError, UsageError
from reflector.memory.short_memory import (
    HEADING,
    MOST_BYTES,
    SPACE,
    Entry,
    Parsed,
    Scope,
    TooManyCharacters,
    TooManyEntries,
    parse,
    render,
    sentence,
)

_LINE_END = re.compile(r"\r\n|\n|\r")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Add:
    """Add an entry at the end."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Put:
    """Change the body of the entry with this id."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Remove:
    """Take the entry with this id out."""

    id: str


Change = Add | Put | Remove


def new_entry(id_: str, body: str) -> Entry:
    """Make an entry out of what somebody typed. Raises UsageError when it would not parse."""
    if not _ID.fullmatch(id_):
        raise UsageError(
            f"{id_[:80]!r} is no id of an entry.",
            hint="Use 1 to 64 ASCII letters, digits, `-` and `_`; first a letter or a digit.",
        )
    lines = _LINE_END.split(body.rstrip(SPACE))
    entry = Entry(id_, "\n".join(line.rstrip(SPACE) for line in lines))
    if parse(render([entry])).entries != (entry,) or not _encodes(body):
        raise UsageError(
            "This text cannot be the body of an entry.",
            hint="A body starts with a character that is no space, and has no blank line, no "
            "U+2028 or U+2029 and nothing that is not UTF-8.",
        )
    return entry


def edited(text: str, change: Change, path: str, scope: Scope) -> str:
    """Return the text of the file after a change.

    Raises DocumentError when the file is faulty already or would be afterwards, NotFoundError when
    no entry has the id, UsageError when one has that shall be added.
    """
    before = parse(text)
    _refuse_faulty(before, path)
    match change:
        case Add(entry):
            after, expected = _added(text, before, entry, path, scope)
        case Put(entry):
            place = _place(before, entry.id, path)
            start, end = before.spans[place]
            after = text[:start] + _written(entry, _line_end(text)) + text[end:]
            expected = (*before.entries[:place], entry, *before.entries[place + 1 :])
        case Remove(id_):
            place = _place(before, id_, path)
            start, end = before.spans[place]
            line_end = _LINE_END.match(text, end)
            after = text[:start] + text[line_end.end() if line_end else end :]
            expected = (*before.entries[:place], *before.entries[place + 1 :])
        case _:
            assert_never(change)
    _refuse_damage(after, expected, path)
    return after


def _added(
    text: str, before: Parsed, entry: Entry, path: str, scope: Scope
) -> tuple[str, tuple[Entry, ...]]:
    if any(each.id == entry.id for each in before.entries):
        raise UsageError(
            f"{path} has an entry {entry.id} already.",
            hint=f"`reflector short-memory set --scope {scope} {entry.id} TEXT` changes it.",
            path=path,
        )
    line_end = _line_end(text)
    if not text:
        head = f"{HEADING}\n\n"
    else:
        head = "" if text.endswith(("\n", "\r")) or text == "\ufeff" else line_end
    return text + head + _written(entry, line_end) + line_end, (*before.entries, entry)


def _refuse_faulty(before: Parsed, path: str) -> None:
    if before.faults:
        raise DocumentError(
            f"{path} is faulty and is not edited: {sentence(before.faults[0])}.",
            hint="`reflector short-memory check` shows every fault; correct them in an editor.",
            path=path,
        )


def _place(before: Parsed, id_: str, path: str) -> int:
    for place, entry in enumerate(before.entries):
        if entry.id == id_:
            return place
    raise NotFoundError(
        f"{path} has no entry {id_[:80]!r}.",
        hint="The ids stand in the file; `--scope` chooses the user or the project file.",
        path=path,
    )


def _refuse_damage(after: str, expected: tuple[Entry, ...], path: str) -> None:
    """Parse what would be written: a file that nobody can read again is never saved."""
    found = parse(after)
    if any(isinstance(fault, TooManyEntries | TooManyCharacters) for fault in found.faults):
        raise DocumentError(
            f"{path} is full: the change would make {sentence(found.faults[0])}.",
            hint="Merge entries, shorten them or remove what no longer holds, then try again.",
            path=path,
        )
    if found.faults or found.entries != expected or len(after.encode()) > MOST_BYTES:
        raise DocumentError(
            f"{path} would not be readable after this change; nothing was written.",
            hint="Edit the file by hand, and see `reflector short-memory check`.",
            path=path,
        )


def _line_end(text: str) -> str:
    """Return how this file ends its lines: like its first one."""
    first = _LINE_END.search(text)
    return first.group() if first else "\n"


def _written(entry: Entry, line_end: str) -> str:
    return render([entry]).replace("\n", line_end)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
