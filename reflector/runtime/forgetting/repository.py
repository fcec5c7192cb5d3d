"""Forgetting in the memory repository: one commit, or the whole history written anew."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError, ParentDirtyError
from reflector.memory.purge import Purge
from reflector.memory.tree import Tree
from reflector.runtime.memory_lock import land, on_top_of_main
from reflector.runtime.remains import dead_locks
from reflector.runtime.wiring import Context
from reflector.store import forgetting
from reflector.store.state import State
from reflector.vcs.merge import Integrated, Write
from reflector.vcs.objects import Objects
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN, ref_name
from reflector.vcs.prune import prune
from reflector.vcs.reads import Reads
from reflector.vcs.replace import Replacement, catch_up, in_the_way, replace
from reflector.vcs.rewrite import Rewriter
from reflector.vcs.scrub import Scrubbed
from reflector.vcs.whereabouts import trouble
from reflector.vcs.worktree import BRANCHES

KEPT = "refs/reflector/"
_OURS = re.compile(r"\d+-\d{8}T\d{6}-[0-9a-f]{8}\Z")
_REMOTE = "refs/remotes/"
_SUBJECT = "chore: something was forgotten"

Refs = Mapping[str, tuple[str, str]]
"""Refs by name: where they were, where they go."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes from one document: how many lines, or all of it. `content` is what is left."""

    path: str
    lines: int
    content: bytes | None
    mode: int


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory repository in the hands of whoever holds all its locks."""

    context: Context
    git: Porcelain
    state: State
    purge: Purge

    def head(self) -> str:
        """Return where main is; raise if the repository is not simply on it."""
        with Reads(self.git.repo) as reads:
            head = reads.head()
        why = trouble(head.branch, head.operation)
        if why or head.sha is None:
            raise ParentDirtyError(
                why or "The memory repository has no commit on main.",
                hint="Finish that first; nothing was changed.",
            )
        return head.sha

    def refuse(self, *, history: bool) -> None:
        """Raise ParentDirtyError when uncommitted work holds it, or would not outlive a rewrite."""
        self.head()
        removed = {each.path for each in removals(self.context, self.purge)}
        with Reads(self.git.repo) as reads:
            status, ignored = reads.status_and_ignored()
            refs = reads.refs()
            loose = {*status.staged, *status.unstaged, *status.untracked, *ignored}
            busy = (*reads.occupied(sorted(removed)), *filter(self._holds, loose))
        if busy:
            raise in_the_way(tuple(dict.fromkeys(busy)))
        if not history:
            return
        if "refs/stash" in refs:
            raise ParentDirtyError(
                "The memory repository has stashed changes, which a rewrite would lose.",
                hint="`git stash pop` or `git stash drop` there, then run the same command again.",
            )
        odd = [ref for ref in refs if not _is_writable(ref)]
        if odd:
            raise ParentDirtyError(
                f"The memory repository has a ref that cannot be moved by name ({odd[0]!r}).",
                hint="Rename it or delete it, then run the same command again.",
            )
        theirs = [each.name for each in self._worktrees() if not _OURS.fullmatch(each.name)]
        if theirs:
            raise ParentDirtyError(
                f"The memory repository has another worktree of yours ({', '.join(theirs)}).",
                hint="`git worktree remove` it, then run the same command again.",
            )

    def _holds(self, path: str, root: Path | None = None) -> bool:
        place = (root or self.git.repo) / path
        if self.purge.path:
            return self.purge.file(path.rstrip("/"), b"") is None
        if self.purge.needle.said(path):
            return True
        if place.is_dir() and not place.is_symlink():
            return self._inside(place)
        return place.is_file() and self.purge.needle.within(place.read_bytes())

    def _worktrees(self) -> list[Path]:
        return sorted((self.git.git_dir / "worktrees").glob("*"))

    def commit(self) -> str:
        """Take it out of main by one commit; return its sha, "" if main does not hold it."""
        return on_top_of_main(self._commit)

    def _commit(self) -> str:
        main, gone = self.head(), removals(self.context, self.purge)
        if not gone:
            return ""
        files = {
            each.path: None if each.content is None else (each.mode, each.content) for each in gone
        }
        change = Write(main, files)
        done = land(self.context, self.git, change, _SUBJECT, "Memory-Writer: person")
        if isinstance(done, Integrated):
            return done.sha
        raise in_the_way(done.paths, done.detail)

    def drop_worktrees(self, *, every: bool) -> list[str]:
        """Remove what dead runs left checked out, if it holds it; their branches stay."""
        gone = []
        for place in sorted(self.context.agent.worktrees.glob("*")):
            if _OURS.fullmatch(place.name) and (every or self._inside(place)):
                self._remove(place)
                gone.append(place.name)
        for registered in self._worktrees():
            if _OURS.fullmatch(registered.name):
                self.git.forget_worktree(self.context.agent.worktrees / registered.name)
        return gone

    def _remove(self, place: Path) -> None:
        if self.git.registered(place):
            self.git.worktree_remove(place, force=True)
        shutil.rmtree(place, ignore_errors=True)

    def _inside(self, folder: Path) -> bool:
        paths = (str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
        return any(self._holds(path, folder) for path in paths)

    def holding_refs(self) -> dict[str, str]:
        """Return the kept tips, and branches of dead runs, whose tree holds it."""
        found = {}
        with Reads(self.git.repo) as reads:
            for ref, sha in reads.refs().items():
                if ref.startswith((KEPT, f"refs/heads/{BRANCHES}")):
                    tree = reads.tree(sha)
                    if any(True for _ in _changed(tree, self.purge)):
                        found[ref] = sha
        return found

    def drop_refs(self) -> list[str]:
        """Drop the refs that hold it; their runs name them no longer."""
        found = self.holding_refs()
        for ref, sha in found.items():
            forgetting.drop_kept(self.state, ref)
            self.git.delete_ref(ref, sha)
        return sorted(found)

    def rewrite(
        self, job: Callable[[Refs], Replacement]
    ) -> Generator[str, None, Mapping[str, str]]:
        """Write history anew and move every ref; return what each commit became.

        `job` gets the refs and saves them before anything moves.
        """
        with Reads(self.git.repo) as reads:
            named = reads.refs().items()
            refs = {ref: sha for ref, sha in named if not sha.startswith("-> ")}
        with Objects(self.git.repo) as objects, objects.in_bulk():
            rewriter = Rewriter(objects, self.purge)
            moves = {ref: (sha, rewriter.target(sha)) for ref, sha in refs.items()}
        moved = {ref: pair for ref, pair in moves.items() if pair[0] != pair[1]}
        yield "written"
        commits = {old: new for old, new in rewriter.commits.items() if old != new}
        own = {ref: pair for ref, pair in moved.items() if not ref.startswith(_REMOTE)}
        own.setdefault(MAIN, moves[MAIN])
        replacement = job(own)
        yield "intended"
        forgetting.note_rewritten(self.state, commits, self.context.ambient.now())
        yield "noted"
        yield from replace(self.git, replacement, self.context.ambient.clock.sleep)
        for ref in moved.keys() - own.keys():  # what a remote had at some time; it still has it
            self.git.delete_ref(ref, moved[ref][0])
        yield "replaced"
        return commits

    def catch_up(self, job: Replacement | None) -> None:
        """Finish what a dead one had begun: its locks of git go, and files follow where main moved."""
        for lock in dead_locks(self.context):
            lock.unlink(missing_ok=True)
        if job is None:
            return
        catch_up(self.git, job, self.context.ambient.clock.sleep)

    def prune(self) -> None:
        """Let every old object go."""
        prune(Scrubbed(self.context.environ), self.git, self.context.ambient.clock.sleep)


def _is_writable(ref: str) -> bool:
    try:
        return bool(ref_name(ref))
    except GitError:
        return False


def removals(context: Context, purge: Purge) -> list[Removal]:
    """Return what goes from the documents of main."""
    with Reads(context.agent.repo) as reads:
        return list(_changed(reads.tree(reads.resolve(MAIN) or ""), purge))


def _changed(tree: Tree, purge: Purge) -> Iterator[Removal]:
    for leaf in tree.leaves():
        if not leaf.regular:
            continue
        content = tree.reader.content(leaf.oid)
        left = purge.file(leaf.path, content)
        if left != content:
            before = content.count(b"\n")
            lines = before - (left.count(b"\n") if left is not None else 0)
            yield Removal(leaf.path, lines, left, leaf.mode)
