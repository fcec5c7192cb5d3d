"""The MEMORY.md files on disk: where they lie, read with care, replaced without loss."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import BusyError, DocumentError, machine_advice
from reflector.memory.short_memory import MOST_BYTES, Scope, Unread

NAME = "MEMORY.md"
FOLDER = ".reflector"
_CHUNK = 16_384


@dataclass(frozen=True, slots=True)
class Candidate:
    """Where a file of one scope may lie. `root` is the project's folder, "" for the user file."""

    scope: Scope
    path: str
    root: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What lies at a path: nothing, something that was not read, or text.

    `identity` tells whether two paths lead to one file; None when nothing was reached.
    """

    content: Unread | str | None
    identity: tuple[int, int] | str | None = None


def candidates(home: Path, spelled: str, start: str | None) -> tuple[Candidate, ...]:
    """Return where the files of a session lie: the user's, then the project's if it has one.

    `start` is the session's starting directory, `spelled` the home as the person writes it: a
    session that starts in the folder above it has the user file alone.
    """
    user = Candidate("user", f"{home}/{NAME}")
    root = project_root(start) if start else None
    if root is None:
        return (user,)
    folder = f"{root.rstrip('/')}/{FOLDER}"
    if folder == str(home) or (os.path.realpath(spelled) == str(home) and _same(folder, spelled)):
        return (user,)
    return user, Candidate("project", f"{folder}/{NAME}", root)


def _same(folder: str, spelled: str) -> bool:
    """Tell whether a folder is the home as it is written, were that a link or not."""
    above, name = os.path.split(spelled.rstrip("/"))
    return folder == f"{os.path.realpath(above).rstrip('/')}/{name}"


def project_root(start: str) -> str | None:
    """Return the top of the working tree that holds a directory, else the directory itself.

    None for what is no directory's path. Only names are looked at: no git is asked.
    """
    try:
        real = os.path.realpath(start)
    except (OSError, ValueError):
        return None
    if not os.path.isabs(start):  # noqa: PTH117 - a path of somebody else's working directory
        return None
    folder = real
    while True:
        if _is_top(folder):
            return folder
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return real
        folder = above


def _is_top(folder: str) -> bool:
    """Tell whether git takes a folder for the top of a working tree: an empty `.git` is none."""
    mark = f"{folder}/.git"
    return os.path.isfile(mark) or os.path.lexists(f"{mark}/HEAD")  # noqa: PTH113


def stamp(candidate: Candidate) -> str:
    """Return a line that changes when a file, its permissions or its place in the tree does."""
    name = json.dumps(candidate.path)
    try:
        found = os.stat(candidate.path)  # noqa: PTH116
    except FileNotFoundError:
        return f"{name} absent"
    except (OSError, ValueError) as error:
        return f"{name} unreadable {getattr(error, 'errno', None)}"
    return f"{name} {found.st_dev} {found.st_ino} {found.st_size} {_times(found)}"


def _times(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns} {found.st_ctime_ns}"


def read(path: str) -> Reading:
    """Read a file. Only absence is no trouble; whatever else is in the way is told, not raised."""
    try:
        resolved = os.path.realpath(path, strict=True)
        before = os.lstat(resolved)
        if not stat.S_ISREG(before.st_mode):
            # Opening a device can already do something.
            return Reading(
                Unread("not_a_file", "it is no regular file"), _identity(before, resolved)
            )
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(resolved, flags)
    except FileNotFoundError:
        return Reading(None)
    except (OSError, ValueError) as error:
        return Reading(_unreadable(error))
    try:
        return _read_open(descriptor, resolved)
    except OSError as error:
        return Reading(_unreadable(error))
    finally:
        os.close(descriptor)


def _read_open(descriptor: int, resolved: str) -> Reading:
    before = os.fstat(descriptor)
    identity = _identity(before, resolved)
    if not stat.S_ISREG(before.st_mode):
        return Reading(Unread("not_a_file", "it is no regular file"), identity)
    raw = _at_most(descriptor, MOST_BYTES + 1) if before.st_size <= MOST_BYTES else b""
    if before.st_size > MOST_BYTES or len(raw) > MOST_BYTES:
        return Reading(Unread("file_too_large", f"more than {MOST_BYTES} bytes"), identity)
    after = os.fstat(descriptor)
    if (after.st_size, _times(after)) != (before.st_size, _times(before)):
        changed = Unread("changed_while_reading", "it changed while it was read")
        return Reading(changed, identity)
    try:
        return Reading(raw.decode("utf-8"), identity)
    except UnicodeDecodeError as error:
        return Reading(Unread("not_utf8", f"byte {error.start + 1} is no UTF-8"), identity)


def _at_most(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left and (part := os.read(descriptor, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _identity(found: os.stat_result, resolved: str) -> tuple[int, int] | str:
    # Some file systems give every file the inode 0.
    return (found.st_dev, found.st_ino) if found.st_ino else resolved


def _unreadable(error: OSError | ValueError) -> Unread:
    return Unread("unreadable", (getattr(error, "strerror", None) or "no usable path").lower())


def save(path: str, content: bytes, expected: Reading) -> None:
    """Replace a file, or make it where there was none; a crash leaves the old or the new one.

    A link is followed and stays, the mode stays, a file that appeared or changed since `expected`
    was read stays. Raises BusyError for that, DocumentError when the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if expected.content is None:
            folder = Path(path).parent
            if not os.path.lexists(folder):
                folder.mkdir(exist_ok=True)
            with _written_beside(target, content, None) as beside:
                # A rename would take the place of a file that appeared meanwhile.
                os.link(beside, target, follow_symlinks=False)
        else:
            with _written_beside(target, content, _replaceable(target)) as beside:
                if read(path) != expected:
                    raise _moved(path)
                beside.replace(target)
        _flush(target.parent)
    except FileExistsError as error:
        raise _moved(path) from error
    except OSError as error:
        raise DocumentError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
            hint=machine_advice(str(error))
            or "Look at what lies there and at its folder; nothing was changed.",
            path=path,
        ) from error


@contextmanager
def _written_beside(target: Path, content: bytes, like: os.stat_result | None) -> Iterator[Path]:
    """Write a new file beside `target`, of the owner and mode of `like`; it is gone at the end."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    # A process that was killed here may have had our pid.
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            if like is not None:
                if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):
                        os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            stream.flush()
            os.fsync(descriptor)
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def _replaceable(target: Path) -> os.stat_result:
    found = target.stat()
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    if found.st_nlink > 1:
        raise DocumentError(
            f"{target} has {found.st_nlink} hard links, which replacing it would part.",
            hint="Edit it in place, or use a symbolic link instead.",
            path=str(target),
        )
    return found


def _moved(path: str) -> BusyError:
    return BusyError(
        f"{path} was changed by somebody else meanwhile; nothing was written.",
        hint="Look at it and try again.",
        path=path,
    )


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
