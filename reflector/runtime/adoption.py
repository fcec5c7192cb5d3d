"""Hand edits taken into main as the person's own commit; the files themselves are never touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflector.core.errors import GitError, ParentDirtyError, ReflectorError, RefMovedError
from reflector.memory.codes import shown
from reflector.memory.finding import Finding
from reflector.memory.tree import Tree, changes, is_document
from reflector.runtime import block_cache
from reflector.runtime.forget_intent import refuse_unfinished
from reflector.runtime.hand_edits import Edited, files_of, judge_edits, read_edits, with_edits
from reflector.runtime.memory_lock import ADOPTED, memory_write
from reflector.runtime.reasons import subject
from reflector.runtime.wiring import Context
from reflector.vcs import merge
from reflector.vcs.merge import Adopt, Files, Integrated, Integration
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import Head
from reflector.vcs.reads import Reads

QUIET_SECONDS = 60
_MANY = 10
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was committed (None: nothing), and what stays uncommitted with the reason."""

    commit: str | None = None
    paths: tuple[str, ...] = ()
    left: tuple[Finding, ...] = ()
    hindrance: str = ""


@dataclass(frozen=True, slots=True)
class _Look:
    """Main, and the files on top of it that can be taken."""

    main: str
    files: Files
    left: tuple[Finding, ...]


def adopt(context: Context) -> Adopted:
    """Take in what a person edited and left alone since; what hinders that is only told of.

    Called where work begins that rests on main: never by a hook, a prompt or a read.
    """
    try:
        with memory_write(context) as git:
            done = adopt_held(context, git)
            if done.commit is not None:
                block_cache.refresh(context)
            return done
    except ReflectorError as error:
        return Adopted(hindrance=error.message)


def adopt_held(context: Context, git: Porcelain) -> Adopted:
    """Do the same for a caller who holds the memory-write lock."""
    try:
        return _once(context, git, reason="", quiet=QUIET_SECONDS)
    except ReflectorError as error:
        return Adopted(hindrance=error.message)


def commit(context: Context, reason: str = "") -> Adopted:
    """Take in what a person edited, now: they say that they are done.

    Raises ParentDirtyError while something is staged, `index.lock` exists, an operation is in
    progress or the repository is not on main.
    """
    context.require()
    chosen = subject(reason) if reason else ""
    with memory_write(context) as git:
        for _ in range(_TRIES):
            try:
                done = _once(context, git, chosen, quiet=0)
            except RefMovedError:
                continue
            block_cache.refresh(context)
            return done
    raise ParentDirtyError(
        "The memory changes too often to write to it right now.", hint="Try again in a moment."
    )


def _once(context: Context, git: Porcelain, reason: str, quiet: int) -> Adopted:
    refuse_unfinished(context.agent)
    found = _look(context, git, quiet)
    if not found.files:
        return Adopted(left=found.left)
    run_id = context.ambient.run_id()
    line = reason or _summary(tuple(found.files))
    done = merge.integrate(
        git,
        Integration(
            Adopt(found.main, found.files),
            f"{line}\n\n{ADOPTED}: {run_id}\nMemory-Writer: person\n",
            context.ambient.clock.now(),
            run_id,
            context.ambient.token(),
        ),
        save_merge=lambda _sha: None,  # after a death in between git itself tells what landed
        sleep=context.ambient.clock.sleep,
    )
    if isinstance(done, Integrated):
        return Adopted(done.sha, done.changed, found.left)
    raise _hindered(done.detail)


def _look(context: Context, git: Porcelain, quiet: int) -> _Look:
    with Reads(context.agent.repo) as reads:
        status = reads.status()
        head = reads.head()
        if why := _hindrance(git, head, status.staged):
            raise _hindered(why)
        main = str(head.sha)
        edits, left = read_edits(context.agent.repo, (*status.unstaged, *status.untracked))
        now = context.ambient.clock.now().timestamp()
        early = {path for path, edit in edits.items() if quiet and now - edit.at < quiet}
        before = reads.tree(main)
        if quiet and _vanished(before, edits):
            early |= {path for path, edit in edits.items() if edit.content is None}
        calm = {path: edit for path, edit in edits.items() if path not in early}
        good, refused = judge_edits(before, calm)
        left += [*refused, *(_early(path) for path in sorted(early))]
        after = with_edits(before, good)
        return _Look(main, files_of(after, changes(before, after)), tuple(left))


def _hindrance(git: Porcelain, head: Head, staged: tuple[str, ...]) -> str:
    """Say why nothing can be committed for a person now, "" if it can."""
    if head.operation is not None:
        return f"The memory repository is in the middle of a {head.operation}."
    if head.branch != "main":
        return f"The memory repository is on {head.branch or 'no branch'}, not on main."
    if head.sha is None:
        raise GitError("The memory repository has no commit on main that can be read.")
    if (git.git_dir / "index.lock").exists():
        return f"Another git command holds {git.git_dir / 'index.lock'}."
    return f"{shown(staged[0])} is staged for a commit." if staged else ""


def _vanished(before: Tree, edits: Mapping[str, Edited]) -> bool:
    """Tell whether so much is gone at once that nobody takes it for an edit without being told."""
    gone = sum(edit.content is None for edit in edits.values())
    if gone < _MANY:
        return False
    return gone * 2 > sum(is_document(leaf.path) for leaf in before.leaves())


def _early(path: str) -> Finding:
    said = "It has changed just now, or too much is gone; `reflector memory commit` takes it in."
    return Finding("not_quiet", "warning", shown(path), 0, said)


def _summary(paths: tuple[str, ...]) -> str:
    return f"edit {shown(paths[0])}" if len(paths) == 1 else f"edit {len(paths)} documents"


def _hindered(why: str) -> ParentDirtyError:
    return ParentDirtyError(
        f"Hand edits are not committed now: {why}",
        hint="Finish that in the memory repository, then `reflector memory commit`.",
    )
