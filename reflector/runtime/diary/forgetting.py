"""Something taken out of the diary: out of its HEAD, its history and every copy we made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from reflector.core.diary import Diary, Entry, Term, Trait
from reflector.core.errors import NotFoundError, UsageError
from reflector.core.needle import Needle
from reflector.memory.purge import Purge
from reflector.pipelines.diary import merging, records, saying
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
_SOURCE = "conversation"
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Would:
    """What would go: the records that the diary holds now; what former commits say is not among them.

    `longer` is how many stay that have the words only inside longer ones.
    """

    items: tuple[Entry | Trait | Term, ...]
    longer: int


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
    fields: tuple[str, ...] = saying.SAID

    def file(self, path: str, content: bytes) -> bytes | None:
        """Return what a file of an old commit holds afterwards."""
        if path in THEIRS and content not in self.seeds:
            # What such a page is called says nothing: whoever forgets "notes" keeps NOTES.md.
            return content if path in self.pages else Purge(self.wanted).file("", content)
        if path.rpartition("/")[2] in self.files and not path.startswith("tombstones/"):
            return None
        gone = "/" in path and saying.holds(self.wanted, content, self.fields)
        return None if gone else content

    def message(self, text: str) -> str:
        """Return a message; none of ours says what the diary says."""
        return Purge(self.wanted).message(text)


@dataclass(frozen=True, slots=True)
class _Meant:
    """What a person's words mean in a diary. `words` finds nothing where they are an id."""

    diary: Diary
    ids: tuple[str, ...]
    words: saying.Named


def look(context: Context, words: str) -> Would:
    """Return what would go; nothing is changed. Raises as `take_out` does, but BusyError."""
    meant = _meant(_present(context, words), words)
    diary = meant.diary
    there: dict[str, Entry | Trait | Term] = {**diary.entries, **diary.traits, **diary.lexicon}
    rest = (_texts(diary, (key,)) for key in there if key not in meant.ids)
    longer = sum(any(map(meant.words.inside, each)) for each in rest)
    return Would(tuple(there[key] for key in meant.ids), longer)


def take_out(context: Context, words: str) -> Forgotten:
    """Forget an item by its id, or all that say these words. Safe to repeat after any death.

    Copies go first, the diary's history last. Raises NotFoundError for what is nowhere, BusyError
    while something of this identity works.
    """
    repository = _present(context, words)
    with all_locks(context) as memory:
        meant = _meant(repository, words)
        diary, ids = meant.diary, meant.ids
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
        pages = _pages(repository, meant.words)
        shipped = frozenset(seeds.files().values())
        gone = _Gone(_names(diary, ids, words), meant.words, pages, shipped)
        rewritten = _rewrite(memory, repository, gone)
        repository.shown()
    left = repository.read(adopt=False)
    twins, alone = _compared(frozenset(_texts(diary, ids)), left)
    looked = search.search(context.home, said.needle((*alone, *_unsaid(meant.words, left))))
    return Forgotten(ids, rewritten, pages, twins, looked)


def _present(context: Context, words: str) -> Repository:
    require_enabled(context)
    repository = Repository(context)
    if len(words.strip()) < _SHORTEST:
        raise UsageError(f"{words!r} is too short: it would be found everywhere.")
    if not repository.present():
        raise NotFoundError(
            f"There is no diary of the identity {context.agent.identity!r} to forget from."
        )
    return repository


def _meant(repository: Repository, words: str) -> _Meant:
    """Tell what words mean: the id of a record, also of one that is dead, or what says them."""
    diary = repository.read(adopt=False)
    if words in diary.entries or words in diary.traits:
        return _Meant(diary, (words,), saying.Named())
    if words in diary.tombstones:
        return _Meant(diary, (), saying.Named())
    wanted = saying.words(words)
    every = (*diary.entries, *diary.traits, *diary.lexicon)
    ids = tuple(key for key in every if any(map(wanted.said, _texts(diary, (key,)))))
    if not ids and not _said_once(repository, wanted):
        longer = sum(any(map(wanted.inside, _texts(diary, (key,)))) for key in every)
        raise NotFoundError(
            "Nothing in the diary goes by this id or says these words.", hint=_hint(longer)
        )
    return _Meant(diary, ids, wanted)


def _hint(longer: int) -> str:
    if not longer:
        return "`reflector diary read` shows what there is."
    have = "1 item has" if longer == 1 else f"{longer} items have"
    return f"{have} it inside a longer word; name that word whole."


def _unsaid(wanted: saying.Named, left: Diary) -> tuple[str, ...]:
    """Return the words as what is looked for everywhere, unless something may go on having them."""
    every = (*left.entries, *left.traits, *left.lexicon)
    inside = any(map(wanted.inside, _texts(left, every)))
    return () if inside else wanted.texts


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
    fields = (*saying.SAID, _SOURCE)
    gone = _Gone(_names(diary, ids, ""), wanted, _pages(repository, wanted), shipped, fields)
    _rewrite(memory, repository, gone)
    repository.shown()


def _holding(diary: Diary, wanted: Needle, conversation: str) -> Iterator[str]:
    for each in diary.entries.values():
        told = conversation and each.conversation == conversation
        if told or wanted.said("\n".join((each.text, *each.tags, each.conversation))):
            yield each.id
    for trait in diary.traits.values():
        if wanted.said(f"{trait.text}\n{trait.evidence}"):
            yield trait.id
    yield from (key for key, term in diary.lexicon.items() if wanted.said(term.term))


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


def _said_once(repository: Repository, wanted: saying.Named) -> bool:
    """Tell whether any commit says it: what is forgotten by halves is finished."""
    shipped, fields = frozenset(seeds.files().values()), (*saying.SAID, "id")
    with Objects(repository.path) as objects:
        every = (objects.read(oid) for oid in objects)
        blobs = (content for kind, content in every if kind == "blob")
        return any(saying.holds(wanted, each, fields) for each in blobs if each not in shipped)


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
