"""What a change of the memory says that it did not say before, by path."""

from __future__ import annotations

from reflector.memory.edit import Scope, compare
from reflector.memory.undone_rules import added_prose
from reflector.runtime.wiring import Context
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

Lines = dict[str, tuple[str, ...]]


def brought(context: Context, old: str, new: str) -> Lines:
    """Return the prose that `new` has and `old` has not; each is a commit's id or a ref.

    Nothing when one of them is gone: it was rewritten, or never reached this repository.
    """
    with Reads(context.agent.repo) as reads:
        before, after = reads.resolve(old), reads.resolve(new)
        if before is None or after is None:
            return {}
        return added_prose(compare(reads.tree(before), reads.tree(after), Scope()))


def brought_in_vain(context: Context, base: str, tip: str) -> Lines:
    """Return the prose that a tip would bring and that main has not got from elsewhere."""
    missing = brought(context, MAIN, tip)
    return {
        path: left
        for path, lines in brought(context, base, tip).items()
        if (left := tuple(line for line in lines if line in missing.get(path, ())))
    }


def brought_by_merge(context: Context, merge: str) -> Lines:
    """Return the prose that a merge brought to its first parent."""
    with Reads(context.agent.repo) as reads:
        if reads.resolve(merge) is None:
            return {}
        parents = reads.commit(merge).parents
    return brought(context, parents[0], merge) if parents else {}
