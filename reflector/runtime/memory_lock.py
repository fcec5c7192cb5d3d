"""The memory-write lock: whoever holds it alone changes main, after mending what a dead one left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from reflector.core.errors import ParentDirtyError, RefMovedError
from reflector.runtime.trouble import named
from reflector.runtime.wiring import Context
from reflector.store.disk import unusable
from reflector.store.locks import held
from reflector.vcs import index_lock, merge
from reflector.vcs.merge import Adopt, Change, Integrated, Integration, Refused, Undo, Write
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import ADOPTED, WRITTEN
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

_SIGNED = re.compile(rb"reflector (\S+) (\S+)\n")
_TRIES = 5

_Done = TypeVar("_Done")


@contextmanager
def memory_write(context: Context) -> Iterator[Porcelain]:
    """Hold the lock and give the door to changes of the memory. Never held across a model call.

    An `index.lock` that one of us signed is a dead one's: its owner would hold this lock.
    """
    lock, clock = context.agent.lock("memory"), context.ambient.clock
    with named(context.home.path), held(lock, clock, "writing this memory", seconds=60):
        git = Porcelain(Scrubbed(context.environ), context.agent.repo)
        mend(context, git)
        yield git


def land(
    context: Context, git: Porcelain, change: Write | Adopt, subject: str, *trailers: str
) -> Integrated | Refused:
    """Commit a change that no run made. Raises RefMovedError when main has left its base."""
    ambient = context.ambient
    run_id, name = ambient.run_id(), ADOPTED if isinstance(change, Adopt) else WRITTEN
    message = "\n".join((subject, "", f"{name}: {run_id}", *trailers, ""))
    return merge.integrate(
        git,
        Integration(change, message, ambient.clock.now(), run_id, ambient.token()),
        save_merge=lambda _sha: None,  # after a death in between git itself tells what landed
        sleep=ambient.clock.sleep,
    )


def on_top_of_main(attempt: Callable[[], _Done]) -> _Done:
    """Return what an attempt comes to, made again when a person commits at that very moment.

    Raises ParentDirtyError when they do so every time.
    """
    for _ in range(_TRIES):
        try:
            return attempt()
        except RefMovedError:
            continue
    raise ParentDirtyError(
        "The memory changes too often to write to it right now.", hint="Try again in a moment."
    )


def mend(context: Context, git: Porcelain) -> None:
    """Finish or take back what one of us began who died; for whoever holds the write lock."""
    try:
        signed = _SIGNED.fullmatch((git.git_dir / "index.lock").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise unusable(git.git_dir, error) from error
    if signed is None:
        return
    run_id, token = (part.decode("ascii", "replace") for part in signed.groups())
    with Reads(context.agent.repo) as reads:
        head = reads.head()
        landed = reads.commit(head.sha) if head.branch == "main" and head.sha else None
    change = _change(landed.message, run_id) if landed else None
    if landed and landed.parents and change:
        # Of the change only that matters here, and whose lock and copy it is.
        job = Integration(change, "", context.ambient.clock.now(), run_id, token)
        merge.finish_follow(git, job, landed.parents[0], landed.sha)
    else:
        index_lock.release(git.git_dir, run_id, token)


def _change(message: str, run_id: str) -> Change | None:
    """Tell from a commit's trailers how its files come to their places; None if it is not ours."""
    lines = message.splitlines()
    if f"{ADOPTED}: {run_id}" in lines:
        return Adopt("", {})
    ours = ("Reflector-Run", "Reflector-Undo", WRITTEN)
    return Undo("") if any(f"{name}: {run_id}" in lines for name in ours) else None
