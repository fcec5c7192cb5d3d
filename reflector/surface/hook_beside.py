"""What a prompt's hook needs where memory is shown beside prompts; elsewhere nobody reads this file.

As in `hook_seldom`, only modules are imported that are built into the interpreter.
"""

from __future__ import annotations

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Told = tuple[str, str, str]  # harness, event and notice, as in `hook`

EVENTS = {
    "claude-code": ("UserPromptSubmit", "json"),
    "codex": ("UserPromptSubmit", "text"),
    "gemini-cli": ("BeforeAgent", "json"),
}
"""The event of each harness that has a prompt and whose output is shown to the model."""

_COMPACTS = ("PreCompact", "PreCompress")
_LONGEST_PROMPT = 8000
_LONGEST_SESSION = 100
_FLAGS = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW


def recalled(
    home: bytes, agent: bytes, told: _Told, given: Mapping[str, object], forgetful: tuple[str, ...]
) -> tuple[str, bytes, Callable[[], None]]:
    """Return what is shown beside a prompt: its form, the text, and what keeps that it was shown.

    A session without a usable name is shown nothing: nobody could tell what it has seen (F115).
    """
    harness, event, _ = told
    session, cwd, source, prompt = (
        value if isinstance(value := given.get(name), str) else ""
        for name in ("session_id", "cwd", "source", "prompt")
    )
    wanted, form = EVENTS.get(harness, ("", ""))
    if not _named(session):
        return form, b"", _nothing
    file = agent + b"/beside/" + session.encode()
    if _forgets(harness, event, source, forgetful):
        _forget(file)
    if event != wanted or not prompt.strip():
        return form, b"", _nothing
    marks, text = _asked(home, cwd, session, prompt)
    return form, text, lambda: _keep(file, marks)


def _nothing() -> None:
    """Keep nothing: nothing was shown."""


def _forgets(harness: str, event: str, source: str, forgetful: tuple[str, ...]) -> bool:
    """Tell whether a session loses what it was shown: then it may be shown that again (F119)."""
    if event == "SessionStart":
        return source in ("compact", "clear") or harness in forgetful
    return event in _COMPACTS


def _forget(file: bytes) -> None:
    try:
        posix.unlink(file)
    except OSError:  # not there, or a home that may only be read
        return


def _keep(file: bytes, marks: bytes) -> None:
    folder = file.rpartition(b"/")[0]
    try:
        posix.stat(folder)
    except FileNotFoundError:
        posix.mkdir(folder, 0o700)
    descriptor = posix.open(file, _FLAGS, 0o600)
    posix.write(descriptor, marks + b"\n")
    posix.close(descriptor)


def _asked(home: bytes, cwd: str, session: str, prompt: str) -> tuple[bytes, bytes]:
    """Ask in a process of its own; return the marks of what is shown, and the text."""
    ours, theirs = posix.pipe()
    given, giving = posix.pipe()
    actions = [
        (posix.POSIX_SPAWN_DUP2, given, 0),
        (posix.POSIX_SPAWN_DUP2, theirs, 1),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
    ]
    words: list[bytes | str] = [sys.executable, "-I", "-m", "reflector", "recall"]
    words += ["--beside", session, "--home", home, "--cwd", cwd.replace("\0", "") or "/"]
    posix.posix_spawn(sys.executable, words, posix.environ, file_actions=actions)
    posix.close(theirs)
    posix.close(given)
    # So many fit into a pipe that nobody reads yet.
    posix.write(giving, prompt[:_LONGEST_PROMPT].encode("utf-8", "replace"))
    posix.close(giving)
    return _read(ours)


def _named(session: str) -> bool:
    plain = session.replace("-", "").replace("_", "")
    return plain.isalnum() and session.isascii() and len(session) <= _LONGEST_SESSION


def _read(descriptor: int) -> tuple[bytes, bytes]:
    """Read one answer and not up to the end: whoever gave it has things to write down."""
    raw = b""
    while chunk := posix.read(descriptor, 1 << 16):
        raw += chunk
        size, newline, body = raw.partition(b"\n")
        if newline and len(body) >= int(size):
            marks, _, text = body.partition(b"\n")
            return marks, text
    return b"", b""
