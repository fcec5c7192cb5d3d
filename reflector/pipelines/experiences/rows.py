"""The rows of a conversation that an extraction reads, and who said what in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflector.core.entry import Entry, Kind


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the journal. `kind` is one of `Kind`, `result` None when none ever came."""

    id: str
    kind: str
    text: str = ""
    tool: str = ""
    arguments: str = ""
    result: str | None = None


def row(entry: Entry) -> Row:
    """Return an entry as a row."""
    return Row(entry.id, entry.kind.value, entry.text, entry.tool, entry.arguments, entry.result)


def is_call(one: Row) -> bool:
    """Tell whether a row is a tool's call and what came of it."""
    return one.kind == Kind.TOOL_CALL


def spoken(rows: Iterable[Row]) -> list[Row]:
    """Return what the user said; blank rows say nothing."""
    return [one for one in rows if one.kind == Kind.USER and one.text.strip()]


def arguments(one: Row) -> object:
    """Return the arguments of a call as the value that their JSON holds; else as their text."""
    try:
        return json.loads(one.arguments)
    except (ValueError, RecursionError):
        return one.arguments


def texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, numbers as they are written, names of fields as well."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case bool() | None:
                continue
            case int() | float() as number:
                yield repr(number)
            case Mapping() as fields:
                waiting += [*reversed(list(fields.values())), *reversed(list(fields))]
            case list() as items:
                waiting += reversed(items)
            case _:
                continue


def contents(one: Row) -> list[str]:
    """Return everything that a row shows, as text: what was said, given to a tool, given back."""
    said = list(texts(arguments(one))) if one.arguments else []
    return [each for each in (one.text, one.tool, *said, one.result or "") if each]


def ids(rows: Sequence[Row]) -> frozenset[str]:
    """Return the ids that an answer may name."""
    return frozenset(one.id for one in rows)
