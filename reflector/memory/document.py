"""One memory file: its YAML header and its body, parsed and rendered without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from reflector.core.errors import DocumentError
from reflector.memory.header import Field, broken, fields_of
from reflector.memory.prose import without_code

MAX_DESCRIPTION = 1024

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
        raise broken("", 1, "header_unwritable", "The header cannot hold this description.")


def parse(path: str, raw: bytes) -> Document:
    """Read a file's bytes.

    Raises DocumentError with the facts `path`, `line` (1-based) and `code`; the bytes stay as they
    are, and no second header is ever put on top of one that cannot be read.
    """
    text = decode(path, raw).removeprefix("\ufeff").replace("\r\n", "\n")
    if not re.match(r"---[ \t]*(?:\n|\Z)", text):
        raise broken(path, 1, "header_missing", "The file does not begin with a '---' header.")
    found = _FENCED.match(text)
    if found is None:
        raise broken(path, 1, "header_unclosed", "The header has no closing '---' line.")
    header = found.group()
    fields = fields_of(path, found.group(1), offset=found.start(1))
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
            raise broken(path, 1, "not_utf8", f"The file is {name} text; save it as UTF-8.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = "UTF-16 text or binary" if b"\0" in raw else "binary or in an 8-bit encoding"
        said = f"The file is not UTF-8 (byte {error.start}; it looks {guess})."
        raise broken(path, line, "not_utf8", said) from error


def protects(raw: bytes) -> bool:
    """Say whether a file's header protects it; one that cannot be read protects if it seems to."""
    try:
        return parse("", raw).read_only
    except DocumentError:
        head = raw.decode(errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")
        return head.startswith("---") and bool(_LOOKS_PROTECTED.search(head.split("\n---", 1)[0]))


def _description(path: str, fields: Mapping[str, Field]) -> str:
    found = fields.get("description")
    if found is None:
        raise broken(path, 1, "description_missing", "The header has no 'description'.")
    text = found.value
    if text is None or (isinstance(text, str) and not text.strip()):
        raise broken(path, found.line, "description_empty", "The description is empty.")
    if not isinstance(text, str):
        said = f"The description is {found.kind}, not text; put it in quotes."
        raise broken(path, found.line, "description_not_text", said)
    if _LINE_ENDS.search(text):
        raise broken(path, found.line, "description_lines", "The description is not one line.")
    if len(text) > MAX_DESCRIPTION:
        said = f"The description has {len(text)} characters, more than {MAX_DESCRIPTION}."
        raise broken(path, found.line, "description_too_long", said)
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
    raise broken(path, found.line, "read_only_value", said)


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
        raise broken("", 1, "header_unwritable", "YAML cannot write this header.") from error


def _scalar(text: str, style: str | None) -> str:
    return _dump(text, style).removesuffix("...\n").removesuffix("\n")


def _reread(header: str, body: str, wanted: Mapping[str, object]) -> Document:
    """Read a header that we wrote; refuse it when it does not say what we meant."""
    document = replace(parse("", _encode(header)), body=body)
    if {key: one.value for key, one in document.fields.items()} != wanted:
        raise broken("", 1, "header_unwritable", "YAML does not read back what was written.")
    return document


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise broken("", 1, "not_utf8", "The text holds characters that UTF-8 cannot.") from error
