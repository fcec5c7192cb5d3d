"""A repository's administration: taken as facts, and compared by meaning (ENGINE 9.3)."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.port import MAIN, Administration
from reflector.vcs.reads import Reads

_SHARED = (
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "config.worktree",
    "HEAD",
)
_OF_WORKTREE = ("gitdir", "commondir", "config.worktree")
_FREE_REFS = ("ref:refs/remotes/", "ref:refs/stash")


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may differ: the run's own branch, refs of other Reflector processes, a fair main.

    `refs` are full names. `main_moved` is the judgement of `main_moved_fairly`.
    """

    branch: str
    refs: frozenset[str] = frozenset()
    main_moved: bool = False


def take(repo: Path, worktree: Path, worktree_git_dir: Path) -> Administration:
    """Read everything that a run must leave alone; a repository that cannot be read is a fact."""
    shared = repo / ".git"
    facts = {f"worktree:{name}": _print(worktree_git_dir / name) for name in _OF_WORKTREE}
    facts["worktree:.git"] = _print(worktree / ".git")
    facts |= {name: _print(shared / name) for name in _SHARED}
    facts |= dict(_hooks(shared / "hooks"))
    try:
        with Reads(repo) as reads:
            facts |= dict(_config(reads, shared / "config"))
            facts |= {f"ref:{name}": value for name, value in reads.refs().items()}
    except GitError as error:
        facts["repository"] = f"unreadable: {error.message}"
    return Administration({name: value for name, value in facts.items() if value})


def compare(before: Administration, after: Administration, allowed: Allowed) -> tuple[str, ...]:
    """Return the names of the facts that differ and may not."""
    names = sorted(before.facts.keys() | after.facts.keys())
    return tuple(
        name
        for name in names
        if before.facts.get(name) != after.facts.get(name) and not _may_differ(name, allowed)
    )


def main_moved_fairly(
    repo: Path, before: Administration, after: Administration, base: str, tip: str
) -> bool:
    """Tell whether main moved on to a descendant that contains no commit of base..tip."""
    old, new = before.facts.get(f"ref:{MAIN}"), after.facts.get(f"ref:{MAIN}")
    if old == new:
        return True
    if old is None or new is None or new.startswith("->"):
        return False
    with Reads(repo) as reads:
        chain = reads.chain(base, tip) or ()
        taken = any(reads.is_ancestor(commit.sha, new) for commit in chain)
        return reads.is_ancestor(old, new) and not taken


def _may_differ(name: str, allowed: Allowed) -> bool:
    if not name.startswith("ref:"):
        return False
    ref = name.removeprefix("ref:")
    if ref == MAIN:
        return allowed.main_moved
    own = ref == f"refs/heads/{allowed.branch}"
    return own or ref in allowed.refs or name == _FREE_REFS[1] or name.startswith(_FREE_REFS[0])


def _config(reads: Reads, file: Path) -> Iterator[tuple[str, str]]:
    """Comments, order of sections and spelling do not matter; every value of a key does."""
    for key, values in reads.settings(file).items():
        # Hashed, since a remote's address may carry a password and facts are kept in the ledger.
        yield f"config:{key}", hashlib.sha256("\0".join(values).encode()).hexdigest()


def _hooks(folder: Path) -> Iterator[tuple[str, str]]:
    if folder.is_symlink():
        yield "hooks", _print(folder)
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(root, name)
            if name in files or place.is_symlink():
                yield f"hooks/{place.relative_to(folder).as_posix()}", _print(place, with_mode=True)


def _print(file: Path, *, with_mode: bool = False) -> str:
    """Return what a file is as one value, "" if there is none. Follows no link."""
    try:
        mode = file.lstat().st_mode
        if stat.S_ISLNK(mode):
            return f"-> {file.readlink()}"
        if not stat.S_ISREG(mode):
            return f"{stat.S_IFMT(mode):o}"
        shown = f"{stat.S_IMODE(mode):o} " if with_mode else ""
        return shown + hashlib.sha256(file.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise GitError(f"{file} cannot be read.", detail=str(error)) from error
