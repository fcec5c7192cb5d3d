"""Changes of the persona that nobody made by hand: judged, one commit each, and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from reflector.core.days import local_day
from reflector.core.diary import Diary
from reflector.core.errors import NotFoundError, UsageError
from reflector.pipelines.diary import guard_rails, persona_text, records
from reflector.pipelines.diary.guard_rails import Proposal
from reflector.runtime.diary import seeds
from reflector.runtime.diary.names import MOVES, PERSONA
from reflector.runtime.diary.repository import Repository
from reflector.runtime.wiring import Context
from reflector.store import scheduling
from reflector.store.state import State
from reflector.vcs.port import CommitInfo, trailers
from reflector.vcs.reads import Reads

_LEAST_NAMED = 4
"""Digits by which a commit may be named."""
_LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class Changed:
    """How many proposals became commits, and why the others did not, by reason."""

    commits: tuple[str, ...]
    refused: tuple[str, ...]


def propose(
    context: Context, state: State, proposals: Iterable[Proposal], clean: Callable[[str], str]
) -> Changed:
    """Judge each proposal and commit what may be.

    What was changed is remembered before it is committed: whoever dies in between has changed too
    little that day, never too much.
    """
    repository = Repository(context)
    commits: list[str] = []
    refused: list[str] = []
    for one in proposals:
        said = replace(one, new=clean(one.new))
        before = repository.read(quiet=0).persona  # what a person wrote a moment ago comes first
        known = guard_rails.past(scheduling.facts(state.connection, MOVES))
        today = local_day(context.ambient.clock.now())
        found = guard_rails.judged(before, said, known, today, _shipped(), persona_text.may_change)
        if found.past != known:
            with state.transaction() as connection:
                scheduling.set_mark(connection, MOVES, json.dumps(found.past.as_json()))
        if found.why is not None:
            refused.append(found.why)
        elif commit := _commit(repository, said.kind, before, found.persona):
            commits.append(commit)
    return Changed(tuple(commits), tuple(refused))


def _shipped() -> str:
    return seeds.files()[records.PERSONA].decode()


def _commit(repository: Repository, kind: str, before: str, after: str) -> str | None:
    def change(now: Diary) -> Diary:
        # A person was quicker: their text stands.
        return replace(now, persona=after) if now.persona == before else now

    return repository.change("change the persona", "persona", change, trailers=[(PERSONA, kind)])


@dataclass(frozen=True, slots=True)
class Undone:
    """An automatic change that was taken back, and the commit that did it."""

    change: str
    commit: str


def undo(context: Context, named: str = "") -> Undone:
    """Take one automatic change of the persona back by a new commit, the newest by default.

    It does not come again by itself. Raises NotFoundError, UsageError.
    """
    repository = Repository(context)
    found = _found(repository, named)
    old, new = _lines(repository, found)

    def change(now: Diary) -> Diary:
        return replace(now, persona=guard_rails.undone(now.persona, old, new))

    commit = repository.change("undo a change of the persona", "undo", change)
    if commit is None:
        raise UsageError(
            f"What the commit {found.sha[:12]} changed is not there any more.",
            hint="Nothing was changed; `persona.md` is yours to edit.",
        )
    return Undone(found.sha, commit)


def _found(repository: Repository, named: str) -> CommitInfo:
    if not (head := repository.head()) or len(named) in range(1, _LEAST_NAMED):
        raise _unknown(named)
    with Reads(repository.path) as reads:
        for one in reads.log(head, limit=_LOOKED_AT):
            ours = any(line.startswith(f"{PERSONA}: ") for line in trailers(one.message))
            if ours and len(one.parents) == 1 and one.sha.startswith(named.casefold()):
                return one
    raise _unknown(named)


def _lines(repository: Repository, one: CommitInfo) -> tuple[str, str]:
    """Return the line that an automatic change took out ("" = none), and the one it put in."""
    before, after = (repository.at(sha).persona.split("\n") for sha in (one.parents[0], one.sha))
    gone = [line for line in before if line not in after]
    came = [line for line in after if line.strip() and line not in before]
    return (gone[0] if gone else ""), (came[0] if came else "")


def _unknown(named: str) -> NotFoundError:
    what = f"{named[:64]!r} is no" if named else "There is no"
    return NotFoundError(
        f"{what} automatic change of this diary's persona.",
        hint="`git log` in the diary's folder shows them as 'change the persona'.",
    )
