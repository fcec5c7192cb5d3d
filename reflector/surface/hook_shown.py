"""What a hook prints: a notice and a block in the form of its harness, while that block holds.

Turns that show nothing do not read this file. Here too only modules are imported that are built
into the interpreter. `read` is the hook's own: the launcher starts that file under another name,
so that to import it from here would be to run it a second time.
"""

# No `from __future__`, as in `hook`: that is a file to open and to run, whenever a session begins.
import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_NAME = 200
_BLOCK = b"reflector-block 2"
_NOTICE = "reflector-notice 1"
LONGEST_PRINTED = {"claude-code": 9900}
"""Characters of a line: what a longer one holds is shown to nobody (F116)."""


def formed(harness: str, event: str, notice: str, block: bytes, form: str) -> bytes:
    """Return what is printed of a notice and a block; b"" if there is nothing to say."""
    if form != "json":
        return block
    from _json import encode_basestring as quoted  # noqa: PLC0415 - where the form asks for it

    parts = [f'"systemMessage":{quoted(notice)}'] if notice else []
    if block:
        text = quoted(block.decode("utf-8", "replace"))
        named = f'"hookEventName":"{event}","additionalContext":{text}'
        parts.append(f'"hookSpecificOutput":{{{named}}}')
    line = f"{{{','.join(parts)}}}\n"
    if len(line) > LONGEST_PRINTED.get(harness, len(line)):
        return block  # a block of another version; these events take plain text as well
    return line.encode() if parts else b""


def notice(agent: bytes, read: "Callable[[bytes], bytes]") -> tuple[str, str]:
    """Return what a person is told when a session begins, as a stamp and a text."""
    head, _, text = read(agent + b"/notice").decode("utf-8", "replace").partition("\n\n")
    kind, _, told = head.partition("\n")
    return (told, text) if kind == _NOTICE else ("", "")


def kept(agent: bytes, place: bytes, read: "Callable[[bytes], bytes]") -> tuple[list[bytes], bytes]:
    """Return stamps and text of the block for a working directory, none if it is for another."""
    name = place.replace(b"%", b"%25").replace(b"/", b"%2F")
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME // 2] + name[-_LONGEST_NAME // 2 :]
    file = agent + (b"/blocks/" + name if place else b"/block")
    head, _, block = read(file).partition(b"\n\n")
    stamps = head.split(b"\n")
    ours = stamps[0] == _BLOCK and (not place or b"cwd " + place in stamps)
    return (stamps, block) if ours else ([], b"")


def holds(agent: bytes, stamp: bytes, read: "Callable[[bytes], bytes]") -> bool:
    """Tell whether what a stamp names is as it was when the block was made."""
    kind, _, rest = stamp.partition(b" ")
    if kind == b"main":
        return main_commit(agent, read) == rest
    known, _, path = rest.partition(b" ")
    if kind in (b"same", b"here"):
        return b".".join(facts(path or agent).split(b".")[:2]) == known
    if kind == b"file":
        return facts(path) == known
    if kind == b"until":
        return time.time() < float(rest)
    return True


def main_commit(agent: bytes, read: "Callable[[bytes], bytes]") -> bytes:
    """Return the commit that `main` is at, b"" if there is none."""
    git = agent + b"/repo/.git/"
    if loose := read(git + b"refs/heads/main").strip():
        return loose
    for line in read(git + b"packed-refs").split(b"\n"):
        if line.endswith(b" refs/heads/main"):
            return line.split(b" ")[0]
    return b""


def facts(path: bytes) -> bytes:
    """Return what tells a file or folder apart from every other one, b"-" if there is none."""
    try:
        found = posix.stat(path)
    except OSError:
        return b"-"
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return b"%d.%d.%d.%d.%d" % (found.st_dev, found.st_ino, found.st_size, *times)
