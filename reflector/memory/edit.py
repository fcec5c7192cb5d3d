"""A change of the memory as the rules see it: two trees, what differs, and who did it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reflector.memory.commit_message import Update
from reflector.memory.tree import Change, Leaf, Tree, changes

MAX_FILE = 256 * 1024

Writer = Literal["run", "person"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Who changes the memory, and what counts as evidence.

    `pipeline` is "" for a person. `user_entries` are the ids of the entries of kind `user` in the
    run's snapshots. `moved_lines_exempt` is set for dreams: a line that only moves within
    `system/` brought its evidence when it came. `unwanted` are the lines that a person took back,
    folded as `undone_rules.folded` does it. `system_tokens` is what the system tier may take as it
    is shown (0: not asked), `target` the one document that a dream may change ("": any), or the
    folder of the bank whose three files a run of `decisions` may change.
    """

    pipeline: str = ""
    writer: Writer = "run"
    user_entries: frozenset[str] = frozenset()
    moved_lines_exempt: bool = False
    unwanted: frozenset[str] = frozenset()
    system_tokens: int = 0
    target: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a rule looks at. `updates` are the items of all `Updates:` lists that explain it."""

    before: Tree | None
    after: Tree
    changes: tuple[Change, ...]
    scope: Scope
    updates: tuple[Update, ...] = ()

    @property
    def by_run(self) -> bool:
        """Whether a run did it; a person may do more."""
        return self.scope.writer == "run"

    def old(self, change: Change) -> bytes:
        """Return the bytes that were there, none for what is no file or too large to judge."""
        return _bytes(self.before, change.before)

    def new(self, change: Change) -> bytes:
        """Return the bytes that are there now, none for what is no file or too large to judge."""
        return _bytes(self.after, change.after)

    def added(self, change: Change) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line that is there more often than before."""
        left = Counter(lines(self.old(change)))
        for number, line in enumerate(lines(self.new(change)), start=1):
            if left[line]:
                left[line] -= 1
            else:
                yield number, line

    def removed(self, change: Change) -> Counter[str]:
        """Return the lines that are there less often than before."""
        return Counter(lines(self.old(change))) - Counter(lines(self.new(change)))


def compare(before: Tree | None, after: Tree, scope: Scope, updates: Sequence[Update] = ()) -> Edit:
    """Compare two trees."""
    return Edit(before, after, changes(before, after), scope, tuple(updates))


def lines(raw: bytes) -> list[str]:
    """Split bytes into lines; what is not UTF-8 is replaced, so that it can still be searched."""
    return raw.decode(errors="replace").replace("\r\n", "\n").split("\n")


def _bytes(tree: Tree | None, leaf: Leaf | None) -> bytes:
    if tree is None or leaf is None or not leaf.regular or tree.reader.size(leaf.oid) > MAX_FILE:
        return b""
    return tree.reader.content(leaf.oid)
