"""A diary burned: everything it says and said, and every copy we made, looked for afterwards."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflector.core.diary import Diary
from reflector.core.errors import NotFoundError, ReflectorError
from reflector.core.needle import Needle
from reflector.memory.purge import Purge
from reflector.pipelines.diary import merging, records
from reflector.runtime import block_cache
from reflector.runtime.diary import copy, said, seeds
from reflector.runtime.diary.repository import Repository
from reflector.runtime.diary.search import Searched, search
from reflector.runtime.forgetting.files import holds
from reflector.runtime.forgetting.forget import all_locks, forget, open_memory
from reflector.runtime.forgetting.repository import Memory
from reflector.runtime.forgetting.target import Asked, Target
from reflector.runtime.wiring import Context
from reflector.store import diary as queue
from reflector.store import forgetting

COMMAND = Asked("reflector diary burn")
"""What a burning that was cut off is known by: the same command goes on."""

_REASON = "burn the diary"
_TOMBSTONES = "tombstones/"
_CALL = re.compile(rb"(?:mcp_{1,2})?reflector(?:_{1,2}|[./:-])note")
_COMMAND = re.compile(rb"reflector\S{0,3} diary note ")


@dataclass(frozen=True, slots=True)
class Burned:
    """What went, counted; where it was looked for afterwards, and what nobody here can reach."""

    entries: int
    traits: int
    terms: int
    searched: Searched
    out_of_reach: tuple[str, ...]


def look(context: Context) -> Diary:
    """Return what would go. Raises NotFoundError when there is no diary."""
    context.require()
    repository = Repository(context)
    if not repository.present():
        raise NotFoundError(f"There is no diary of the identity {context.agent.identity!r}.")
    try:
        return repository.read(adopt=False)
    except ReflectorError:  # what cannot be read can be burned all the same
        return Diary()


def burn(context: Context) -> Burned:
    """Burn it. The copies go first, the diary itself last: a death in between can be repeated.

    Raises BusyError while a run or a job of this identity works, NotFoundError without a diary.
    """
    repository = Repository(context)
    with all_locks(context) as memory:
        diary = look(context)
        wanted = said.ever(repository.path, seeds.files().values())
        _copies(memory, wanted)
        _replace(repository, diary)
        _jobs(memory)
        block_cache.refresh(context)
    beyond = tuple(_beyond(context, wanted))
    found = search(context.home, wanted)
    counts = (len(diary.entries), len(diary.traits), len(diary.lexicon))
    return Burned(*counts, found, beyond)


def _copies(memory: Memory, wanted: Needle) -> None:
    """Take every copy out of journal, runs, logs, caches, indexes and documents."""
    _blocks(memory.context)
    if not wanted.nothing:
        forget(memory, COMMAND, Target("text", Purge(wanted)), diary=False)
    forgetting.erase(memory.state, _noting)
    own = memory.context.agent.path
    for file in (*own.glob("runs/jobs/*/diary-*"), *own.glob("logs/diary.log*")):
        file.unlink(missing_ok=True)


def _noting(value: bytes) -> bool:
    """Tell whether a value of the journal is a call by which a note was left.

    It holds the note as the agent said it, before secrets and names were taken out.
    """
    return bool(_CALL.fullmatch(value) or (value[:1] == b"{" and _COMMAND.search(value)))


def _blocks(context: Context) -> None:
    """Remove the blocks for hooks and the quick copy: a search finds no sentence that was cut."""
    own = context.agent.path
    for file in (own / copy.NAME, own / "block", *own.glob("blocks/*")):
        file.unlink(missing_ok=True)


def _replace(repository: Repository, diary: Diary) -> None:
    """Put a new diary in the old one's place, in two renames; `Repository` ends what is cut off."""
    fresh, aside = (repository.path.with_name(f"diary.{name}") for name in ("new", "burned"))
    with repository.writing():
        stones = records.files(merging.buried(diary, Diary(tombstones=diary.tombstones)))
        left = {path: raw for path, raw in stones.items() if path.startswith(_TOMBSTONES)}
        repository.plant(fresh, {**left, **seeds.files(repository.replica())}, _REASON)
        repository.path.rename(aside)
        fresh.rename(repository.path)
        shutil.rmtree(aside)
        _blocks(repository.memory)  # once more: a note or a session in between made some


def _jobs(memory: Memory) -> None:
    """Remove what waited to be written, what was mentioned and the mood, from free pages as well."""
    with memory.state.transaction() as connection:
        queue.burn(connection)
    forgetting.compact(memory.state, memory.context.agent.state)


def _beyond(context: Context, wanted: Needle) -> Iterator[str]:
    """Yield what may hold it and is not ours to change."""
    for pack in sorted(context.home.path.rglob("*.pack")):
        if ".git" not in pack.parts:
            yield f"{pack}: a pack that was exported"
    with open_memory(context) as memory:
        known = forgetting.sources_of(memory.state.connection)
    for path in sorted({path for path, _ in known}):
        if Path(path).is_file() and holds(Path(path), wanted):
            yield f"{path}: the harness's own transcript"
    yield "packs that you exported elsewhere, clones and backups of this home"
