"""The text that a fact keeps besides its statement: copied out of the rows, never written anew."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from reflector.core.redact import redact_record
from reflector.pipelines.experiences.editing import edits
from reflector.pipelines.experiences.rows import Row, arguments, is_call, texts

MOST = 4000
TRUNCATED = "…(truncated)"

_WHOLE = ("content", "contents", "file_text")
_ARTEFACTS = (*_WHOLE, "new_string", "new_str", "patch")
_COMMITTED = re.compile(
    r"^\[(?P<branch>\S+)(?: \(root-commit\))? (?P<commit>[0-9a-f]{7,40})\]", re.MULTILINE
)
_STAGES = re.compile(r"\bgit\s+(?:add|commit)\b")
_ALL = re.compile(r"\bgit\s+(?:add\s+(?:-A|--all|-u|\.)(?=\s|$|[;&\"\\])|commit\s+-\w*a)")


def copied(rows: Sequence[Row], ids: Collection[str]) -> str:
    """Copy the named rows as they were captured, in their order, redacted, cut at the end.

    At most `MOST` code points, the mark of the cut among them; "" when nothing is named. A file
    that was written and then committed is not copied: where it lies is said instead.
    """
    named = frozenset(ids)
    parts = [
        part
        for at, one in enumerate(rows)
        if one.id in named and (part := _committed(one, rows[at + 1 :]) or _captured(one)).strip()
    ]
    # One record: a value under a key in one row is a secret in the others as well.
    redacted, _ = redact_record(parts)
    text = "\n\n".join(each.strip("\r\n") for each in redacted)
    return text if len(text) <= MOST else text[: MOST - len(TRUNCATED)] + TRUNCATED


def _captured(one: Row) -> str:
    """Return what a row shows: what was said or came back, else the longest that was given."""
    if not is_call(one):
        return one.text
    given = _given(one)
    # A tool that writes a file says no more than "done".
    if edits(one):
        return given
    return given if "\n" in given and len(given) > len(one.result or "") else one.result or given


def _given(one: Row) -> str:
    """Return the artefact that a call was given: what is to stand in a file, else its longest text."""
    given = arguments(one) if one.arguments else ""
    if isinstance(given, Mapping):
        for name in _ARTEFACTS:
            if isinstance(text := given.get(name), str):
                return text
    return max(texts(given), key=lambda text: ("\n" in text, len(text)), default="")


def _committed(one: Row, later: Sequence[Row]) -> str:
    """Return commit, path and lines of a file that was written and committed after it, else ""."""
    path = _written(one) if edits(one) else ""
    if not path:
        return ""
    name, added = path.replace("\\", "/").rpartition("/")[2], False
    for row in later:
        if not is_call(row) or not _STAGES.search(row.arguments):
            continue
        added = added or name in row.arguments or _ALL.search(row.arguments) is not None
        if added and (found := _COMMITTED.search(row.result or "")):
            return f"commit {found['commit']}, {path}, lines 1-{len(_given(one).splitlines())}"
    return ""


def _written(one: Row) -> str:
    """Return the path of a file that a call wrote as a whole, "" for any other call."""
    given = arguments(one)
    if not isinstance(given, Mapping) or not any(
        isinstance(given.get(name), str) for name in _WHOLE
    ):
        return ""
    path = next((given[key] for key in ("file_path", "path", "filename") if key in given), "")
    return path if isinstance(path, str) else ""
