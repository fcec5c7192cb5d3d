"""Rule 13: a line that a person took back comes again only if a person says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reflector.core.errors import DocumentError
from reflector.core.redact import redact
from reflector.memory.codes import finding
from reflector.memory.document import parse
from reflector.memory.edit import Edit, lines
from reflector.memory.finding import Finding
from reflector.memory.prose import without_code
from reflector.memory.tree import is_document


def undone_lines(edit: Edit) -> Iterator[Finding]:
    """Find added lines that a person undid or rejected; a line that only moves is not added."""
    unwanted = edit.scope.unwanted
    if not edit.by_run or not unwanted:
        return
    moved = Counter(
        folded(line) for change in edit.changes for line in edit.removed(change).elements()
    )
    for change in edit.changes:
        for number, line in edit.added(change):
            plain = folded(line)
            if moved[plain]:
                moved[plain] -= 1
            elif plain in unwanted:
                yield finding("undone_before", change.path, number)


def added_prose(edit: Edit) -> dict[str, tuple[str, ...]]:
    """Return by path what a change says that was not said there before, folded and redacted.

    Only what documents say: no headers, headings, comments or fenced code.
    """
    found: dict[str, tuple[str, ...]] = {}
    for change in edit.changes:
        if not is_document(change.path):
            continue
        new = Counter(_prose(edit.new(change))) - Counter(_prose(edit.old(change)))
        if new:
            found[change.path] = tuple(redact(line).text for line in new)
    return found


def folded(line: str) -> str:
    """Return a line as it is compared: trimmed, and each run of white space one space."""
    return " ".join(line.split())


def _prose(raw: bytes) -> Iterator[str]:
    try:
        body = parse("", raw).body
    except DocumentError:
        body = "\n".join(lines(raw))
    # A line of fenced code is empty there; one that is a code span keeps its bullet.
    for line, outside in zip(body.split("\n"), without_code(body), strict=True):
        plain = folded(line)
        if outside.strip() and not plain.startswith(("#", "<!--")) and _says_something(plain):
            yield plain


def _says_something(line: str) -> bool:
    return any(char.isalnum() for char in line)
