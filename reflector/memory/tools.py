"""The memory tools: one call on the documents of a tree, answered by new contents or a clear error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher, get_close_matches

from reflector.core.errors import DocumentError, NotFoundError, PathError
from reflector.core.redact import redact
from reflector.memory.document import Document, decode, new, parse, protects, render
from reflector.memory.kept_rules import BOUNDARIES
from reflector.memory.tree import ARCHIVE, Tree, companion, is_document, parse_path

Contents = dict[str, bytes | None]

_NEAREST = 3
_LONGEST_SHOWN = 120
_LONGEST_COMPARED = 400
_BY_HAND = "Nothing was changed. Mend the header with an editor, then `reflector memory commit`."
_CODE = re.compile("`[^`]*`")
_SCAFFOLDING = re.compile(
    r"</?(?:[a-z]{1,20}:)?(?:parameter|invoke|function_calls?|tool_calls?|tool_use|arguments)\b(?:[^>]*>|\s+\w+\s*=)"
    r"|</(?:description|reason|path|file_text|old_str|new_str)>"
    r"|<\|[a-z_]{1,40}\|>|\[/?TOOL_CALLS?\]"
    r"|\"(?:description|reason|path|file_text|old_str|new_str)\"\s*:",
    re.IGNORECASE,
)


def place(text: str) -> str:
    """Return the path that a call means: relative, inside the memory, `.md` added if missing.

    Raises PathError.
    """
    try:
        path = parse_path(text)
    except PathError as error:
        raise PathError(
            error.message,
            hint="Name a file below the memory, like reference/name.md.",
            **error.facts,
        ) from error
    return path if path.endswith(".md") or companion(path) else parse_path(path + ".md")


def create(tree: Tree, path: str, text: str, description: str = "") -> Contents:
    """Make a file. A text without a header gets one with the description."""
    path = place(path)
    if tree.holds(path):
        raise _bad(
            path, "path_taken", "There is something already.", "Change that, or take another name."
        )
    text = _ended(text)
    if not is_document(path):
        return {path: encoded(path, text)}
    if text.startswith("---\n"):
        if description:
            said = "The text has a header, so a description beside it has no place."
            raise _bad(path, "two_descriptions", said, "Give one of the two.")
        return {path: checked(path, text)}
    if path == ARCHIVE and not description:
        return {path: encoded(path, text)}
    if not description.strip():
        said = "A document needs a description: one line on what it is about."
        raise _bad(
            path,
            "description_missing",
            said,
            "Give it beside the text, as `description` (--description).",
        )
    extra = {"name": path.split("/")[-2]} if path.endswith("/SKILL.md") else {}
    return {path: render(new(_plain(path, description), text, **extra))}


def str_replace(tree: Tree, path: str, old: str, new_text: str) -> Contents:
    """Replace the one place of a file that reads `old`."""
    path = place(path)
    text, old = source(tree, path), _lf(old)
    if not old:
        raise _bad(path, "no_match", "Nothing to look for was given.", "Say what to replace.")
    starts = _places(text, old)
    if len(starts) != 1:
        raise no_single_match(path, text, old, starts)
    after = text[: starts[0]] + _lf(new_text) + text[starts[0] + len(old) :]
    return {path: checked(path, after)}


def insert(tree: Tree, path: str, text: str, after: int | None = None) -> Contents:
    """Insert lines after a line of the file (1-based); 0 is the top of the body, None the end."""
    path = place(path)
    was = source(tree, path)
    lines = _ended(was).splitlines(keepends=False) if not was else _ended(was)[:-1].split("\n")
    top = _header_lines(path, was)
    at = len(lines) if after is None else after or top
    if not top <= at <= len(lines):
        said = f"Line {after} is not in the body, which begins after line {top} of {len(lines)}."
        raise _bad(path, "no_such_line", said, "`reflector memory cat` shows the lines.")
    lines[at:at] = _ended(text)[:-1].split("\n")
    return {path: checked(path, "\n".join(lines) + "\n")}


def delete(tree: Tree, path: str) -> Contents:
    """Delete a file, or everything below a folder unless a protected file is among it."""
    return dict.fromkeys(_meant(tree, path))


def rename(tree: Tree, old: str, to: str) -> Contents:
    """Rename a file or a folder. Links are left as they are; the lint warns of them."""
    meant = _meant(tree, old)
    folder = old.rstrip("/") if meant != [place(old.rstrip("/"))] else ""
    if folder:
        moves = {path: parse_path(to.rstrip("/") + path.removeprefix(folder)) for path in meant}
    else:
        moves = {meant[0]: place(to)}
    for target in moves.values():
        if tree.holds(target):
            raise _bad(target, "path_taken", "There is something already.", "Take another name.")
    contents: Contents = {}
    for path, target in moves.items():
        contents[path], contents[target] = None, _raw(tree, path)
    return contents


def update_description(tree: Tree, path: str, text: str) -> Contents:
    """Change what a document says it is about; nothing else of it changes."""
    path = place(path)
    document = _parsed(path, _raw(tree, path), _BY_HAND)
    return {path: render(document.with_description(_plain(path, text)))}


def source(tree: Tree, path: str) -> str:
    """Return a file's text with LF line ends.

    Raises DocumentError with file and line for a document whose header cannot be read: a person
    mends it, no tool does.
    """
    raw = _raw(tree, path)
    if not _has_header(path, raw):
        return _lf(decode(path, raw).removeprefix("\ufeff"))
    document = _parsed(path, raw, _BY_HAND)
    return document.header + document.body


def no_single_match(path: str, text: str, wanted: str, starts: list[int]) -> DocumentError:
    """Say how often a text was found, and where, or what comes nearest."""
    if starts:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts[:10])
        said = f"The text is there {len(starts)} times (lines {lines})."
        return _bad(path, "many_matches", said, "Give more of what stands around it.")
    near = "; ".join(_nearest(text, wanted))
    said = "The text is not there." + (f" Nearest: {near}" if near else "")
    return _bad(path, "no_match", said, "Copy it exactly, spaces and line ends too.")


def checked(path: str, text: str) -> bytes:
    """Write a changed file; raise DocumentError with file and line when it does not read back."""
    raw = encoded(path, text)
    if _has_header(path, raw):
        _parsed(path, raw, "Nothing was changed. Give a header that YAML can read.")
    return raw


def _parsed(path: str, raw: bytes, hint: str) -> Document:
    try:
        return parse(path, raw)
    except DocumentError as error:
        raise DocumentError(error.message, hint=hint, **error.facts) from error


def _has_header(path: str, raw: bytes) -> bool:
    if not is_document(path):
        return False
    return path != ARCHIVE or raw.removeprefix(b"\xef\xbb\xbf").startswith(b"---")


def _header_lines(path: str, text: str) -> int:
    raw = encoded(path, text)
    return _ended(parse(path, raw).header).count("\n") if _has_header(path, raw) else 0


def _raw(tree: Tree, path: str) -> bytes:
    raw = tree.read(path)
    if raw is None:
        why = "is no regular file" if tree.find(path) else "is not in the memory"
        raise NotFoundError(f"{path} {why}.", hint="`reflector memory ls` lists it.", path=path)
    return raw


def _meant(tree: Tree, text: str) -> list[str]:
    """Return the files that a path of a file or a folder means."""
    name = text.rstrip("/")
    path, inside = place(name), _below(tree, name)
    there = tree.find(path) is not None and not text.endswith("/")
    if there and inside:
        raise _bad(name, "ambiguous", f"There are {path} and {name}/.", "Write the one you mean.")
    if there:
        return [path]
    if not inside:
        raise NotFoundError(
            f"{name} is not in the memory.", hint="`reflector memory ls` lists it.", path=name
        )
    kept = [one for one in inside if one == BOUNDARIES or protects(tree.read(one) or b"")]
    if kept:
        said = f"{kept[0]} below it is protected, so nothing was changed."
        raise _bad(name, "read_only_removed", said, "Name the other files one by one.")
    return inside


def _below(tree: Tree, folder: str) -> list[str]:
    if not tree.paths_beside(folder + "/"):
        return []
    return sorted(leaf.path for leaf in tree.leaves() if leaf.path.startswith(folder + "/"))


def _plain(path: str, description: str) -> str:
    """Return a description; raise DocumentError when more of a tool call got into it."""
    found = _SCAFFOLDING.search(_CODE.sub(lambda code: "x" * len(code.group()), description))
    if found is None:
        return description.strip()
    before = description[: found.start()].strip()
    again = f' Probably: "{before}"' if before else ""
    raise _bad(
        path,
        "description_scaffolding",
        f"The description holds markup of a tool call ({found.group()[:40]}).",
        f"Resend the call with the plain sentence alone as the description.{again}",
    )


def _places(text: str, wanted: str) -> list[int]:
    """Return where a text occurs, overlapping ones too: each could be the one that was meant."""
    starts, at = [], text.find(wanted)
    while at >= 0:
        starts.append(at)
        at = text.find(wanted, at + 1)
    return starts


def _nearest(text: str, wanted: str) -> Iterator[str]:
    """Yield the lines that are most like the first line that was looked for."""
    first = next((line for line in wanted.split("\n") if line.strip()), "")[:_LONGEST_COMPARED]
    lines = [line[:_LONGEST_COMPARED] for line in text.split("\n")]
    close = get_close_matches(first, {line for line in lines if line.strip()}, _NEAREST, 0.5)
    if not close:
        return
    # Redacted as a whole, in case the memory holds what an older rule let pass.
    for line in sorted(close, key=lambda one: -SequenceMatcher(None, first, one).ratio()):
        yield f"line {lines.index(line) + 1}: {redact(line[:_LONGEST_SHOWN]).text}"


def _ended(text: str) -> str:
    text = _lf(text)
    return text if text.endswith("\n") or not text else text + "\n"


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def encoded(path: str, text: str) -> bytes:
    """Write a text as UTF-8; raise DocumentError when it cannot be."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        said = "The text holds characters that UTF-8 cannot."
        raise _bad(path, "not_utf8", said, "Save it as UTF-8.") from error


def _bad(path: str, code: str, sentence: str, hint: str) -> DocumentError:
    return DocumentError(
        f"{path}: {sentence}", hint=hint, path=path, line=0, code=code, sentence=sentence
    )
