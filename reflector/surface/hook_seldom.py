"""What hardly any hook needs: excluded folders, a fresh block, old transcripts, secrets taken out.

It is no part of `hook.py` because every turn of every agent reads that file. Here too only modules
are imported that are built into the interpreter, but for the rules about secrets.
"""

from __future__ import annotations

import posix
import sys
from _json import encode_basestring as quoted

_COMPACTED = (b'"compact_boundary"', b'"type":"compacted"', b'"type":"compaction"')


def matches(pattern: str, cwd: str) -> bool:
    """Match a folder or anything above it against a pattern in which `*` stands for anything."""
    folder = cwd
    while folder:
        if _glob(pattern, folder):
            return True
        folder = folder.rpartition("/")[0]
    return False


def _glob(pattern: str, text: str) -> bool:
    parts = pattern.split("*")
    if len(parts) == 1:
        return pattern == text
    if not text.startswith(parts[0]):
        return False
    here = len(parts[0])
    for part in parts[1:-1]:
        found = text.find(part, here)
        if found < 0:
            return False
        here = found + len(part)
    return len(text) - here >= len(parts[-1]) and text.endswith(parts[-1])


def seen(raw: bytes, block: bytes) -> bool:
    """Tell whether a transcript holds this very text since it was last compacted."""
    text = quoted(block.decode("utf-8", "replace").strip())[1:-1].encode()
    # Forwards, since looking for a word from the end is many times slower.
    at = raw.find(text) if text else -1
    while at >= 0:
        later = [found for mark in _COMPACTED if (found := raw.find(mark, at)) >= 0]
        if not later:
            return True
        at = raw.find(text, min(later))
    return False


def fresh(home: bytes, place: bytes) -> bytes:
    """Compile the block of a working directory in a process of its own; b"" if that fails."""
    ours, theirs = posix.pipe()
    actions = [
        (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_DUP2, theirs, 1),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
        (posix.POSIX_SPAWN_CLOSE, ours),
    ]
    words: list[bytes | str] = [sys.executable, "-I", "-m", "reflector", "prompt", "--hook"]
    words += ["--home", home, "--cwd", place]
    posix.posix_spawn(sys.executable, words, posix.environ, file_actions=actions)
    posix.close(theirs)
    parts: list[bytes] = []
    while chunk := posix.read(ours, 1 << 16):
        parts.append(chunk)
    return b"".join(parts)


def without_volatile(stamps: list[bytes], block: bytes) -> bytes:
    """Take out what tells of short memory: a person may have changed or withdrawn it since."""
    for stamp in stamps:
        kind, *bounds = stamp.split(b" ")
        if kind == b"volatile":
            return block[: int(bounds[0])] + block[int(bounds[1]) :]
    return block


def cleaned(value: str) -> str:
    """Return a value without secrets."""
    root = __file__.rpartition("/reflector/")[0]
    if root not in sys.path:
        sys.path.append(root)  # the launcher knows no package
    from reflector.core.redact import redact  # noqa: PLC0415 - some 30 ms

    return redact(value).text
