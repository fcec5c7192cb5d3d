"""A memory with a validated run that is about to be integrated, for tests of what guards it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import structlog

from reflector.core.run import NEXT, Phase, Run
from reflector.runtime import birth
from reflector.runtime.bench import Bench
from reflector.runtime.integration import Validated
from reflector.runtime.judgement import scope_of
from reflector.runtime.wiring import Context, context
from reflector.store import reservations
from tests.support.journals import ME, NOW, REQUEST
from tests.support.repos import RUN, Repo
from tests.support.watching import QuietWatch

NEW = {"reference/new.md": "---\ndescription: something new\n---\nnew\n"}


def born(folder: Path) -> Context:
    """Make a memory."""
    found = context(str(folder / "home"))
    birth.init(found)
    return found


@contextmanager
def bench(memory: Context) -> Iterator[Bench]:
    """Open what a supervisor works with; its child is never started."""
    with memory.state() as state:
        yield Bench(memory, state, ME, structlog.get_logger(), QuietWatch(), ("false",))


def reserved(work: Bench, phase: Phase = Phase.RESERVED, **values: str) -> Run:
    """Reserve a run and take it to a phase; `values` are saved with its first move."""
    with work.state.transaction() as connection:
        reservations.reserve(connection, RUN, "reflection", REQUEST, (), ME, NOW)
    path = [Phase.RESERVED, *(then for (then,) in list(NEXT.values())[:-1])]
    for now, then in pairwise(path[: path.index(phase) + 1]):
        given = values if now is Phase.RESERVED else {}
        reservations.advance(work.state, RUN, ME.token, now, then, **given)
    return reservations.find(work.state.connection, RUN)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run in phase `integrating`, and its memory as a person sees it."""

    bench: Bench
    repo: Repo
    work: Validated


@contextmanager
def waiting(memory: Context) -> Iterator[Waiting]:
    """Bring a run with one good commit to the point where it would be merged."""
    repo = Repo(memory.agent.repo)
    base, tip = repo.sha("main"), repo.branch_with("memory/reflection-1-x", dict(NEW))
    with bench(memory) as opened:
        branch = "memory/reflection-1-x"
        run = reserved(opened, Phase.INTEGRATING, branch=branch, base=base, tip=tip)
        yield Waiting(opened, repo, Validated(run, base, tip, scope_of("reflection", ())))
