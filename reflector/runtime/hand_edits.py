"""What a person's working files hold that main does not: read without following a link, and judged."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reflector.core.errors import PathError
from reflector.memory.codes import shown
from reflector.memory.edit import MAX_FILE, Scope
from reflector.memory.finding import Finding
from reflector.memory.overlay import overlaid
from reflector.memory.rules import check
from reflector.memory.tree import EXECUTABLE, FILE, Change, Tree, tier
from reflector.vcs.merge import Files

_PERSON = Scope(writer="person")


@dataclass(frozen=True, slots=True)
class Edited:
    """One path as the working files have it. `content` is None when the file is gone.

    `at` is when it last changed, in seconds since 1970; of a missing file, when its folder did.
    """

    content: bytes | None
    mode: int
    at: float


def read_edits(repo: Path, paths: Iterable[str]) -> tuple[dict[str, Edited], list[Finding]]:
    """Read the paths of the memory among these; the findings say which cannot be taken, and why."""
    edits: dict[str, Edited] = {}
    left: list[Finding] = []
    for path in sorted(set(paths)):
        if tier(path) is None:
            said = "The file lies outside the memory's folders."
            left.append(Finding("outside_layout", "warning", shown(path), 0, said))
            continue
        found = _read(repo, path)
        if isinstance(found, Edited):
            edits[path] = found
        else:
            left.append(found)
    return edits, left


def judge_edits(
    before: Tree, edits: Mapping[str, Edited]
) -> tuple[dict[str, Edited], list[Finding]]:
    """Return the edits that pass the lint together, and what the lint says of the others."""
    good, left = dict(edits), list[Finding]()
    while good:
        try:
            after = with_edits(before, good)
        except PathError as error:  # a file where main has a folder that cannot go yet
            path = str(error.facts["path"])
            left.append(_left("path_taken", path, error.message))
            good = {other: edit for other, edit in good.items() if not _within(other, path)}
            continue
        found = check(before, after, _PERSON)
        errors = [each for each in found if each.severity == "error"]
        named = {each.path for each in errors}
        bad = {path for path in good if shown(path) in named}
        left += errors
        if not errors:
            break
        # An error that names none of them is about all of them.
        good = {path: edit for path, edit in good.items() if path not in bad} if bad else {}
    return good, sorted(set(left), key=lambda each: (each.path, each.line, each.code, each.message))


def with_edits(before: Tree, edits: Mapping[str, Edited]) -> Tree:
    """Return a tree with the edits in it."""
    contents = {path: edit.content for path, edit in edits.items()}
    return overlaid(before, contents, {path: edit.mode for path, edit in edits.items()})


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _read(repo: Path, path: str) -> Edited | Finding:
    if links_on_the_way(repo, path):
        return _left("symlink", path, "A symbolic link is on the way to the file, or in its place.")
    try:
        descriptor = os.open(repo / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return Edited(None, FILE, _folder_changed(repo, path))
    except OSError as error:
        return _left("unreadable", path, f"The file cannot be read ({error.strerror}).")
    try:
        return _read_open(repo, path, descriptor)
    except OSError as error:
        return _left("unreadable", path, f"The file cannot be read ({error.strerror}).")
    finally:
        os.close(descriptor)


def _read_open(repo: Path, path: str, descriptor: int) -> Edited | Finding:
    before = os.fstat(descriptor)
    if stat.S_ISDIR(before.st_mode) and not path.endswith("/"):
        return Edited(None, FILE, _folder_changed(repo, path))  # the file made way for a folder
    if not stat.S_ISREG(before.st_mode):
        # Of folders, git names only those that are repositories of their own.
        return _left("unreadable", path, "This is no regular file.")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(MAX_FILE + 1)
    if _stamp(os.fstat(descriptor)) != _stamp(before):
        return _left("changing", path, "The file is being written to.")
    mode = EXECUTABLE if before.st_mode & stat.S_IXUSR else FILE
    return Edited(content, mode, before.st_mtime)


def links_on_the_way(repo: Path, path: str) -> bool:
    """Tell whether a path, or a folder above it in the memory, is a symbolic link."""
    return any(place.is_symlink() for place in (*_on_the_way(repo, path), repo / path))


def _on_the_way(repo: Path, path: str) -> list[Path]:
    return [repo / above for above in PurePosixPath(path).parents if above.name]


def _folder_changed(repo: Path, path: str) -> float:
    for above in PurePosixPath(path).parents:
        try:
            return (repo / above).stat().st_mtime
        except OSError:
            continue
    return 0.0


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _left(code: str, path: str, message: str) -> Finding:
    return Finding(code, "error", shown(path), 0, message)


def files_of(after: Tree, changed: Sequence[Change]) -> Files:
    """Return mode and bytes of what is to be written, None for what goes."""
    return {
        one.path: (one.after.mode, after.reader.content(one.after.oid)) if one.after else None
        for one in changed
    }
