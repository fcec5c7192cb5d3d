"""The cached block that hooks print: the text, and the stamps under which it still holds."""

from __future__ import annotations

import contextlib

from reflector.core.errors import ReflectorError
from reflector.runtime.compiled import compile_block
from reflector.runtime.wiring import Context
from reflector.store.disk import write_atomic


def refresh(context: Context) -> None:
    """Compile the block anew and keep it."""
    with contextlib.suppress(ReflectorError):  # the next `reflector prompt` says what is wrong
        revision, block = compile_block(context)
        save(context, revision, block.text)


def save(context: Context, revision: str, text: str) -> None:
    """Keep a compiled block beside the stamp it was made of: the commit of main.

    The form is what `surface/hook.py` reads: lines `main <sha>`, an empty line, the block.
    """
    content = f"main {revision}\n\n{text}".encode("utf-8", "replace")
    with contextlib.suppress(OSError, ReflectorError):  # a cache that cannot be written is none
        write_atomic(context.agent.path / "block", content)
