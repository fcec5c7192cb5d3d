"""One change of the memory that no run makes: judged, committed and brought to the files at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reflector.core.errors import (
    DocumentError,
    GitError,
    ParentDirtyError,
    PathError,
    ReflectorError,
)
from reflector.memory.commit_message import Update
from reflector.memory.edit import Scope
from reflector.memory.finding import Finding
from reflector.memory.overlay import overlaid
from reflector.memory.rules import check
from reflector.memory.tree import Change as Changed
from reflector.memory.tree import Tree, changes
from reflector.runtime import block_cache, push
from reflector.runtime.adoption import adopt_held
from reflector.runtime.forgetting.intent import refuse_unfinished
from reflector.runtime.hand_edits import files_of, links_on_the_way
from reflector.runtime.judgement import system_limit, together
from reflector.runtime.memory_lock import land, memory_write, on_top_of_main
from reflector.runtime.reasons import subject, trailer
from reflector.runtime.trouble import way_out
from reflector.runtime.wiring import Context
from reflector.vcs.merge import Files, Integrated, Refused, Write
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_TOLD = ("link_broken", "skill_still_named")
"""What refuses a run, while whoever moves a document by hand mends the links afterwards."""

_FOR_RUNS = ("no_user_evidence", "script_changed", "undone_before")
"""What sends a run to a person: here somebody asked for the change."""


Change = Callable[[Tree], Mapping[str, bytes | None]]
"""Works out a change on main as it is under the lock: new contents by path, None removes."""

Writer = Literal["person", "agent"]


class NoChangeError(ReflectorError):
    """What was asked for is so already; there is nothing to commit."""

    code = "no_change"


@dataclass(frozen=True, slots=True)
class Written:
    """The commit that was made, and the paths that it changed."""

    commit: str
    paths: tuple[str, ...]
    warnings: tuple[Finding, ...] = ()


def write(
    context: Context,
    change: Change,
    reason: str,
    *,
    writer: Writer = "person",
    conversation: str = "",
    trailers: Callable[[], Iterable[tuple[str, str]]] = tuple,
) -> Written:
    """Make one change of the memory, all or nothing: one commit on main, and the files with it.

    `reason` is its subject: one line. `change` may be called again when main moves meanwhile, and
    `trailers` after it each time: names and values that tell of what it did.
    Raises DocumentError with the first thing that the validator refuses, NoChangeError,
    ParentDirtyError when uncommitted work is in the way, BusyError, UsageError for a bad reason.
    """
    context.require()
    lines = [subject(reason), f"Memory-Writer: {writer}"]
    if conversation:
        lines.append(trailer("Conversation", conversation))
    with memory_write(context) as git:
        refuse_unfinished(context.agent)
        adopt_held(context, git)
        done = on_top_of_main(lambda: _once(context, git, change, lines, trailers, writer))
        block_cache.refresh(context)
        push.begin(context)
    return done


@dataclass(frozen=True, slots=True)
class _Planned:
    """What is to be written on top of which main, and what to tell of it."""

    main: str
    files: Files
    warnings: tuple[Finding, ...]


def _once(
    context: Context,
    git: Porcelain,
    change: Change,
    lines: Sequence[str],
    trailers: Callable[[], Iterable[tuple[str, str]]],
    writer: Writer,
) -> Written:
    plan = _plan(context, change, lines[0], writer)
    said = (*lines, *(trailer(name, value) for name, value in trailers()))
    return _answer(land(context, git, Write(plan.main, plan.files), *said), plan.warnings)


def _plan(context: Context, change: Change, reason: str, writer: Writer) -> _Planned:
    """Work a change out and judge it; no object is written before it is accepted."""
    with Reads(context.agent.repo) as reads:
        main = reads.resolve(MAIN)
        if main is None:
            raise GitError(f"The memory {context.agent.repo} has no commit on main.")
        before = reads.tree(main)
        after = overlaid(before, change(before))
        changed = changes(before, after)
        if not changed:
            raise NoChangeError(
                "The memory says so already; nothing was changed.",
                hint="`reflector memory cat PATH` shows what is there.",
            )
        _refuse_links(context.agent.repo, changed)
        scope, updates = _judged_as(context, writer, reason, changed)
        warnings = _refuse(check(before, after, scope, updates))
        return _Planned(main, files_of(after, changed), warnings)


def _judged_as(
    context: Context, writer: Writer, reason: str, changed: Sequence[Changed]
) -> tuple[Scope, Sequence[Update]]:
    """Return how a change is judged. An agent keeps to what a run keeps to.

    What it deletes it was told to delete: the reason of its call stands for the run's own.
    """
    if writer == "person":
        return Scope(writer="person"), ()
    scope = Scope(system_tokens=system_limit(context.settings))
    return scope, [Update(reason, path=each.path, reason="forget") for each in changed]


def _refuse_links(repo: Path, changed: Sequence[Changed]) -> None:
    """Refuse a path that leads elsewhere by a link; the way to the memory itself may be one."""
    for each in changed:
        if links_on_the_way(repo, each.path):
            raise PathError(
                f"{each.path}: a symbolic link is on the way.",
                hint="Take the link out of the memory; nothing was changed.",
                path=each.path,
                line=0,
                code="symlink",
                sentence="A symbolic link is on the way.",
            )


def _refuse(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Refuse what is wrong; return what is only to be told of."""
    errors = [each for each in findings if each.severity == "error" and each.code not in _TOLD]
    if not errors:
        return tuple(each for each in findings if each.code not in _FOR_RUNS)
    first = errors[0]
    said = [f"{each.path}:{each.line}: {each.message}" for each in errors]
    raise (PathError if first.code.startswith("path_") else DocumentError)(
        f"The change was refused: {said[0]}",
        hint="Nothing was changed. Mend that and try again.",
        detail=together(said[1:]),
        path=first.path,
        line=first.line,
        code=first.code,
        sentence=first.message,
    )


def _answer(done: Integrated | Refused, warnings: tuple[Finding, ...]) -> Written:
    if isinstance(done, Integrated):
        return Written(done.sha, done.changed, warnings)
    raise ParentDirtyError(
        " ".join(filter(None, (f"The memory was not changed: {done.detail}", _listed(done.paths)))),
        hint=way_out(
            done.detail,
            done.paths,
            "`reflector memory commit` takes in what you edited by hand; then try again.",
        ),
        paths=", ".join(done.paths),
    )


def _listed(paths: Sequence[str]) -> str:
    return f"({', '.join(paths[:5])}{', …' if len(paths) > 5 else ''})" if paths else ""
