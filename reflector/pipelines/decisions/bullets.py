"""The three files of a bank as bullets: read, listed, and written back with everything else kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from reflector.core.decision import FILES, FileName, Kind
from reflector.memory import document
from reflector.memory.prose import without_code

MOST_LINES = 120
MOST_CHARS = 12_000
DESCRIPTIONS: Mapping[FileName, str] = {
    "architecture": "Decided for this project: structure, runtime, components, protocols, storage.",
    "product": "Decided for this project: behaviour, interface, defaults, scope, names.",
    "style": "Decided for this project: look, layout, wording and tone.",
}
HOMES: Mapping[Kind, FileName] = {
    Kind.ARCHITECTURE: "architecture",
    Kind.PRODUCT: "product",
    Kind.STYLE: "style",
    Kind.CONSTRAINT: "architecture",
    Kind.REJECTED: "architecture",
    Kind.CORRECTION: "product",
}
"""Where a decision of a kind lies when nobody says otherwise."""

_BULLET = re.compile(r"[-*+][ \t]+(?P<text>\S.*?)[ \t]*\Z")
_SECTION = re.compile(r"##[ \t]+(?P<name>\S.*?)(?:[ \t]+#*)?\Z")


@dataclass(frozen=True, slots=True)
class Bullet:
    """One decision in a file: its section ("" above the first), its lines from 0, `end` excluded."""

    file: FileName
    section: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BankFiles:
    """The bodies of a bank's three files; "" where there is none."""

    architecture: str = ""
    product: str = ""
    style: str = ""

    def body(self, file: FileName) -> str:
        """Return the body of one file."""
        match file:
            case "architecture":
                return self.architecture
            case "product":
                return self.product
            case "style":
                return self.style

    def with_body(self, file: FileName, body: str) -> BankFiles:
        """Return the files with another body of one."""
        match file:
            case "architecture":
                return replace(self, architecture=body)
            case "product":
                return replace(self, product=body)
            case "style":
                return replace(self, style=body)

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """Return every bullet, file by file."""
        return tuple(each for file in FILES for each in bullets(file, self.body(file)))


def path_of(bank: str, file: FileName) -> str:
    """Return the path of a bank's file in the memory."""
    return f"projects/{bank}/{file}.md"


def read_bank(bank: str, read: Callable[[str], bytes | None]) -> BankFiles:
    """Read a bank's files; `read` gives a file's bytes by its path, None when it is not there.

    Raises DocumentError when one cannot be read: then nothing may be written.
    """
    found = BankFiles()
    for file in FILES:
        path = path_of(bank, file)
        if (raw := read(path)) is not None:
            found = found.with_body(file, document.parse(path, raw).body)
    return found


def written(bank: str, read: Callable[[str], bytes | None], after: BankFiles) -> dict[str, bytes]:
    """Return the bytes of every file whose body is to be another; headers stay as they are."""
    changed: dict[str, bytes] = {}
    for file in FILES:
        path, body = path_of(bank, file), after.body(file)
        raw = read(path)
        known = document.new(DESCRIPTIONS[file], "") if raw is None else document.parse(path, raw)
        if body != (known.body if raw is not None else ""):
            changed[path] = document.render(known.with_body(body))
    return changed


def bullets(file: FileName, body: str) -> tuple[Bullet, ...]:
    """Return the bullets of a body. A person's bullet may go over several lines."""
    found: list[Bullet] = []
    section = ""
    lines = body.split("\n")
    for at, prose in enumerate(without_code(body)):
        # What is blank without code is a fence or a line of one; a bullet may begin with a span.
        line = lines[at] if prose.strip() else prose
        if head := _SECTION.match(line):
            section = head["name"]
        elif item := _BULLET.match(line):
            found.append(Bullet(file, section, item["text"], at, at + 1))
        elif found and found[-1].end == at and line[:1] in (" ", "\t") and line.strip():
            last = found[-1]
            found[-1] = replace(last, text=f"{last.text} {line.strip()}", end=at + 1)
    return tuple(found)


def added(file: FileName, body: str, section: str, text: str) -> str:
    """Return a body with a bullet at the end of a section, which is made when it is not there."""
    lines = body.rstrip("\n").split("\n") if body.strip() else [f"# {file.capitalize()}"]
    heads = [at for at, line in enumerate(lines) if _names(line, section)]
    if not heads:
        return "\n".join([*lines, "", f"## {section}", "", f"- {text}"]) + "\n"
    end = next(
        (at for at in range(heads[0] + 1, len(lines)) if lines[at].startswith(("# ", "## "))),
        len(lines),
    )
    last = max(at for at in range(heads[0], end) if lines[at].strip())
    gap = [""] if last == heads[0] else []
    return "\n".join([*lines[: last + 1], *gap, f"- {text}", *lines[last + 1 :]]) + "\n"


def _names(line: str, section: str) -> bool:
    found = _SECTION.match(line)
    return found is not None and found["name"].casefold() == section.casefold()


def replaced(body: str, old: Bullet, text: str) -> str:
    """Return a body with another text in the place of a bullet."""
    lines = body.split("\n")
    return "\n".join([*lines[: old.start], f"- {text}", *lines[old.end :]])


def removed(body: str, old: Bullet) -> str:
    """Return a body without a bullet, and without its section when nothing is left in it."""
    lines = body.split("\n")
    lines[old.start : old.end] = []
    head = next((at for at in range(old.start - 1, -1, -1) if lines[at].strip()), -1)
    after = next((at for at in range(old.start, len(lines)) if lines[at].strip()), len(lines))
    emptied = head >= 0 and _SECTION.match(lines[head])
    if emptied and (after == len(lines) or lines[after].startswith(("# ", "## "))):
        lines[head:after] = []
        body = "\n".join(lines).rstrip("\n")
        return f"{body}\n" if body else ""
    return "\n".join(lines)
