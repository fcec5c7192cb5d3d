"""One memory file: its YAML header and its body, parsed and rendered without loss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from reflector.core.errors import DocumentError
from reflector.memory.prose import without_code

MAX_DESCRIPTION = 1024

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
_FENCED = re.compile(r"---[ \t]*\n(.*?)(?:(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_LOOKS_PROTECTED = re.compile(
    r"^[ \t]*[\"']?read_only[\"']?[ \t]*:[ \t]*[\"']?(?:true|yes|on)\b",
    re.MULTILINE | re.IGNORECASE,
)
_LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


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


@dataclass(frozen=True, slots=True)
class Link:
    """A `[[path]]` in a body. `line` is 1-based within the body."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file. `header` is its text with both `---` lines, exactly as it was read."""

    description: str
    read_only: bool
    header: str
    body: str
    fields: Mapping[str, Field] = field(compare=False, repr=False)

    def value(self, key: str) -> object | None:
        """Return what YAML reads under a key of the header, None when it is not there."""
        found = self.fields.get(key)
        return None if found is None else found.value

    def with_body(self, body: str) -> Document:
        """Return the document with another body."""
        header = self.header if self.header.endswith("\n") else self.header + "\n"
        return replace(self, header=header, body=body.replace("\r\n", "\n"))

    def with_description(self, text: str) -> Document:
        """Return the document with another description and the rest of the header untouched.

        Raises DocumentError when the text is no valid description.
        """
        old = self.fields["description"]
        tail = re.search(r"\s*\Z", self.header[old.start : old.end])
        ending = tail.group() if tail else ""
        wanted = {key: one.value for key, one in self.fields.items()} | {"description": text}
        for style in (None, '"'):  # plain text that is fine alone can break a flow mapping
            header = (
                self.header[: old.start] + _scalar(text, style) + ending + self.header[old.end :]
            )
            try:
                return _reread(header, self.body, wanted)
            except DocumentError as error:
                if str(error.facts["code"]).startswith("description"):
                    raise
        raise _broken("", 1, "header_unwritable", "The header cannot hold this description.")


def parse(path: str, raw: bytes) -> Document:
    """Read a file's bytes.

    Raises DocumentError with the facts `path`, `line` (1-based) and `code`; the bytes stay as they
    are, and no second header is ever put on top of one that cannot be read.
    """
    text = decode(path, raw).removeprefix("\ufeff").replace("\r\n", "\n")
    if not re.match(r"---[ \t]*(?:\n|\Z)", text):
        raise _broken(path, 1, "header_missing", "The file does not begin with a '---' header.")
    found = _FENCED.match(text)
    if found is None:
        raise _broken(path, 1, "header_unclosed", "The header has no closing '---' line.")
    header = found.group()
    fields = _fields(path, found.group(1), offset=found.start(1))
    description = _description(path, fields)
    return Document(description, _read_only(path, fields), header, text[found.end() :], fields)


def render(document: Document) -> bytes:
    """Write a document as UTF-8 with LF line ends."""
    return _encode(document.header + document.body)


def new(description: str, body: str, **extra: object) -> Document:
    """Make a document; `extra` are further keys of its header, in the order given.

    Raises DocumentError when YAML would not give the same values back.
    """
    values = {"description": description} | {
        key: list(value) if isinstance(value, tuple) else value for key, value in extra.items()
    }
    return _reread(f"---\n{_dump(values)}---\n", body.replace("\r\n", "\n"), values)


def links(body: str) -> tuple[Link, ...]:
    """Return the `[[path]]` and `[[path|label]]` links of a body, outside code, in order."""
    return tuple(
        Link(path, number)
        for number, line in enumerate(without_code(body), start=1)
        for match in _LINK.finditer(line)
        if (path := match.group(1).partition("#")[0].strip())
    )


def decode(path: str, raw: bytes) -> str:
    """Read bytes as strict UTF-8, or raise DocumentError naming the encoding that was found."""
    for mark, name in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            raise _broken(path, 1, "not_utf8", f"The file is {name} text; save it as UTF-8.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = "UTF-16 text or binary" if b"\0" in raw else "binary or in an 8-bit encoding"
        said = f"The file is not UTF-8 (byte {error.start}; it looks {guess})."
        raise _broken(path, line, "not_utf8", said) from error


def protects(raw: bytes) -> bool:
    """Say whether a file's header protects it; one that cannot be read protects if it seems to."""
    try:
        return parse("", raw).read_only
    except DocumentError:
        head = raw.decode(errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")
        return head.startswith("---") and bool(_LOOKS_PROTECTED.search(head.split("\n---", 1)[0]))


def _fields(path: str, header: str, offset: int) -> dict[str, Field]:
    """Read a header as a strict mapping: unique text keys, no anchors, tags or second document."""
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
        return _broken(self.path, _start(event).line + 2, code, sentence)


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


def _description(path: str, fields: Mapping[str, Field]) -> str:
    found = fields.get("description")
    if found is None:
        raise _broken(path, 1, "description_missing", "The header has no 'description'.")
    text = found.value
    if text is None or (isinstance(text, str) and not text.strip()):
        raise _broken(path, found.line, "description_empty", "The description is empty.")
    if not isinstance(text, str):
        said = f"The description is {found.kind}, not text; put it in quotes."
        raise _broken(path, found.line, "description_not_text", said)
    if _LINE_ENDS.search(text):
        raise _broken(path, found.line, "description_lines", "The description is not one line.")
    if len(text) > MAX_DESCRIPTION:
        said = f"The description has {len(text)} characters, more than {MAX_DESCRIPTION}."
        raise _broken(path, found.line, "description_too_long", said)
    return text


def _read_only(path: str, fields: Mapping[str, Field]) -> bool:
    found = fields.get("read_only")
    if found is None:
        return False
    word = found.value.lower() if isinstance(found.value, str) else found.value
    # A bare `true` is a boolean where text is expected: it still protects, and lint says so.
    if word is True or word == "true":
        return True
    if word is False or word in ("false", "", None):
        return False
    said = '\'read_only\' is neither "true" nor "false".'
    raise _broken(path, found.line, "read_only_value", said)


class _Dumper(yaml.SafeDumper):
    """Writes a value that occurs twice twice: our own headers hold no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _dump(value: object, style: str | None = None) -> str:
    try:
        return yaml.dump(
            value,
            Dumper=_Dumper,
            default_style=style,
            default_flow_style=False,
            allow_unicode=True,
            sort_keys=False,
            width=1 << 30,
        )
    except yaml.YAMLError as error:
        raise _broken("", 1, "header_unwritable", "YAML cannot write this header.") from error


def _scalar(text: str, style: str | None) -> str:
    return _dump(text, style).removesuffix("...\n").removesuffix("\n")


def _reread(header: str, body: str, wanted: Mapping[str, object]) -> Document:
    """Read a header that we wrote; refuse it when it does not say what we meant."""
    document = replace(parse("", _encode(header)), body=body)
    if {key: one.value for key, one in document.fields.items()} != wanted:
        raise _broken("", 1, "header_unwritable", "YAML does not read back what was written.")
    return document


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _broken("", 1, "not_utf8", "The text holds characters that UTF-8 cannot.") from error


def _not_yaml(path: str, line: int, problem: str) -> DocumentError:
    # A parser's words can quote the file, and a file can hold a secret.
    shown = re.sub(r"'[^']*'", "…", problem).strip()
    why = f" ({shown})" if shown else ""
    return _broken(path, line, "header_not_yaml", f"The header is not valid YAML{why}.")


def _broken(path: str, line: int, code: str, sentence: str) -> DocumentError:
    where = f"{path}:{line}: " if path else ""
    return DocumentError(where + sentence, path=path, line=line, code=code, sentence=sentence)
