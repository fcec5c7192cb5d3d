"""pygit2: objects, refs, trees, history, status, and a merge in memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Concatenate, ParamSpec, Self, TypeVar

import pygit2
from pygit2.enums import ConfigLevel, RepositoryOpenFlag, SortMode
from pygit2.enums import FileStatus as Flag

from reflector.core.ambient import stamp
from reflector.core.errors import GitError, NotFoundError
from reflector.memory.tree import Leaf, Listed, Tree, changes
from reflector.vcs.port import (
    IN_PROGRESS,
    CommitInfo,
    FileStatus,
    Head,
    Identity,
    MergePlan,
    trailers,
)
from reflector.vcs.untouched import untouched

# libgit2 reads the person's configuration, ignore and attribute files whatever the environment
# says: it looks in these folders, so there are none.
for _level in (ConfigLevel.SYSTEM, ConfigLevel.GLOBAL, ConfigLevel.XDG, ConfigLevel.PROGRAMDATA):
    pygit2.settings.search_path[_level] = ""
pygit2.settings.enable_fsync_gitdir(value=True)
# Owners are judged by `safe.directory`, which lived in the folders emptied above; git itself gets
# it as an option. Reading a stranger's repository here is harmless: libgit2 starts no program.
pygit2.settings.owner_validation = False

_STAGED = (
    Flag.INDEX_NEW
    | Flag.INDEX_MODIFIED
    | Flag.INDEX_DELETED
    | Flag.INDEX_RENAMED
    | Flag.INDEX_TYPECHANGE
    | Flag.CONFLICTED
)
_UNSTAGED = (
    Flag.WT_MODIFIED
    | Flag.WT_DELETED
    | Flag.WT_TYPECHANGE
    | Flag.WT_RENAMED
    | Flag.WT_UNREADABLE
    | Flag.CONFLICTED
)

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")
_Owner = TypeVar("_Owner")


def door(
    method: Callable[Concatenate[_Owner, _Given], _Got],
) -> Callable[Concatenate[_Owner, _Given], _Got]:
    """Turn the library's errors into ours, once."""

    @functools.wraps(method)
    def call(owner: _Owner, /, *given: _Given.args, **named: _Given.kwargs) -> _Got:
        try:
            return method(owner, *given, **named)
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            where = getattr(owner, "path", "")
            why = f"The git repository {where} could not be used ({method.__name__})."
            raise GitError(why, detail=str(error)) from error

    return call


class Reads:
    """One repository or worktree, open for reading. Reopen it after a change by git.

    Also the `ObjectReader` of a memory tree.
    """

    def __init__(self, path: Path, git_dir: Path | None = None) -> None:
        """Open `path` and assert that its git dir is the expected one (`path/.git` by default).

        Nothing is searched for: a lost `.git` must not lead into a repository further up.
        """
        expected = (git_dir or path / ".git").resolve()
        try:
            self._repository = pygit2.Repository(str(path), RepositoryOpenFlag.NO_SEARCH)
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            why = f"There is no usable git repository at {path}."
            raise GitError(why, detail=str(error), path=str(path)) from error
        self._repository.set_ident(Identity().name, Identity().email)  # in logs of refs
        self.git_dir = Path(self._repository.path)
        self.path = path
        if self.git_dir.resolve() != expected:
            self.close()
            why = f"{path} belongs to another repository than expected."
            raise GitError(why, expected=str(expected), found=str(self.git_dir))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files that the library holds open."""
        self._repository.free()

    @door
    def head(self) -> Head:
        """Tell where HEAD points and whether somebody is in the middle of something."""
        target = self._repository.lookup_reference("HEAD").raw_target
        operation = next(
            (kind for name, kind in IN_PROGRESS.items() if (self.git_dir / name).exists()), None
        )
        if not isinstance(target, bytes):
            return Head(None, str(target), operation)
        name = _text(target)
        return Head(name.removeprefix("refs/heads/"), self.resolve(name), operation)

    @door
    def resolve(self, ref: str) -> str | None:
        """Return the sha of the commit that a ref or revision names, None if there is none."""
        try:
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    @door
    def refs(self) -> dict[str, str]:
        """Return every ref: its sha, or `-> name` if it is symbolic."""
        found: dict[str, str] = {}
        for raw in self._repository.raw_listall_references():
            if ref := self._repository.references.get(name := _text(raw)):  # else deleted since
                target = ref.raw_target
                found[name] = f"-> {_text(target)}" if isinstance(target, bytes) else str(target)
        return found

    @door
    def settings(self, file: Path) -> dict[str, tuple[str, ...]]:
        """Return the parsed entries of one configuration file, includes followed."""
        found: dict[str, tuple[str, ...]] = {}
        for entry in pygit2.Config(str(file)):
            value = entry.raw_value.decode("utf-8", "replace") if entry.raw_value else ""
            found[entry.name] = (*found.get(entry.name, ()), value)
        return found

    @door
    def commit(self, sha: str) -> CommitInfo:
        """Return one commit; raise `NotFoundError` if there is none of this id."""
        try:
            found = self._repository[sha].peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError) as error:
            which = f"commit {sha}" if sha else "commit on main that can be read"
            raise NotFoundError(
                f"There is no {which} in {self.path}.",
                hint="`git fsck` in that repository names what is damaged.",
                sha=sha,
            ) from error
        return _info(found)

    @door
    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `new` is `old` or contains it."""
        return old == new or self._repository.descendant_of(new, old)

    @door
    def chain(self, base: str, tip: str) -> tuple[CommitInfo, ...] | None:
        """Return every commit of base..tip, oldest first; None if base is no ancestor of tip."""
        if self._repository.get(base) is None or not self.is_ancestor(base, tip):
            return None
        return tuple(self._walk(tip, base, SortMode.TOPOLOGICAL | SortMode.REVERSE))

    @door
    def log(
        self, tip: str, *, since: str | None = None, limit: int = 100
    ) -> tuple[CommitInfo, ...]:
        """Return commits reachable from `tip` and not from `since`, newest first."""
        walk = self._walk(tip, since, SortMode.TOPOLOGICAL)
        return tuple(commit for commit, _ in zip(walk, range(limit), strict=False))

    @door
    def find_trailer(
        self, tip: str, name: str, value: str, *, since: str | None = None
    ) -> CommitInfo | None:
        """Return the newest merge in since..tip with exactly this trailer line."""
        for commit in self._walk(tip, since, SortMode.TOPOLOGICAL):
            if len(commit.parents) == 2 and f"{name}: {value}" in trailers(commit.message):
                return commit
        return None

    def _walk(self, tip: str, since: str | None, order: SortMode) -> Iterator[CommitInfo]:
        walker = self._repository.walk(pygit2.Oid(hex=tip), order)
        if since is not None:
            walker.hide(pygit2.Oid(hex=since))
        return (_info(commit) for commit in walker)

    @door
    def listing(self, oid: str) -> Sequence[Listed]:
        """Return what a folder holds."""
        tree = self._repository[oid].peel(pygit2.Tree)
        return [
            Listed(_text(entry.raw_name or b""), int(entry.filemode), str(entry.id))
            for entry in tree
        ]

    @door
    def size(self, oid: str) -> int:
        """Return a file's size in bytes."""
        return self._repository[oid].peel(pygit2.Blob).size

    @door
    def content(self, oid: str) -> bytes:
        """Return a file's bytes."""
        return self._repository[oid].peel(pygit2.Blob).data

    def tree(self, commit: str) -> Tree:
        """Return the memory as it was at a commit; it is read through this handle, while open."""
        return Tree(self.commit(commit).tree, self)

    @door
    def diff_text(self, old: str, new: str) -> str:
        """Return the unified difference between two commits or trees."""
        before, after = (self._repository[sha].peel(pygit2.Tree) for sha in (old, new))
        return before.diff_to_tree(after).patch or ""

    @door
    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return the paths that differ between two commits or trees; a rename counts as both."""
        # Not the library's own comparison: that one reads every folder, changed or not.
        trees = [str(self._repository[sha].peel(pygit2.Tree).id) for sha in (old, new)]
        return tuple(each.path for each in changes(*(Tree(oid, self) for oid in trees)))

    @door
    def file(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, None if there is no such file."""
        tree = self._repository[commit].peel(pygit2.Tree)
        found = tree[path] if path in tree else None  # noqa: SIM401 - Tree.get is not typed
        return found.data if isinstance(found, pygit2.Blob) else None

    @door
    def status(self) -> FileStatus:
        """Tell what differs from HEAD. Untracked files are always included, ignored ones never."""
        return _status(self._repository.status(untracked_files="all"))

    @door
    def status_and_ignored(self) -> tuple[FileStatus, tuple[str, ...]]:
        """Return the status, and the ignored files and folders that exist, in one look."""
        flags = self._repository.status(untracked_files="all", ignored=True)
        return _status(flags), _with(flags, Flag.IGNORED)

    @door
    def occupied(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return which of these paths hold a person's work: staged, unstaged, or in the way.

        Ignored files count too: `git read-tree` overwrites those without a word.
        """
        index, head = self._repository.index, self.tree(self.resolve("HEAD") or "")
        index.read(force=False)
        doubted = (path for path in paths if not self._surely_free(path, index, head))
        return tuple(filter(self._is_occupied, doubted))

    @door
    def surely_free(self, paths: Sequence[str], index: Path, commit: str) -> bool:
        """Tell whether all paths are as the commit has them, here and in `index`, or unused."""
        entries, tree = pygit2.Index(str(index)), self.tree(commit)
        return not entries.conflicts and all(self._surely_free(p, entries, tree) for p in paths)

    def _surely_free(self, path: str, index: pygit2.Index, tree: Tree) -> bool:
        # The library's own status of one path goes through all files.
        known = index[path] if path in index else None  # noqa: SIM401 - an index has no get
        staged = Leaf(path, int(known.mode), str(known.id)) if known else None
        return untouched(self.path, path, staged, tree.find(path))

    def _is_occupied(self, path: str) -> bool:
        if self._tracked(path):
            return self._repository.status_file(path) != Flag.CURRENT
        place = self.path / path
        for parent in PurePosixPath(path).parents:
            above = self.path / parent
            if (above.is_symlink() or above.is_file()) and not self._tracked(str(parent)):
                return True
        if place.is_dir() and not place.is_symlink():
            inside = (file for file in place.rglob("*") if file.is_symlink() or not file.is_dir())
            return any(not self._tracked(str(file.relative_to(self.path))) for file in inside)
        return place.is_symlink() or place.exists()

    def _tracked(self, path: str) -> bool:
        if path == ".":
            return False
        head = self.tree(self.resolve("HEAD") or "")
        return path in self._repository.index or head.find(path) is not None

    @door
    def plan_merge(self, ours: str, theirs: str) -> MergePlan:
        """Merge two commits in memory: objects are written, no ref and no file moves."""
        mine, tip = self.commit(ours), self.commit(theirs)
        if self.is_ancestor(ours, theirs):
            return MergePlan(tip.tree, changed=self.changed(ours, theirs))
        return self._planned(mine, self._repository.merge_commits(ours, theirs))

    @door
    def plan_revert(self, ours: str, merge: str) -> MergePlan:
        """Take what `merge` brought to its first parent out of `ours` again, in memory."""
        undone = self.commit(merge)
        if not undone.parents:
            raise GitError(f"{merge[:12]} is the first commit: there is nothing before it.")
        before = self.commit(undone.parents[0])
        mine = self.commit(ours)
        if mine.tree == undone.tree:
            return MergePlan(before.tree, changed=self.changed(ours, before.sha))
        index = self._repository.merge_trees(
            pygit2.Oid(hex=undone.tree), pygit2.Oid(hex=mine.tree), pygit2.Oid(hex=before.tree)
        )
        return self._planned(mine, index)

    def _planned(self, ours: CommitInfo, index: pygit2.Index) -> MergePlan:
        if index.conflicts is not None:
            sides = {side.path for row in index.conflicts for side in row if side is not None}
            return MergePlan(None, conflicts=tuple(sorted(sides)))
        tree = str(index.write_tree(self._repository))
        return MergePlan(tree, changed=self.changed(ours.tree, tree))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _status(flags: dict[str, int]) -> FileStatus:
    return FileStatus(*(_with(flags, kind) for kind in (_STAGED, _UNSTAGED, Flag.WT_NEW)))


def _with(flags: dict[str, int], wanted: Flag) -> tuple[str, ...]:
    return tuple(sorted(path for path, flag in flags.items() if flag & wanted))


def _info(commit: pygit2.Commit) -> CommitInfo:
    return CommitInfo(
        sha=str(commit.id),
        parents=tuple(str(parent) for parent in commit.parent_ids),
        tree=str(commit.tree_id),
        message=commit.raw_message.decode("utf-8", "replace"),
        author=f"{commit.author.name} <{commit.author.email}>",
        at=stamp(datetime.fromtimestamp(commit.commit_time, UTC)),
    )
