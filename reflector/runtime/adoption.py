"""Hand edits taken into main as the person's own commit; the files themselves are never touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflector.core.errors import GitError, ParentDirtyError, ReflectorError
from reflector.memory.codes import shown
from reflector.memory.finding import Finding
from reflector.memory.tree import Tree, changes, is_document
from reflector.runtime import block_cache
from reflector.runtime.forgetting.intent import refuse_unfinished
from reflector.runtime.hand_edits import Edited, files_of, judge_edits, read_edits, with_edits
from reflector.runtime.memory_lock import land, memory_write, on_top_of_main
from reflector.runtime.reasons import subject
from reflector.runtime.wiring import Context
from reflector.vcs.merge import Adopt, Files, Integrated
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import Head
from reflector.vcs.reads import Reads
from reflector.vcs.whereabouts import trouble

_QUIET_SECONDS = 60
_MANY = 10


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was committed (None: nothing), and what stays uncommitted with the reason."""

    commit: str | None = None
    paths: tuple[str, ...] = ()
    left: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Look:
    """Main, and the files on top of it that can be taken."""

    main: str
    files: Files
    left: tuple[Finding, ...]


def adopt(context: Context) -> Adopted:
    """Take in what a person edited and left alone since; nothing when something hinders that.

    What that is, `commit` says, and `status` what stays. Called where work begins that rests on main: never by a hook, a prompt or a read.
    """
    try:
        with memory_write(context) as git:
            done = adopt_held(context, git)
            if done.commit is not None:
                block_cache.refresh(context)
            return done
    except ReflectorError:
        return Adopted()


def adopt_held(context: Context, git: Porcelain) -> Adopted:
    """Do the same for a caller who holds the memory-write lock."""
    try:
        return _once(context, git, reason="", quiet=_QUIET_SECONDS)
    except ReflectorError:
        return Adopted()


def commit(context: Context, reason: str = "") -> Adopted:
    """Take in what a person edited, now: they say that they are done.

    Raises ParentDirtyError while something is staged, `index.lock` exists, an operation is in
    progress or the repository is not on main.
    """
    context.require()
    chosen = subject(reason) if reason else ""
    with memory_write(context) as git:
        done = on_top_of_main(lambda: _once(context, git, chosen, quiet=0))
        block_cache.refresh(context)
    return done


def _once(context: Context, git: Porcelain, reason: str, quiet: int) -> Adopted:
    refuse_unfinished(context.agent)
    found = _look(context, git, quiet)
    if not found.files:
        return Adopted(left=found.left)
    line = reason or _summary(tuple(found.files))
    done = land(context, git, Adopt(found.main, found.files), line, "Memory-Writer: person")
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
    if why := trouble(head.branch, head.operation):
        return why
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
