"""Files that belong to a person and a harness: read with care, changed all together or not at all."""

from __future__ import annotations

import difflib
import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import BusyError, HomeError, InstallError
from reflector.store.disk import write_atomic

_LARGEST = 1 << 22
_NEXT = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it is: `place` is where a link leads, `content` is None when there is none."""

    path: Path
    place: Path
    content: bytes | None
    mode: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to become; `new` is None for a file that goes."""

    found: Found
    new: bytes | None


def look(path: Path) -> Found:
    """Read a file that we may want to change.

    A link is followed: it leads to where the person keeps the file. Raises InstallError for what
    is no file, belongs to somebody else, or must not be written.
    """
    place = Path(os.path.realpath(path))
    try:
        status = place.stat()
    except FileNotFoundError as error:
        if path.is_symlink():
            raise _refused(
                path, f"is a link to {place}, which is not there", "Remove it"
            ) from error
        _parent(path, place)
        return Found(path, place, None, 0o600)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}", "Check its folders") from error
    _refuse_unfit(path, place, status)
    _parent(path, place)
    try:
        content = read_quickly(place)
    except OSError as error:
        raise _refused(
            path, f"cannot be read: {error.strerror}", "Check its permissions"
        ) from error
    return Found(path, place, content, stat.S_IMODE(status.st_mode))


def read_quickly(path: Path) -> bytes:
    """Read a file that somebody else looks after. Raises OSError.

    Links are followed; what is no file, or larger than settings are, is not read: a pipe in its
    place would keep us waiting for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        if status.st_size > _LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {_LARGEST} bytes", str(path))
        return stream.read(_LARGEST + 1)


def _refuse_unfit(path: Path, place: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _refused(path, "is not a file", "Move it away")
    if status.st_uid != os.geteuid():
        raise _refused(
            path, f"belongs to another user (uid {status.st_uid})", "Make it your own with chown"
        )
    if not status.st_mode & stat.S_IWUSR:
        raise _refused(path, "is read-only", f"If that is not meant, `chmod u+w {place}`")
    if status.st_size > _LARGEST:
        raise _refused(path, f"is larger than {_LARGEST} bytes", "Look at what it holds")


def missing_folders(place: Path) -> tuple[Path, ...]:
    """Return the folders that have to be made for a file, the innermost first."""
    return tuple(each for each in place.parents if not each.exists())


def change(changes: Sequence[Change]) -> None:
    """Make every change, or none: what was changed before a failure is put back.

    Raises BusyError when a file is not any more what was planned on.
    """
    done: list[Change] = []
    try:
        for each in changes:
            _refuse_changed(each.found)
            done.append(each)
            _put(each.found, each.new)
    except BaseException:
        for each in reversed(done):
            # What stands there by now may be a third thing, which somebody else wrote.
            if _content(each.found.place) == each.new:
                _put(each.found, each.found.content)
        raise


def difference(changes: Sequence[Change]) -> str:
    """Return what changes would do, as a unified diff."""
    parts: list[str] = []
    for each in changes:
        old, new = _lines(each.found.content), _lines(each.new)
        path = str(each.found.path)
        names = (path if old else "/dev/null", path if each.new is not None else "/dev/null")
        parts += (f"{line}\n" for line in difflib.unified_diff(old, new, *names, lineterm=""))
    return "".join(parts)


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines()


def _refuse_changed(found: Found) -> None:
    if _content(found.place) != found.content:
        raise BusyError(
            f"{found.path} was changed by somebody else in this very moment.",
            hint=f"Run the same command again. {_NEXT}",
            path=str(found.path),
        )


def _put(found: Found, content: bytes | None) -> None:
    try:
        if content is None:
            found.place.unlink(missing_ok=True)
            found.path.unlink(missing_ok=True)  # a link that leads nowhere now
            return
        # Folders of a harness get the permissions that it would give them.
        found.place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(found.place, content, found.mode)
    except (OSError, HomeError) as error:
        why = error.strerror if isinstance(error, OSError) else error.message
        raise _refused(found.path, f"cannot be written: {why}", "Check it") from error
    if _content(found.place) != content:
        raise _refused(found.path, "does not hold what was written", "Check the disk")


def _content(place: Path) -> bytes | None:
    try:
        return read_quickly(place)
    except FileNotFoundError:
        return None


def _parent(path: Path, place: Path) -> None:
    """Make sure that the folder of a file, or the nearest that there is, can be written."""
    folder = next(each for each in place.parents if each.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise _refused(path, f"cannot be written in {folder}", "Check that folder")
    if folder.stat().st_uid != os.geteuid() and not folder.stat().st_mode & stat.S_ISVTX:
        raise _refused(path, f"lies in {folder}, which belongs to another user", "Check it")


def _refused(path: Path, what: str, step: str) -> InstallError:
    return InstallError(f"{path} {what}.", hint=f"{step}. {_NEXT}", path=str(path))
