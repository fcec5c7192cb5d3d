"""What a person had forgotten of experiences and facts, as git tells it: no other copy is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reflector.core.errors import DocumentError
from reflector.memory.commit_message import parse as parse_message
from reflector.memory.experiences.forgotten import TRAILER, Forgotten, gone_in
from reflector.memory.experiences.form import Stored, id_of, layer_of, parse
from reflector.memory.experiences.kept import paths_of
from reflector.vcs.port import CommitInfo
from reflector.vcs.reads import Reads

_ALL: Final = 1_000_000


def forgotten_in(reads: Reads, revision: str) -> Forgotten:
    """Return what was forgotten up to a revision and was not brought back since.

    Of what was taken out of history as well, only ids are left.
    """
    told = [one for one in reads.log(revision, limit=_ALL) if f"\n{TRAILER}: " in one.message]
    if not told:
        return Forgotten()
    there = paths_of(reads.tree(revision))
    named = {one: list(gone_in(parse_message(one.message))) for one in told}
    gone = tuple(each for found in named.values() for each in found if each.id not in there)
    ids = {each.id for each in gone}
    texts = (item for one in told for item in _taken_out(reads, one) if item.id in ids)
    return Forgotten(gone, tuple(texts))


def _taken_out(reads: Reads, commit: CommitInfo) -> Iterator[Stored]:
    """Yield the items that a commit removed, as they were before it."""
    before = next(iter(commit.parents), None)
    if before is None:
        return
    for path in reads.changed(before, commit.sha):
        raw = reads.file(before, path) if layer_of(path) and id_of(path) else None
        if raw is None or reads.file(commit.sha, path) is not None:
            continue
        try:
            yield parse(path, raw)
        except DocumentError:  # by hand: nothing was learned from it
            continue
