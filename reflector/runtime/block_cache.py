"""The cached blocks that hooks print: the text, and the stamps under which it still holds."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.redact import find_secrets
from reflector.memory.compile import Block
from reflector.runtime import short_memory
from reflector.runtime.banks import common_dir
from reflector.runtime.block_place import place
from reflector.runtime.compiled import Wanted, compile_block, launcher
from reflector.runtime.wiring import Context
from reflector.store.disk import make_folder, write_atomic
from reflector.store.short_memory import project_root

_FORMAT = "reflector-block 2"
_AGAIN = 4
_MOST = 32
_HEAD_BYTES = 1 << 16


def refresh(context: Context) -> None:
    """Compile anew what hooks print, for the last few places where sessions began.

    The rest is removed: it shows an older memory, and the next session there compiles its own.
    """
    again: list[Path | None] = [None]
    for file, began in _places(context):
        if len(again) <= _AGAIN and os.path.isdir(began):  # noqa: PTH112 - no error without permission
            again.append(began)
        else:
            _remove(file)
    for start in again:
        wanted = Wanted(start, by_hook=True)
        with contextlib.suppress(ReflectorError):  # the next `reflector prompt` says what is wrong
            stamps = stamped(context, start)
            revision, block = compile_block(context, wanted)
            save(context, start, stamps, revision, block)


def stamped(context: Context, start: Path | None) -> tuple[str, ...]:
    """Return the stamps of everything else that a block depends on.

    They are taken before anything is read: what changes meanwhile makes them false. The forms are
    what `surface/hook.py` knows: `file <facts> <path>`, `same <device.inode> <path>`, `until
    <seconds>`, and `here <device.inode>` of the identity's folder: a home that was copied shows no
    file of the other.
    """
    paths = [one.path for one in short_memory.candidates(context, start)]
    kept = context.settings.flag("diary.enabled")
    if kept:
        paths.append(str(context.agent.diary / ".git/refs/heads/main"))
    paths += [
        launcher(context),
        str(context.home.settings),
        str(context.agent.path / "config.toml"),
    ]
    root = project_root(str(start)) if start else None
    lines = [f"here {_inode(str(context.agent.path))}", *(_file(path) for path in paths)]
    if kept:
        lines.append(_until(context))
    if root is not None:
        lines.append(_same(str(start)))
        lines += _marks(os.path.realpath(str(start)), root)
    return tuple(lines)


def save(
    context: Context, start: Path | None, stamps: tuple[str, ...], revision: str, block: Block
) -> None:
    """Keep a compiled block beside the stamps that it was made under.

    The form is what `surface/hook.py` reads: lines of a word and the rest, an empty line, the text.
    """
    begin, end = (len(_encoded(block.text[:at])) for at in block.volatile)
    lines = [_FORMAT, f"main {revision}", *stamps, f"volatile {begin} {end}"]
    if start is not None:
        lines.insert(1, f"cwd {start}")
    if (start is not None and not _may_be_named(str(start))) or _by_environment(context):
        return
    if any("\n" in line for line in lines):
        return  # a path that is no line has no place here
    content = os.fsencode("\n".join(lines)) + b"\n\n" + _encoded(block.text)
    file = place(context, start)
    with contextlib.suppress(OSError, ReflectorError):  # a cache that cannot be written is none
        if start is not None:
            make_folder(file.parent)
        write_atomic(file, content)
    if not set(stamps) <= set(stamped(context, start)):
        _remove(file)  # false already, and perhaps of a diary that was burned meanwhile
    for old, _ in _places(context)[_MOST:]:
        _remove(old)


def _may_be_named(start: str) -> bool:
    """Tell whether a directory may be written down: a name on disk can hold a secret."""
    return start.startswith("/") and not find_secrets(start)


def _by_environment(context: Context) -> bool:
    """Tell whether a variable of this process decides what is shown: hooks may have another."""
    return any(
        name.startswith(("prompt.", "short_memory.", "decisions.", "diary."))
        and origin.startswith("REFLECTOR_")
        for name, origin in context.settings.origins.items()
    )


def facts(path: str) -> str:
    """Return what changes when a file does; `-` when it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return "-"
    times = f"{found.st_mtime_ns}.{found.st_ctime_ns}"
    return f"{found.st_dev}.{found.st_ino}.{found.st_size}.{times}"


def _file(path: str) -> str:
    return f"file {facts(path)} {path}"


def _same(path: str) -> str:
    return f"same {_inode(path)} {path}"


def _until(context: Context) -> str:
    from reflector.runtime.diary.shown import in_force_until  # noqa: PLC0415 - not without a diary

    return f"until {in_force_until(context)}"


def _inode(path: str) -> str:
    return ".".join(facts(path).split(".")[:2])


def _marks(folder: str, root: str) -> Iterator[str]:
    """Yield the stamps of what decides where the project's top is, and which remote it has."""
    while True:
        mark = f"{folder.rstrip('/')}/.git"
        if folder == root and (common := common_dir(Path(root))):
            yield _same(mark)
            yield _file(str(common / "config"))
            return
        yield _file(mark)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return
        folder = above


def _places(context: Context) -> list[tuple[Path, Path]]:
    """Return the cached blocks of places, the newest first, each with where its session began."""
    found = []
    for file in context.agent.path.glob("blocks/%2F*"):
        with contextlib.suppress(OSError):
            with file.open("rb") as stream:
                head = stream.read(_HEAD_BYTES).split(b"\n\n")[0].split(b"\n")
            start = next((line[4:] for line in head if line.startswith(b"cwd ")), b"")
            found.append((file.stat().st_mtime_ns, file, Path(os.fsdecode(start))))
    return [(file, start) for _, file, start in sorted(found, reverse=True)]


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
