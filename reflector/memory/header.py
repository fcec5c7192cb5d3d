"""A document's header, read as strict YAML: unique text keys, no anchors, tags or second document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from reflector.core.errors import DocumentError

_MAX_DEPTH = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Any = yaml.resolver.Resolver()
_TYPED = {
    f"tag:yaml.org,2002:{name}": shown
    for name, shown in {
        "bool": "a boolean",
        "int": "a number",
        "float": "a number",
        "null": "empty",
        "timestamp": "a date",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a header.

    `kind` says what the value is ("text", "a date", …), `source` is the text of key and value,
    `start` and `end` bound the value in the header, `line` is the key's line in the file.
    """

    value: object
    kind: str
    source: str
    start: int
    end: int
    line: int


def fields_of(path: str, header: str, offset: int) -> dict[str, Field]:
    """Read a header; its first character is number `offset` of the file. Raises DocumentError."""
    events = _Events(path, yaml.parse(header, Loader=_LOADER))
    try:
        return dict(_top_level(events, header, offset))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.index >= len(header):  # what never ends is wrong where it begins
            mark = error.context_mark or mark
        raise _not_yaml(path, mark.line + 2 if mark else 1, error.problem or "") from error
    except yaml.reader.ReaderError as error:
        before = header.encode()[: error.position]
        raise _not_yaml(path, before.count(b"\n") + 2, "a character it may not hold") from error


class _Events:
    """The parse events of one header, and the path that errors name."""

    def __init__(self, path: str, events: Iterator[yaml.Event]) -> None:
        self.path = path
        self.events = events
        self.last = yaml.Event()
        self.depth = 0

    def next(self) -> yaml.Event:
        self.last = next(self.events)
        self.depth += isinstance(self.last, yaml.CollectionStartEvent)
        self.depth -= isinstance(self.last, yaml.CollectionEndEvent)
        if self.depth > _MAX_DEPTH:
            raise self.refuse(self.last, "header_not_plain", "The header is nested too deeply.")
        return self.last

    def refuse(self, event: yaml.Event, code: str, sentence: str) -> DocumentError:
        return broken(self.path, _start(event).line + 2, code, sentence)


def _start(event: yaml.Event) -> Any:
    return event.start_mark  # the stubs allow None, which no parser gives


def _end(event: yaml.Event) -> Any:
    return event.end_mark


def _top_level(events: _Events, header: str, offset: int) -> Iterator[tuple[str, Field]]:
    events.next()
    if isinstance(events.next(), yaml.StreamEndEvent):
        return
    opening = events.next()
    if not isinstance(opening, yaml.MappingStartEvent):
        raise events.refuse(opening, "header_not_mapping", "The header is no list of 'key: value'.")
    _plain(events, opening)
    for event, key in _keys(events):
        first = events.next()
        value, kind = _value(events, first)
        begin, start, end = _start(event).index, _start(first).index, _end(events.last).index
        source = header[begin:end].rstrip()
        line = _start(event).line + 2
        yield key, Field(value, kind, source, start + offset, end + offset, line)
    events.next()
    following = events.next()
    if not isinstance(following, yaml.StreamEndEvent):
        raise events.refuse(following, "header_not_mapping", "The header holds a second document.")


def _keys(events: _Events) -> Iterator[tuple[yaml.Event, str]]:
    """Yield the keys of the mapping that was just entered; the consumer reads each value."""
    seen: set[str] = set()
    while not isinstance(event := events.next(), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise events.refuse(event, "header_key", "A key of the header is not text.")
        _plain(events, event)
        if event.value == "<<" and event.implicit[0]:  # it would take in another mapping's keys
            raise events.refuse(event, "header_not_plain", "The header uses YAML merge keys.")
        if event.value in seen:
            raise events.refuse(event, "header_duplicate_key", "A key occurs twice in the header.")
        seen.add(event.value)
        yield event, event.value


def _value(events: _Events, event: yaml.Event) -> tuple[object, str]:
    """Return the value that begins with an event, and what kind it is."""
    _plain(events, event)
    if isinstance(event, yaml.MappingStartEvent):
        return {key: _value(events, events.next())[0] for _, key in _keys(events)}, "a map"
    if isinstance(event, yaml.SequenceStartEvent):
        values: list[object] = []
        while not isinstance(item := events.next(), yaml.SequenceEndEvent):
            values.append(_value(events, item)[0])
        return values, "a list"
    return _typed(events, event)


def _typed(events: _Events, event: yaml.Event) -> tuple[object, str]:
    if not isinstance(event, yaml.ScalarEvent):
        raise events.refuse(event, "header_not_yaml", "The header cannot be read.")
    tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)
    if tag not in _TYPED:
        return event.value, "text"
    try:
        node = yaml.ScalarNode(tag, event.value)
        return yaml.constructor.SafeConstructor().construct_object(node), _TYPED[tag]
    except (ValueError, OverflowError) as error:  # `2026-02-30`, a number of 5000 digits
        said = f"A value that looks like {_TYPED[tag]} is none; put it in quotes."
        raise events.refuse(event, "header_value", said) from error


def _plain(events: _Events, event: yaml.Event) -> None:
    """Refuse what makes the meaning of a header depend on more than what stands there."""
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise events.refuse(event, "header_not_plain", "The header uses YAML anchors.")
    if getattr(event, "tag", None):
        raise events.refuse(event, "header_not_plain", "The header uses YAML tags.")


def _not_yaml(path: str, line: int, problem: str) -> DocumentError:
    # A parser's words can quote the file, and a file can hold a secret.
    shown = re.sub(r"'[^']*'", "…", problem).strip()
    why = f" ({shown})" if shown else ""
    return broken(path, line, "header_not_yaml", f"The header is not valid YAML{why}.")


def broken(path: str, line: int, code: str, sentence: str) -> DocumentError:
    """Return the error that names what is wrong with a file, and where."""
    where = f"{path}:{line}: " if path else ""
    return DocumentError(where + sentence, path=path, line=line, code=code, sentence=sentence)
