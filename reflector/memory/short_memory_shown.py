"""How short memory is shown to an agent: an element for each file, a line for each trouble."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from reflector.core.sentinel import attribute, escape
from reflector.memory.short_memory import Fault, Scope, sentence

# Characters that would end or bend the line: a shell gets no path that holds one.
_BENDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]")
_PLAIN = re.compile(r"[A-Za-z0-9_./+@%:,=-]+")
_LOOSE = re.compile("[\x7f-\x9f\u2028\u2029]")


def element(scope: Scope, path: str, injected: str, root: str = "", twin: str = "") -> str:
    """Write a file's entries as an element that no path and no body can close.

    `root` is the project of a project file, `twin` the path of the user file when both are one.
    """
    reach = "These hold everywhere." if scope == "user" else _in_project(root, twin)
    head = f'<short_memory scope="{scope}" path="{attribute(path)}">'
    return f"{head}\n{escape(reach)}\n{escape(injected)}\n</short_memory>\n"


def _in_project(root: str, twin: str) -> str:
    same = f" The user file {quoted(twin)} is this same file." if twin else ""
    return f"These hold only in the project at {quoted(root)}.{same}"


def trouble(path: str, faults: Sequence[Fault]) -> str:
    """Say in one line that a file is not shown: the first fault, how many, how to see all."""
    count = f"{len(faults)} faults" if len(faults) > 1 else "1 fault"
    return escape(
        f"Short memory {quoted(path)} is not shown: {sentence(faults[0])} ({count}; all of them: "
        f"`{check_command(path)}`). The file on disk was not changed."
    )


def check_command(path: str) -> str:
    """Return the command that shows every fault of a file, safe to give to a shell."""
    words = "reflector short-memory check"
    if _BENDS.search(path):
        return words
    option = "-- " if path.startswith("-") else ""
    shown = path if _PLAIN.fullmatch(path) else "'" + path.replace("'", "'\\''") + "'"
    return f"{words} {option}{shown}"


def quoted(path: str) -> str:
    """Write a path as one JSON string that stays on its line."""
    text = json.dumps(path, ensure_ascii=False)
    return _LOOSE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
