"""The decisions of a project as a section of the block: three files in their order, bullet by bullet."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.redact import redact_record
from reflector.memory.entries import Entry, Part, plain
from reflector.memory.view import MemoryView, Shown

NAME = "decisions"
PREFACE = "Project decisions: follow them unless the user overrides one now."


def decided(view: MemoryView) -> Part:
    """Return the section of the bank that the view is for; without bullets a file is not shown."""
    shown = [entry for one in view.decisions if (entry := _file(one)).body]
    return Part(NAME, shown, len(shown), preface=(PREFACE,))


def _file(one: Shown) -> Entry:
    # The same record for both: a secret in one of them is taken out of the other as well.
    (path, body), _ = redact_record((one.path, one.body))
    head = ("<document>", f"<projection>{plain(path)}</projection>")
    lines = tuple(map(plain, _lines(body)))
    bullets = any(not line.startswith("#") for line in lines)
    return Entry(one.path, head, lines if bullets else (), ("</document>",), by_line=True)


def _lines(body: str) -> Iterator[str]:
    """Yield what says something: sections, and each bullet on one line, whatever its length."""
    waiting = ""
    for line in body.split("\n"):
        if line[:1] in (" ", "\t") and line.strip() and waiting.startswith(("-", "*", "+")):
            waiting = f"{waiting} {line.strip()}"
            continue
        if waiting:
            yield waiting
        # The file's own title repeats its name.
        waiting = "" if line.startswith("# ") else line.strip()
    if waiting:
        yield waiting
