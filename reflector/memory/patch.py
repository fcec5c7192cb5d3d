"""Patches over several documents: a unified diff or an envelope, applied all or nothing.

The envelope, for whoever does not want to count lines:

    *** Begin Patch
    *** Add File: reference/new.md
    +---
    +description: what it is about
    +---
    +The first line.
    *** Update File: reference/old.md
    *** Move to: reference/moved.md
    @@ ## A line that stands before the change
     a line that stays
    -a line that goes
    +a line that comes
    *** Delete File: reference/gone.md
    *** End Patch

`Move to` and the text after `@@` may be left out. A hunk must fit in exactly one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from reflector.core.errors import DocumentError
from reflector.memory.overlay import overlaid
from reflector.memory.tools import Contents, checked, encoded, no_single_match, place, source
from reflector.memory.tree import Tree

_ENVELOPE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OCTAL = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_NO_NEWLINE = "\\ No newline"

Kind = Literal["add", "update", "delete"]


@dataclass(slots=True)
class Hunk:
    """Lines that stand there, and what shall stand there instead.

    `start` is the index of the first old line as the patch says it, None when it does not;
    `anchor` is a line before it, "" when none is named.
    """

    start: int | None = None
    anchor: str = ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    open_end: bool = False
    left: tuple[int, int] | None = None
    mark: str = ""

    def take(self, line: str) -> bool:
        """Take one line of the patch; False when it does not belong to a hunk."""
        mark, text = line[:1], line[1:]
        if mark not in ("", " ", "+", "-") or self.left == (0, 0):
            return False
        self.mark = mark
        gone, come = mark != "+", mark != "-"
        if gone:
            self.old.append(text)
        if come:
            self.new.append(text)
        if self.left is not None:
            self.left = (self.left[0] - gone, self.left[1] - come)
        return True


@dataclass(slots=True)
class FilePatch:
    """What a patch does to one file. `to` is its new path, "" when it stays."""

    kind: Kind
    path: str
    to: str = ""
    hunks: list[Hunk] = field(default_factory=list)


def apply_patch(tree: Tree, text: str) -> Contents:
    """Apply a patch to a tree. Raises DocumentError with file and hunk when anything does not fit."""
    contents: Contents = {}
    for patch in read_patch(text):
        contents |= _applied(overlaid(tree, contents), patch)
    return contents


def read_patch(text: str) -> tuple[FilePatch, ...]:
    """Read a patch of either form. Raises DocumentError naming the line that is none."""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    begin = next((n for n, line in enumerate(lines) if line.strip() == "*** Begin Patch"), None)
    found = tuple(_unified(lines) if begin is None else _envelope(lines, begin + 1))
    if not found:
        raise _bad(1, "It names no file (neither a unified diff nor an envelope).")
    return found


def _envelope(lines: list[str], start: int) -> Iterator[FilePatch]:
    patch: FilePatch | None = None
    for number, line in enumerate(lines[start:], start=start + 1):
        if line.strip() == "*** End Patch":
            if patch:
                yield patch
            return
        if header := _ENVELOPE.fullmatch(line.rstrip()):
            if patch:
                yield patch
            kinds: dict[str, Kind] = {"Add": "add", "Update": "update", "Delete": "delete"}
            patch = FilePatch(kinds[header[1]], header[2].strip())
        elif patch is None or not _in_envelope(patch, line):
            raise _bad(number, f"Unexpected: {line[:60]!r}")
    raise _bad(len(lines), "The line '*** End Patch' is missing.")


def _in_envelope(patch: FilePatch, line: str) -> bool:
    if line.startswith("*** Move to: ") and not patch.hunks:
        patch.to = line.removeprefix("*** Move to: ").strip()
        return patch.kind == "update"
    if line.strip() == "*** End of File":
        return True
    if patch.kind == "delete":
        return not line.strip()
    if line.startswith("@@"):
        patch.hunks.append(Hunk(anchor=line.removeprefix("@@").strip()))
        return True
    if not patch.hunks:
        patch.hunks.append(Hunk())
    if patch.kind == "add" and not line.startswith("+"):
        return False
    return patch.hunks[-1].take(line)


def _unified(lines: list[str]) -> Iterator[FilePatch]:
    patch: FilePatch | None = None
    for number, line in enumerate(lines, start=1):
        hunk = patch.hunks[-1] if patch and patch.hunks else None
        if hunk is not None and hunk.take(line):
            continue
        if line.startswith("diff --git ") or (line.startswith("--- ") and (hunk or not patch)):
            if patch is not None:
                yield _settled(patch, number)
            patch = FilePatch("update", "")
        if patch is not None and not _in_unified(patch, line):
            raise _bad(number, f"Unexpected: {line[:60]!r}")
    if patch is not None:
        yield _settled(patch, len(lines))


def _in_unified(patch: FilePatch, line: str) -> bool:
    """Take a line outside a hunk; what git adds for itself is passed over."""
    if found := _RANGE.match(line):
        start, gone, come = int(found[1]), int(found[2] or 1), int(found[4] or 1)
        patch.hunks.append(Hunk(max(start - 1, 0) if gone else start, left=(gone, come)))
    elif line.startswith(_NO_NEWLINE) and patch.hunks:
        patch.hunks[-1].open_end = patch.hunks[-1].mark != "-"
    elif line.startswith("--- "):
        patch.path = _name(line[4:])
        patch.kind = "update" if patch.path else "add"
    elif line.startswith("+++ "):
        patch.to = _name(line[4:])
        patch.kind = patch.kind if patch.to else "delete"
    elif line.startswith("rename from "):
        patch.path = _name(line.removeprefix("rename from "))
    elif line.startswith("rename to "):
        patch.to = _name(line.removeprefix("rename to "))
    return not line.startswith(("GIT binary patch", "Binary files", "copy from "))


def _settled(patch: FilePatch, number: int) -> FilePatch:
    if patch.hunks and patch.hunks[-1].left != (0, 0):
        raise _bad(number, "The last hunk is shorter than its '@@' line says.")
    patch.path = patch.path or patch.to
    if not patch.path:
        raise _bad(number, "A file is not named ('--- a/PATH' and '+++ b/PATH').")
    return patch


def _name(text: str) -> str:
    """Return a path of a diff, "" for /dev/null; git quotes what is not ASCII."""
    name = text.partition("\t")[0].strip()
    if name.startswith('"') and name.endswith('"'):
        raw = _OCTAL.sub(_unescaped, name[1:-1])
        name = raw.encode("latin-1", "replace").decode("utf-8", "replace")
    return "" if name == "/dev/null" else re.sub(r"\A[ab]/", "", name)


def _unescaped(match: re.Match[str]) -> str:
    one = match[1]
    return chr(int(one, 8) & 0xFF) if len(one) == 3 else _ESCAPES.get(one, one)


def _applied(tree: Tree, patch: FilePatch) -> Contents:
    path, to = place(patch.path), place(patch.to or patch.path)
    if patch.kind == "add":
        if tree.find(to) is not None:
            raise _misfit(to, "path_taken", "The patch adds a file that is there already.")
        lines = [line for hunk in patch.hunks for line in hunk.new]
        return {to: checked(to, "".join(f"{line}\n" for line in lines))}
    text = source(tree, path)
    after = _changed(path, text, patch.hunks)
    if patch.kind == "delete":
        if patch.hunks and after:
            raise _misfit(
                path, "no_match", "The patch deletes a file that holds more than it says."
            )
        return {path: None}
    if to == path:
        return {path: checked(path, after)}
    if tree.find(to) is not None:
        raise _misfit(to, "path_taken", "The patch moves a file to one that is there already.")
    return {path: None, to: checked(to, after) if patch.hunks else encoded(to, text)}


def _changed(path: str, text: str, hunks: list[Hunk]) -> str:
    """Apply hunks from top to bottom."""
    ended = text.endswith("\n") or not text
    lines = text.removesuffix("\n").split("\n") if text else []
    done, shift = 0, 0
    for hunk in hunks:
        at = _found(path, lines, hunk, done, shift)
        lines[at : at + len(hunk.old)] = hunk.new
        done = at + len(hunk.new)
        shift += len(hunk.new) - len(hunk.old)
        # Only a hunk that reaches the end says how the file ends.
        if done == len(lines) and hunk.left is not None:
            ended = not hunk.open_end
    return "\n".join(lines) + ("\n" if ended and lines else "")


def _found(path: str, lines: list[str], hunk: Hunk, done: int, shift: int) -> int:
    """Return where a hunk begins: the place it names if it fits, else the only one that does."""
    size = len(hunk.old)
    if hunk.start is not None:
        said = hunk.start + shift
        if done <= said <= len(lines) and lines[said : said + size] == hunk.old:
            return said
    begin = _behind(path, lines, hunk.anchor, done)
    if not size:
        if hunk.anchor:
            return begin
        if hunk.start is None:
            return len(lines)
        raise _misfit(path, "no_match", f"The file has no line {hunk.start}.")
    last = len(lines) - size + 1
    starts = [at for at in range(begin, last) if lines[at : at + size] == hunk.old]
    if len(starts) == 1:
        return starts[0]
    text = "\n".join(lines) + "\n"
    places = [sum(len(line) + 1 for line in lines[:at]) for at in starts]
    raise no_single_match(path, text, "\n".join(hunk.old), places)


def _behind(path: str, lines: list[str], anchor: str, done: int) -> int:
    if not anchor:
        return done
    for number in range(done, len(lines)):
        if lines[number].strip() == anchor:
            return number + 1
    raise _misfit(path, "no_match", f"No line reads {anchor[:80]!r}.")


def _misfit(path: str, code: str, sentence: str) -> DocumentError:
    return DocumentError(
        f"{path}: {sentence}",
        hint="Nothing was changed. `reflector memory cat` shows what is there now.",
        path=path,
        line=0,
        code=code,
        sentence=sentence,
    )


def _bad(line: int, sentence: str) -> DocumentError:
    return DocumentError(
        f"The patch cannot be read at line {line}: {sentence}",
        hint="Give a unified diff, or an envelope from '*** Begin Patch' to '*** End Patch'.",
        path="",
        line=line,
        code="bad_patch",
        sentence=sentence,
    )
