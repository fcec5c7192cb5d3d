"""The memory put to every rule: as it is committed, as it is staged, or as the files have it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from reflector.core.errors import GitError, NotFoundError, ParentDirtyError
from reflector.memory.finding import Finding
from reflector.memory.laid import laid_out
from reflector.memory.overlay import overlaid
from reflector.memory.path_rules import SEEDS
from reflector.memory.rules import check_memory
from reflector.memory.tree import Leaf, Tree, readable
from reflector.runtime.documents import relative
from reflector.runtime.hand_edits import read_edits
from reflector.runtime.wiring import Context
from reflector.vcs import porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

Side = Literal["committed", "staged", "worktree"]


def lint(
    context: Context, side: Side, paths: Sequence[str] = (), index: Path | None = None
) -> tuple[Finding, ...]:
    """Return what the rules say of a whole memory, or of what lies at some of its paths.

    Of the staged side only what differs from HEAD is judged: a commit is not held up by what was
    there before. `index` is another index than the repository's own (git makes one for
    `commit FILE`). Raises NotFoundError for a path that no side of the comparison has.
    """
    context.require()
    repo = context.agent.repo
    with Reads(repo) as reads:
        commit = reads.resolve("HEAD")
        if commit is None:
            raise GitError(f"The memory {repo} has no commit that can be read.")
        head = reads.tree(commit)
        if side == "staged":
            staged = laid_out(_staged(context, index), reads)
            return check_memory(staged, _places(context, paths, staged, head), head)
        if side == "worktree":
            return _files(context, reads, head, paths)
        return check_memory(head, _places(context, paths, head))


def _files(context: Context, reads: Reads, head: Tree, paths: Sequence[str]) -> tuple[Finding, ...]:
    status = reads.status()
    changed = {*status.staged, *status.unstaged, *status.untracked}.difference(SEEDS)
    edits, left = read_edits(context.agent.repo, changed)
    contents = {path: edit.content for path, edit in edits.items()}
    now = overlaid(head, contents, {path: edit.mode for path, edit in edits.items()})
    places = _places(context, paths, now, head)
    # The comparison adds what points to files that are gone.
    found = {*check_memory(now, places), *check_memory(now, places, head)}
    found |= {one for one in left if not places or one.path in places}
    return tuple(sorted(found, key=lambda one: (one.path, one.line, one.code, one.message)))


def _staged(context: Context, index: Path | None) -> list[Leaf]:
    """Read an index: mode, object and path of every entry."""
    repo = context.agent.repo
    words = [f"--git-dir={repo.resolve() / '.git'}", "ls-files", "--stage", "-z", "--full-name"]
    extra = {"GIT_INDEX_FILE": str(index)} if index else None
    code, out, err = porcelain.run(Scrubbed(context.environ), repo, words, extra)
    if code != 0:
        raise GitError(f"The index of {repo} cannot be read.", detail=err)
    leaves: list[Leaf] = []
    for record in filter(None, out.decode("utf-8", "surrogateescape").split("\0")):
        facts, _, path = record.partition("\t")
        mode, oid, stage = facts.split(" ")
        if stage != "0":
            raise ParentDirtyError(
                f"A merge left a conflict in {readable(path)}.",
                hint="Finish the merge in the memory repository first.",
                path=readable(path),
            )
        leaves.append(Leaf(path, int(mode, 8), oid))
    return leaves


def _places(context: Context, paths: Sequence[str], *trees: Tree) -> list[str]:
    """Return the paths as the memory has them, none for all; `.md` may be left out."""
    found = [_place(context, path, trees) for path in paths]
    return [] if "." in found else found


def _place(context: Context, typed: str, trees: Sequence[Tree]) -> str:
    plain = Path(relative(context, typed)).as_posix()
    if plain == ".":
        return plain
    for place in (plain, f"{plain}.md"):
        if any(tree.holds(place) for tree in trees):
            return place
    raise NotFoundError(
        f"There is nothing at {readable(typed)} in the memory.",
        hint="`reflector memory ls` lists what there is.",
        path=readable(typed),
    )
