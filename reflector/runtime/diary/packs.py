"""A diary carried from one place to another: exported to a file, imported from one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reflector.core.cleaning import clean
from reflector.core.diary import Diary
from reflector.core.errors import HomeError, NotFoundError
from reflector.pipelines.diary import human_notes, merging, records
from reflector.pipelines.diary.cleansed import without_secrets
from reflector.pipelines.diary.migrations import DiaryPausedError
from reflector.pipelines.diary.settling import digest
from reflector.runtime.diary import pack_seal, pack_zip
from reflector.runtime.diary.pack_errors import (
    NotAPackError,
    PackDamagedError,
    PackError,
    PackNewerError,
    PackUnsafeError,
)
from reflector.runtime.diary.repository import Repository, enabled
from reflector.runtime.wiring import Context
from reflector.store.disk import read_regular, write_atomic
from reflector.vcs.reads import Reads

How = Literal["merge", "replace"]
"""Both are kept, or the pack takes the place of what is here."""

_MOST = pack_zip.Limits().total
_NAME = 16


@dataclass(frozen=True, slots=True)
class Exported:
    """What went into a pack. `damaged` are files of the diary that could not be read."""

    path: Path
    size: int
    entries: int
    traits: int
    terms: int
    secrets: int
    damaged: tuple[str, ...]
    sealed: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to; `commit` is "" when it brought nothing new.

    `stayed_deleted` counts what the pack holds and was deleted here, `gone` what was here and was
    deleted where the pack comes from. `notes` are the lines of the pack's NOTES.md that are not in
    ours, a file that people write.
    """

    commit: str
    how: How
    entries: int
    traits: int
    terms: int
    stayed_deleted: int
    gone: int
    secrets: int
    notes: tuple[str, ...]


def export(context: Context, file: Path, passphrase: str = "") -> Exported:
    """Write the diary into one file that only its owner may read; a pack there is replaced.

    Raises NotFoundError without a diary, PackError when the file cannot be written.
    """
    repository = Repository(context)
    if not repository.present():
        raise NotFoundError(
            f"There is no diary of the identity {context.agent.identity!r} to export.",
            hint="It begins with the first thing that is kept in it, while diary.enabled is true.",
        )
    _refuse_place(file, context)
    diary, secrets = without_secrets(_named(repository))
    members = records.files(diary) | _notes(repository)
    raw = pack_zip.packed(members, context.ambient.now())
    if passphrase:
        raw = pack_seal.seal(raw, passphrase, context.ambient.chance)
    try:
        write_atomic(file, raw)
    except HomeError as error:
        raise PackError(
            error.message, hint="Name a file in a folder that you can write."
        ) from error
    return Exported(file, len(raw), *_sizes(diary), secrets, diary.damaged, bool(passphrase))


def import_pack(context: Context, file: Path, how: How, passphrase: Callable[[], str]) -> Imported:
    """Bring a pack into the diary by one commit; `passphrase` is asked for a sealed pack alone.

    Merged, what was deleted here stays deleted, unless the diary holds nothing at all. Replaced,
    the diary is as the pack has it. Raises a PackError, before anything is written.
    """
    members = _opened(file, passphrase)
    pack, secrets = without_secrets(_read(members))
    repository = Repository(context)
    name = context.ambient.chance.hex(_NAME)
    made: list[tuple[Diary, Diary]] = []

    def onto(before: Diary) -> Diary:
        ours = replace(before, replica=before.replica or name)
        made.append((ours, _brought(ours, pack, how)))
        return made[-1][1]

    commit = repository.change(f"import a pack ({how})", "import", onto)
    before, after = made[-1]
    return Imported(
        commit or "",
        how,
        *_sizes(after),
        sum(_sizes(pack)) - _common(pack, after),
        sum(_sizes(before)) - _common(before, after),
        secrets,
        tuple(line for line in pack.notes if line not in after.notes),
    )


def _brought(ours: Diary, pack: Diary, how: How) -> Diary:
    if how == "replace":
        return merging.replaced(ours, pack)
    if any(_sizes(ours)):
        return merging.join(ours, pack)
    # Burned, or new: who imports a pack into nothing wants what is in it.
    done = merging.replaced(ours, pack)
    return replace(done, persona=ours.persona or done.persona)


def _opened(file: Path, passphrase: Callable[[], str]) -> dict[str, bytes]:
    """Return a pack's checked members."""
    raw = _bytes(file)
    if raw is None:
        raise NotAPackError(f"There is no file {file}.")
    if pack_seal.is_sealed(raw):
        raw = pack_seal.opened(raw, passphrase())
    return pack_zip.unpacked(raw)


def _bytes(file: Path) -> bytes | None:
    try:
        return read_regular(file.resolve(), _MOST)
    except (OSError, ValueError, RuntimeError) as error:  # a name with a NUL, a link to itself
        raise NotAPackError(f"{file} cannot be read: {error}.") from error
    except HomeError as error:
        raise NotAPackError(error.message) from error


def _read(members: dict[str, bytes]) -> Diary:
    try:
        pack = records.read(members)
    except DiaryPausedError as error:
        raise PackNewerError(f"In the pack: {error.message}") from error
    if pack.damaged:
        raise PackDamagedError(f"The pack's {pack.damaged[0]} is no record of a diary.")
    return pack


def _named(repository: Repository) -> Diary:
    """Return the diary with a name of its own: counts of two that have none cannot be told apart."""
    diary = repository.read(quiet=0)
    if diary.replica:
        return diary
    name = repository.memory.ambient.chance.hex(_NAME)
    if not enabled(repository.memory):  # it may be read, and not be changed
        return replace(diary, replica=digest(str(repository.path))[:_NAME])

    def named(before: Diary) -> Diary:
        return replace(before, replica=before.replica or name)

    repository.change("give this diary a name among others", "export", named)
    return repository.read()


def _notes(repository: Repository) -> dict[str, bytes]:
    with Reads(repository.path) as reads:  # what was not taken in may be no text at all
        raw = reads.file(repository.head(), records.NOTES)
    text = (raw or b"").decode("utf-8", "replace")
    return {records.NOTES: clean(text).encode()} if human_notes.read(text) else {}


def _refuse_place(file: Path, context: Context) -> None:
    """Refuse to write over what is no pack, and into the home, whose loss a pack outlives."""
    if file.resolve().is_relative_to(context.home.path.resolve()):
        raise PackError(
            f"{file} lies in the home of Reflector.",
            hint="Name a file elsewhere: a pack outlives the home, and `burn` leaves it alone.",
        )
    raw = _bytes(file)
    try:
        if raw and not pack_seal.is_sealed(raw):
            pack_zip.unpacked(raw)
    except (NotAPackError, PackUnsafeError) as error:
        raise PackError(
            f"{file} is there already, and is no pack of a diary.", hint="Name another file."
        ) from error
    except PackError:  # a damaged pack may be written over
        return


def _sizes(diary: Diary) -> tuple[int, int, int]:
    return len(diary.entries), len(diary.traits), len(diary.lexicon)


def _common(pack: Diary, after: Diary) -> int:
    """Return how many records of a diary another one has, too."""
    return sum(
        len(there.keys() & here.keys())
        for there, here in (
            (pack.entries, after.entries),
            (pack.traits, after.traits),
            (pack.lexicon, after.lexicon),
        )
    )
