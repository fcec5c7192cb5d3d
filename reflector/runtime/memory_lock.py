"""The memory-write lock: whoever holds it alone changes main, after mending what a dead one left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from reflector.runtime.trouble import named
from reflector.runtime.wiring import Context
from reflector.store.disk import unusable
from reflector.store.locks import held
from reflector.vcs import merge
from reflector.vcs.merge import Integration, Undo
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

_SIGNED = re.compile(rb"reflector (\S+) (\S+)\n")


@contextmanager
def memory_write(context: Context) -> Iterator[Porcelain]:
    """Hold the lock and give the door to changes of the memory. Never held across a model call.

    An `index.lock` that one of us signed is a dead one's: its owner would hold this lock.
    """
    lock, clock = context.agent.lock("memory"), context.ambient.clock
    with named(context.home.path), held(lock, clock, "writing this memory", seconds=60):
        git = Porcelain(Scrubbed(context.environ), context.agent.repo)
        _mend(context, git)
        yield git


def _mend(context: Context, git: Porcelain) -> None:
    try:
        signed = _SIGNED.fullmatch((git.git_dir / "index.lock").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise unusable(git.git_dir, error) from error
    if signed is None:
        return
    run_id, token = (part.decode("ascii", "replace") for part in signed.groups())
    now = context.ambient.clock.now()
    # Only whose lock and copy it is matters here, not the change itself.
    job = Integration(Undo(""), "", now, run_id, token)
    with Reads(context.agent.repo) as reads:
        head = reads.head()
        landed = reads.commit(head.sha) if head.branch == "main" and head.sha else None
    names = {f"Reflector-Run: {run_id}", f"Reflector-Undo: {run_id}"}
    if landed and landed.parents and names & set(landed.message.splitlines()):
        merge.finish_follow(git, job, landed.parents[0], landed.sha)
    else:
        merge.release(git.git_dir, run_id, token)
