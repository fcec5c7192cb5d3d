"""pygit2: what is changed without a git process: commits, refs, a small worktree, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pygit2
from pygit2.enums import CheckoutStrategy as To

from reflector.core.errors import RefMovedError
from reflector.vcs.port import Identity, ref_name
from reflector.vcs.reads import Reads, door

_BESIDE = To.FORCE | To.DONT_UPDATE_INDEX | To.DISABLE_PATHSPEC_MATCH


class Writes(Reads):
    """One repository or worktree, open for a change as well."""

    @door
    def create_commit(
        self, tree: str, parents: Sequence[str], message: str, who: Identity, when: datetime
    ) -> str:
        """Write a commit object that no ref names yet, and return its sha."""
        signature = pygit2.Signature(who.name, who.email, int(when.timestamp()), 0)
        made = self._repository.create_commit(
            None, signature, signature, message, pygit2.Oid(hex=tree), list(parents)
        )
        return str(made)

    @door
    def commit_worktree(
        self,
        branch: str,
        tip: str,
        folders: Sequence[str],
        message: str,
        who: Identity,
        when: datetime,
        *,
        amend: bool = False,
    ) -> str:
        """Commit the worktree's present content on its reserved branch and return the new tip.

        Takes every change to tracked files, and untracked files that are or lie below one of
        `folders`. Nothing changed: returns `tip`. With `amend` the commit replaces `tip`. Raises
        `RefMovedError` unless HEAD is this branch and the branch is at `tip`.
        """
        self._assert_at(branch, tip)
        self._stage(folders)
        tree = str(self._repository.index.write_tree())
        old = self.commit(tip)
        if tree == old.tree and not amend:
            return tip
        parents = old.parents if amend else (tip,)
        made = self.create_commit(tree, parents, message, who, when)
        self._assert_at(branch, tip).set_target(pygit2.Oid(hex=made), message.split("\n", 1)[0])
        return made

    @door
    def move_ref(self, ref: str, old: str, new: str | None, why: str = "") -> bool:
        """Move a ref from `old`, or delete it if `new` is None. False: it was not done, ask git."""
        try:
            found = self._repository.lookup_reference(ref_name(ref))
            if known := found.target == pygit2.Oid(hex=old):
                # Either compares once more, under the lock of the ref.
                found.set_target(pygit2.Oid(hex=new), why) if new else found.delete()
        except (KeyError, OSError, pygit2.GitError):
            return False
        return known

    @door
    def add_worktree(self, path: Path, branch: str, base: str) -> None:
        """Check `base` out at `path` on the new `branch`; on failure the branch goes again."""
        name, oid = ref_name(f"refs/heads/{branch}"), pygit2.Oid(hex=base)
        made = self._repository.references.create(name, oid)
        try:
            self._repository.add_worktree(path.name, str(path), made)
        except BaseException:
            made.delete()
            raise

    @door
    def check_out(self, commit: str, folder: Path, paths: Sequence[str]) -> None:
        """Write files of a commit below another folder; the index is left alone."""
        tree, below = self._repository[commit].peel(pygit2.Tree), str(folder)
        checkout: Callable[..., None] = self._repository.checkout_tree
        checkout(tree, directory=below, paths=list(paths), strategy=_BESIDE)

    def _assert_at(self, branch: str, tip: str) -> pygit2.Reference:
        name = ref_name(f"refs/heads/{branch}")
        head = self.head()
        if head.branch != branch or head.sha != tip:
            where = head.branch or "a detached commit"
            raise RefMovedError(
                f"The worktree is on {where} at {head.sha}, not on {branch} at {tip}.",
                expected=tip,
                found=head.sha or "",
            )
        return self._repository.lookup_reference(name)

    def _stage(self, folders: Sequence[str]) -> None:
        index = self._repository.index
        index.read(force=False)
        status = self.status()
        below = tuple(f"{folder.rstrip('/')}/" for folder in folders)
        fresh = [p for p in status.untracked if p in folders or p.startswith(below)]
        for path in (*status.unstaged, *fresh):
            if path.endswith("/"):
                continue  # a repository inside the worktree: validation names it
            place = self.path / path
            if place.is_symlink() or place.is_file():
                index.add(path)
            else:
                index.remove(path)
        index.write()
