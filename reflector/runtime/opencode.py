"""OpenCode keeps no transcript file: its own program is asked for a session, and what it says read.

Its output goes through a pipe. Versions that end before a pipe has taken everything cut it off; one
that is no whole document is asked for once more, into a file without a name.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO

from reflector.core.ambient import Clock
from reflector.core.errors import TranscriptError
from reflector.harness.documents import LARGEST
from reflector.runtime.ingest import Ingested, ingest_stream
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context

SECONDS = 30.0
_SESSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,199}")
_KEPT = re.compile(r"PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_[A-Z]+|XDG_[A-Z]+_HOME")
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Session:
    """A session of OpenCode, where it runs, and the program that its plugin named, "" for none."""

    id: str
    cwd: str
    program: str = ""


def journal(context: Context, session: Session, watch: Watch, *, settled: bool) -> Ingested:
    """Journal what a session says that is new.

    Raises TranscriptError when the program is missing, fails, or says nothing whole.
    """
    with exported(session, context.environ, context.ambient.clock) as stream:
        name = f"opencode:{session.id}"
        return ingest_stream(
            context, stream, name=name, stem=session.id, watch=watch, settled=settled
        )


@contextmanager
def exported(session: Session, environ: Mapping[str, str], clock: Clock) -> Iterator[BinaryIO]:
    """Open what `opencode export` says of a session, a whole JSON document."""
    if not _SESSION.fullmatch(session.id):
        raise TranscriptError(
            f"{session.id[:60]!r} is no session of OpenCode.", hint="Its plugin names them."
        )
    call = _Call([program(session, environ), "export", session.id], session, environ, clock)
    said = call.through_a_pipe()
    if (start := whole(said)) is not None:
        yield io.BytesIO(said[start:])
        return
    with tempfile.TemporaryFile() as file:
        call.into(file)
        file.seek(0)
        said = file.read(LARGEST + 1)
    start = whole(said)
    if start is None:
        raise _failed(session, "said nothing that is whole")
    yield io.BytesIO(said[start:])


def program(session: Session, environ: Mapping[str, str]) -> str:
    """Return the program that the plugin named, else the one on PATH."""
    if os.path.isabs(session.program) and os.access(session.program, os.X_OK):  # noqa: PTH117 - a text
        return session.program
    found = shutil.which("opencode", path=environ.get("PATH", ""))
    if found is None:
        raise TranscriptError(
            "The program opencode is not on PATH, so its sessions cannot be read.",
            hint="`reflector install opencode` writes a plugin that says where it is.",
        )
    return found


def whole(said: bytes) -> int | None:
    """Return where a whole JSON object begins, None if there is none. Some say a line before it."""
    start = said.find(b"{")
    if start < 0 or len(said) > LARGEST:
        return None
    try:
        json.loads(said[start:])
    except (ValueError, RecursionError):
        return None
    return start


def _failed(session: Session, why: str) -> TranscriptError:
    return TranscriptError(
        f"`opencode export {session.id}` {why}.",
        hint="Run it by hand; the session is read again when its next turn ends.",
    )


@dataclass(frozen=True, slots=True)
class _Call:
    words: Sequence[str]
    session: Session
    environ: Mapping[str, str]
    clock: Clock

    def through_a_pipe(self) -> bytes:
        with self._started(subprocess.PIPE) as (process, until):
            if process.stdout is None:
                raise AssertionError(self.words)
            said = self._read(process.stdout, until)
            self._wait(process, until)
        return said

    def into(self, file: IO[bytes]) -> None:
        with self._started(file) as (process, until):
            self._wait(process, until)

    @contextmanager
    def _started(self, out: int | IO[bytes]) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
        try:
            process = subprocess.Popen(  # noqa: S603 - the person's own program, without a shell
                self.words,
                env=_environment(self.environ),
                cwd=self.session.cwd if os.path.isdir(self.session.cwd) else "/",  # noqa: PTH112 - a text
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(self.session, f"cannot be started: {error.strerror}") from error
        try:
            yield process, self.clock.monotonic() + SECONDS
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _read(self, stream: IO[bytes], until: float) -> bytes:
        said = bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(stream, selectors.EVENT_READ)
            while len(said) <= LARGEST:
                left = until - self.clock.monotonic()
                if left <= 0 or not ready.select(left):
                    raise _failed(self.session, f"took longer than {SECONDS:.0f} seconds")
                chunk = os.read(stream.fileno(), _CHUNK)
                if not chunk:
                    return bytes(said)
                said += chunk
        raise _failed(self.session, f"said more than {LARGEST >> 20} MiB")

    def _wait(self, process: subprocess.Popen[bytes], until: float) -> None:
        try:
            code = process.wait(max(until - self.clock.monotonic(), 0.001))
        except subprocess.TimeoutExpired as error:
            raise _failed(self.session, f"took longer than {SECONDS:.0f} seconds") from error
        if code:
            raise _failed(self.session, f"failed with exit code {code}")


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the program needs to find its sessions; its plugins see a child of ours."""
    kept = {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
    return kept | {"REFLECTOR_CHILD": "1"}
