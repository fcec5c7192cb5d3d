"""Something taken out of the diary: out of its HEAD, its history and every copy we made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from reflector.core.diary import Diary
from reflector.core.errors import NotFoundError, UsageError
from reflector.core.needle import Needle, passages
from reflector.memory.purge import Purge
from reflector.pipelines.diary import merging, records
from reflector.pipelines.diary.migrations import DiaryPausedError
from reflector.runtime.diary import said, search, seeds
from reflector.runtime.diary.hand_edits import THEIRS
from reflector.runtime.diary.repository import Repository, require_enabled
from reflector.runtime.diary.seeds import VIEW
from reflector.runtime.forgetting.forget import all_locks, forget
from reflector.runtime.forgetting.repository import Memory
from reflector.runtime.forgetting.target import Asked, Target
from reflector.runtime.wiring import Context
from reflector.vcs.objects import Objects
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.prune import prune
from reflector.vcs.reads import Reads
from reflector.vcs.replace import Replacement
from reflector.vcs.replace import replace as move
from reflector.vcs.rewrite import Rewriter

_REASON = "forget something"
_ID = re.compile(r"[0-9a-z][0-9a-z_-]{7,63}\Z")
_SHORTEST = 2
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went. `pages` are the person's own that still say it: nobody but they write there.

    `twins` are items that stay and say the same: whoever names one by its id means that one.
    """

    ids: tuple[str, ...]
    rewritten: int
    pages: tuple[str, ...]
    twins: tuple[str, ...]
    searched: search.Searched


@dataclass(frozen=True, slots=True)
class _Gone:
    """What is taken out of every commit: files by their ids, and records and lines that say it."""

    files: frozenset[str]
    wanted: Needle
    pages: tuple[str, ...]
    seeds: frozenset[bytes]

    def file(self, path: str, content: bytes) -> bytes | None:
        """Return what a file of an old commit holds afterwards."""
        if path in THEIRS and content not in self.seeds:
            return content if path in self.pages else Purge(self.wanted).file(path, content)
        if path.rpartition("/")[2] in self.files and not path.startswith("tombstones/"):
            return None
        return None if "/" in path and self.wanted.within(content) else content

    def message(self, text: str) -> str:
        """Return a message; none of ours says what the diary says."""
        return Purge(self.wanted).message(text)


def matches(diary: Diary, words: str) -> tuple[str, ...]:
    """Return the ids of what a person means: the id itself, or whatever says these words."""
    if words in diary.entries or words in diary.traits:
        return (words,)
    wanted = words.casefold()
    entries = (each.id for each in diary.entries.values() if wanted in _of(each.text, *each.tags))
    traits = (each.id for each in diary.traits.values() if wanted in _of(each.text, each.evidence))
    terms = (key for key, term in diary.lexicon.items() if wanted in _of(term.term))
    return (*entries, *traits, *terms)


def look(context: Context, words: str) -> tuple[str, ...]:
    """Return the ids of what would go now; what only former commits say is not among them."""
    require_enabled(context)
    return matches(Repository(context).read(adopt=False), words)


def take_out(context: Context, words: str) -> Forgotten:
    """Forget an item by its id, or all that say these words. Safe to repeat after any death.

    Copies go first, the diary's history last. Raises NotFoundError for what is nowhere, BusyError
    while something of this identity works.
    """
    require_enabled(context)
    repository = Repository(context)
    if len(words.strip()) < _SHORTEST:
        raise UsageError(f"{words!r} is too short: it would be found everywhere.")
    if not repository.present():
        raise NotFoundError(
            f"There is no diary of the identity {context.agent.identity!r} to forget from."
        )
    with all_locks(context) as memory:
        diary = repository.read(adopt=False)
        ids = matches(diary, words)
        by_id = ids == (words,)
        known = by_id or bool(ids) or words in diary.tombstones or _said_once(repository, words)
        if not known:
            raise NotFoundError(
                "Nothing in the diary goes by this id or says these words.",
                hint="`reflector diary read` shows what there is.",
            )
        copies = said.needle(_texts(diary, ids))
        if not copies.nothing:
            forget(
                memory,
                Asked(f"reflector diary forget {words}"),
                Target("text", Purge(copies)),
                diary=False,
            )
        if ids:
            repository.take_out(_REASON, lambda now: _without(now, frozenset(ids)))
        words_too = Needle() if by_id or words in diary.tombstones else passages([words])
        pages = _pages(repository, words_too)
        shipped = frozenset(seeds.files().values())
        gone = _Gone(_names(diary, ids, words), words_too, pages, shipped)
        rewritten = _rewrite(memory, repository, gone)
        repository.shown()
    twins, alone = _compared(frozenset(_texts(diary, ids)), repository.read(adopt=False))
    looked = search.search(context.home, said.needle((*alone, *words_too.texts)))
    return Forgotten(ids, rewritten, pages, twins, looked)


def along(memory: Memory, wanted: Needle, conversation: str) -> None:
    """Take out of the diary what is forgotten in the memory: what says it, what that talk gave.

    A diary that cannot be read stays as it is; the proof of the forgetting names it.
    """
    repository = Repository(memory.context)
    if not repository.exists:
        return
    try:
        diary = repository.read(adopt=False)
    except DiaryPausedError:
        return
    ids = tuple(_holding(diary, wanted, conversation))
    if not ids and not search.in_objects(repository.path, wanted):
        return
    repository.take_out(_REASON, lambda now: _without(now, frozenset(ids)))
    shipped = frozenset(seeds.files().values())
    gone = _Gone(_names(diary, ids, ""), wanted, _pages(repository, wanted), shipped)
    _rewrite(memory, repository, gone)
    repository.shown()


def _holding(diary: Diary, wanted: Needle, conversation: str) -> Iterator[str]:
    for each in diary.entries.values():
        told = conversation and each.conversation == conversation
        if told or wanted.said("\n".join((each.text, *each.tags))):
            yield each.id
    for trait in diary.traits.values():
        if wanted.said(f"{trait.text}\n{trait.evidence}"):
            yield trait.id
    yield from (key for key, term in diary.lexicon.items() if wanted.said(term.term))


def _of(*texts: str) -> str:
    return "\n".join(texts).casefold()


def _without(diary: Diary, ids: frozenset[str]) -> Diary:
    def left(there: Mapping[str, _Record]) -> dict[str, _Record]:
        return {key: each for key, each in there.items() if key not in ids}

    after = replace(
        diary,
        entries=left(diary.entries),
        traits=left(diary.traits),
        lexicon=left(diary.lexicon),
    )
    return merging.buried(diary, after)


def _compared(gone: frozenset[str], left: Diary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what stays and says the same, and what is said by nothing that stays."""
    twins: list[str] = []
    still: set[str] = set()
    for key in (*left.entries, *left.traits, *left.lexicon):
        whole = "\n".join(_texts(left, (key,)))
        same = {text for text in gone if text and text in whole}
        still |= same
        if any(" " in text or not text.isascii() for text in same):  # a tag alone is no saying
            twins.append(key)
    return tuple(twins), tuple(sorted(gone - still))


def _texts(diary: Diary, ids: tuple[str, ...]) -> Iterator[str]:
    for key in ids:
        if entry := diary.entries.get(key):
            yield from (entry.text, *entry.text.split("\n"), *entry.tags)
        if trait := diary.traits.get(key):
            yield from (trait.text, trait.evidence)
        if term := diary.lexicon.get(key):
            yield term.term


def _names(diary: Diary, ids: tuple[str, ...], words: str) -> frozenset[str]:
    """Return the file names that items have in any commit; an entry may have changed its folder."""
    terms = (diary.lexicon[key].term for key in ids if key in diary.lexicon)
    files = [records.term_path(term).rpartition("/")[2] for term in terms]
    known = [*ids, *([words] if _ID.match(words) else [])]
    return frozenset((*files, *(f"{each}.json" for each in known if each not in diary.lexicon)))


def _said_once(repository: Repository, words: str) -> bool:
    """Tell whether any commit says it, as it was typed: what is forgotten by halves is finished."""
    wanted, shipped = passages([words]), frozenset(seeds.files().values())
    with Objects(repository.path) as objects:
        every = (objects.read(oid)[1] for oid in objects)
        return any(wanted.within(each) for each in every if each not in shipped)


def _pages(repository: Repository, wanted: Needle) -> tuple[str, ...]:
    with Reads(repository.path) as reads:
        held = {path: reads.file(repository.head(), path) or b"" for path in THEIRS}
    return tuple(path for path, content in held.items() if wanted.within(content))


def _rewrite(memory: Memory, repository: Repository, gone: _Gone) -> int:
    """Write every commit anew without it. HEAD holds it no more, so no working file has to follow."""
    ambient = memory.context.ambient
    (repository.path / VIEW).unlink(missing_ok=True)
    with repository.writing() as git:
        refs = _refs(git)
        with Objects(git.repo) as objects, objects.in_bulk():
            rewriter = Rewriter(objects, gone)
            moves = {ref: (sha, rewriter.target(sha)) for ref, sha in refs.items()}
        for _ in move(
            git, Replacement(moves, ambient.run_id(), ambient.token()), ambient.clock.sleep
        ):
            pass
        prune(repository.scrubbed(), git, ambient.clock.sleep)
    return sum(old != new for old, new in rewriter.commits.items())


def _refs(git: Porcelain) -> dict[str, str]:
    with Reads(git.repo) as reads:
        return {ref: sha for ref, sha in reads.refs().items() if not sha.startswith("-> ")}
