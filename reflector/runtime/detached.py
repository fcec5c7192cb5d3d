"""A supervisor started in a session of its own: it outlives whoever started it."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Sequence

from reflector.runtime.wiring import Context

_SECONDS = 20.0


def start(
    context: Context, supervisor: Sequence[str], *more: str, out: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a detached supervisor; `more` words follow home and identity."""
    command = [*supervisor, str(context.home.path), context.agent.identity, *more]
    with context.agent.log.with_suffix(".err").open("ab") as trouble:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            env=_environment(context),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=trouble,
            start_new_session=True,
        )


def launched(context: Context, supervisor: Sequence[str]) -> str:
    """Start a detached supervisor and return its first word: whether it owns the slot."""
    process = start(context, supervisor, out=subprocess.PIPE)
    word = _first_word(process)
    # It lives on without us: neither waited for nor a zombie's parent for long.
    process.returncode = 0
    return word or f"did not start: see {context.agent.log.with_suffix('.err')}"


def _environment(context: Context) -> dict[str, str]:
    """Pass on the person's environment but for what redirects git or marks a harness's child."""
    dropped = ("GIT_", "CLAUDE", "CODEX_", "REFLECTOR_HOME", "REFLECTOR_IDENTITY")
    return {k: v for k, v in context.environ.items() if not k.startswith(dropped)}


def _first_word(process: subprocess.Popen[bytes]) -> str:
    if process.stdout is None:  # it was asked for as a pipe
        raise AssertionError
    with process.stdout as stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        if not selector.select(_SECONDS):
            return ""
        return os.read(stream.fileno(), 64).decode("ascii", "replace").strip()
