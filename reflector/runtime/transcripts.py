"""Transcript files: named without secrets, opened without waiting, recognised."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from reflector.core.cleaning import clean
from reflector.core.errors import TranscriptError
from reflector.harness import reading


def source_name(path: Path) -> str:
    """Return the name under which the journal keeps a file.

    Raises TranscriptError for a relative path below a working directory that was deleted.
    """
    # Two files whose names differ in a secret alone are one: each is read from its start again.
    return clean(os.fsencode(_real(path)).decode("utf-8", "backslashreplace"))


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # a relative path below a working directory that was deleted
        raise _unreadable(path, error) from error


def open_file(path: Path) -> BinaryIO:
    """Open a regular file. Raises TranscriptError for every other kind, and at any byte later."""
    try:
        # Non-blocking, so that a FIFO without a writer is refused instead of waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise _unreadable(path, error) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            kind, hint = "a folder", "`reflector ingest FOLDER` reads all transcripts below it."
        else:
            kind, hint = "not a regular file", "Name transcript files one by one."
        raise TranscriptError(f"{path} is {kind}.", hint=hint, path=str(path))
    return io.BufferedReader(_Transcript(descriptor, path), 1 << 20)


def recognised(stream: BinaryIO, path: Path) -> reading.Source:
    """Return the source that an open file is. Raises TranscriptError with the whole path."""
    stem = clean(path.stem)  # it names a conversation whose rows do not
    try:
        return reading.open_source(stream, stem, clean(path.parent.name))
    except TranscriptError as error:
        if not error.message.startswith(stem):
            raise
        # The reader knows only the stem; two folders may hold files of that name.
        whole = error.message.replace(stem, str(path), 1)
        facts = {**error.facts, "path": str(path)}
        raise type(error)(whole, hint=error.hint, **facts) from error


def _unreadable(path: Path, error: OSError) -> TranscriptError:
    return TranscriptError(
        f"{path} cannot be read: {error.strerror}.",
        hint="Name an existing transcript file that you may read.",
        path=str(path),
        errno=error.errno,
    )


class _Transcript(io.FileIO):
    """An open transcript whose disk may fail at any byte."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor)
        self._path = path

    def readinto(self, buffer: Any) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise _unreadable(self._path, error) from error
