"""Rule 4: every document has a header that reads back, and a protected one stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding, shown
from reflector.memory.document import Document, parse, protects
from reflector.memory.edit import MAX_FILE, Edit
from reflector.memory.finding import Finding
from reflector.memory.tree import ARCHIVE, Change, companion, is_document

# The keys that the product itself writes; all others are somebody else's.
_SHARED = frozenset({"description", "read_only", "name", "version", "deprecated", "replaced_by"})
_LEARNED = frozenset(
    {"confidence", "boundary_envs", "project", "branch", "status", "supersedes", "superseded_by"}
    | {"evidence", "created", "updated", "search_keys", "subject", "files", "source", "verified"}
)
OUR_KEYS = _SHARED | _LEARNED


def headers(edit: Edit) -> Iterator[Finding]:
    """Parse every changed document."""
    for change in edit.changes:
        if _judged(edit, change):
            yield from _header(edit, change)


def protected(edit: Edit) -> Iterator[Finding]:
    """Keep read-only documents as they are: a run may not change, rename or delete them."""
    for change in edit.changes if edit.by_run else ():
        before = change.before
        if before is None or edit.before is None or not change.path.endswith(".md"):
            continue
        if before.regular and protects(edit.before.reader.content(before.oid)):
            code = "read_only_changed" if change.after else "read_only_removed"
            yield finding(code, change.path)


def _judged(edit: Edit, change: Change) -> bool:
    """Whether there is a document to parse; rule 3 refuses links and what is too large."""
    after = change.after
    if after is None or not after.regular or not is_document(change.path):
        return False
    return edit.after.reader.size(after.oid) <= MAX_FILE


def _header(edit: Edit, change: Change) -> Iterator[Finding]:
    raw = edit.new(change)
    try:
        document = parse(change.path, raw)
    except DocumentError as error:
        yield from _broken(change.path, error)
        return
    read_only = document.fields.get("read_only")
    if read_only and read_only.kind != "text":
        yield finding("read_only_not_text", change.path, read_only.line)
    if _is_skill(change.path) and not _one_line(document.value("name")):
        yield finding("name_missing", change.path, 1)
    if edit.by_run:
        yield from _unknown_keys(change.path, edit.old(change), document)


def _broken(path: str, error: DocumentError) -> Iterator[Finding]:
    code = str(error.facts["code"])
    if code == "not_utf8":  # rule 3 has said so
        return
    if code == "header_missing" and path == ARCHIVE:  # a list of lines, readable without
        return
    yield finding(code, path, int(str(error.facts["line"])), sentence=error.facts["sentence"])


def _unknown_keys(path: str, raw: bytes, after: Document) -> Iterator[Finding]:
    try:
        before = parse(path, raw)
    except DocumentError:  # nothing that could be kept, or a header that this change mends
        return
    for key, was in before.fields.items():
        now = after.fields.get(key)
        if key not in OUR_KEYS and (now is None or now.source != was.source):
            yield finding("unknown_key_changed", path, now.line if now else 1, key=shown(key))


def _is_skill(path: str) -> bool:
    return path.endswith("/SKILL.md") and path.startswith("skills/") and not companion(path)


def _one_line(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value
