"""A diary as files, and files as a diary: canonical JSON, one file for each record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from reflector.core.diary import (
    SCHEMA,
    Diary,
    Entry,
    Mood,
    Part,
    Share,
    Term,
    Tombstone,
    Trait,
    term_key,
)
from reflector.core.errors import ReflectorError
from reflector.pipelines.diary import fields, human_notes, parts
from reflector.pipelines.diary.fields import FormError
from reflector.pipelines.diary.migrations import HEADER, migrated
from reflector.pipelines.diary.settling import digest, settled
from reflector.pipelines.diary.uniting import same

PERSONA: Final = "persona.md"
NOTES: Final = "NOTES.md"
MOOD: Final = "mood.json"
LONGEST_FILE: Final = 1024 * 1024
"""Bytes of one record, at most; a longer file is a damaged one."""

_FOLDERS = ("entries/", "traits/", "lexicon/", "tombstones/")
_READABLE = re.compile(r"[^a-z0-9]+")
_Record = TypeVar("_Record")
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


class DiaryRecordError(ReflectorError):
    """A record that would not be read again may not be written."""

    code = "bad_diary_record"


def entry_path(entry: Entry) -> str:
    """Return where an entry lies: by the month of its date."""
    return f"entries/{entry.date[:7]}/{entry.id}.json"


def trait_path(trait: Trait) -> str:
    """Return where a trait lies."""
    return f"traits/{trait.id}.json"


def term_path(term: str) -> str:
    """Return where a term lies: a readable part, then 8 hex digits that keep two terms apart."""
    key = term_key(term)
    readable = _READABLE.sub("-", key).strip("-")[:40].strip("-")
    return f"lexicon/{readable or 'term'}-{digest(key)[:8]}.json"


def tombstone_path(tombstone: Tombstone) -> str:
    """Return where a tombstone lies."""
    return f"tombstones/{tombstone.id}.json"


def read(files: Mapping[str, bytes]) -> Diary:
    """Return the diary that files hold; a damaged one is skipped and named, and stays as it is.

    Files that are none of a diary are passed over. Raises DiaryPausedError for another schema.
    """
    files = migrated(files)
    damaged: list[str] = []
    found: dict[str, object] = {}
    for path in sorted(files):
        if path.startswith(_FOLDERS) or path in (MOOD, HEADER):
            try:
                found[path] = _parsed(path, files[path])
            except (ValueError, RecursionError):
                damaged.append(path)
    damaged += _doubled(found)
    texts = {path: _decoded(files.get(path, b"")) for path in (PERSONA, NOTES)}
    damaged += [path for path, text in texts.items() if text is None]
    return _assembled(found, texts[PERSONA] or "", texts[NOTES] or "", sorted(damaged))


def files(diary: Diary) -> dict[str, bytes]:
    """Return the files of a diary, but those of people and those that were damaged.

    Raises DiaryRecordError, naming the file, when a record is not in the form of its kind.
    """
    return {path: raw for path, raw in changes(None, diary).items() if raw is not None}


def changes(before: Diary | None, after: Diary) -> dict[str, bytes | None]:
    """Return the files in which `after` differs from `before`, None for one that goes.

    Only these are rendered and checked: a diary of years holds thousands, and one of them changes.
    Raises DiaryRecordError as `files` does.
    """
    old = dict(_records(settled(before))) if before else {}
    new = dict(_records(settled(after, before)))
    damaged = {*after.damaged, *(before.damaged if before else ())}
    return {
        path: _rendered(path, new[path]) if path in new else None
        for path in sorted({*old, *new} - damaged)
        if path not in old or path not in new or not _alike(old[path], new[path])
    }


def _alike(old: object, new: object) -> bool:
    if isinstance(old, Entry | Trait | Term) and isinstance(new, Entry | Trait | Term):
        return same(old, new)
    return old == new


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind of record is read and written. `make` raises FormError."""

    fields: Mapping[str, fields.Test]
    make: Callable[[dict[str, Any]], object]
    path: Callable[[Any], str]


def _entry(found: dict[str, Any]) -> Entry:
    listed = found.pop("parts")
    sizes = [one.pop("size") for one in listed]
    named = [Part(text="", **one) for one in listed] or [
        Part(parts.FIRST, "", found["created_at"] or found["updated_at"], 1, "")
    ]
    if parts.ordered(named) != named or len({one.id for one in named}) < len(named):
        raise FormError("its parts do not follow each other")
    pieces = parts.cut(found["text"], named, sizes or [len(found["text"])])
    return Entry(
        **{**found, "tags": tuple(found["tags"]), **_numbers(found, "salience")}, parts=pieces
    )


def _trait(found: dict[str, Any]) -> Trait:
    return Trait(**{**found, **_numbers(found, "confidence", "salience")})


def _term(found: dict[str, Any]) -> Term:
    shares = tuple(Share(**one) for one in found.pop("counts"))
    return Term(**found, counts=shares)


def _mood(found: dict[str, Any]) -> Mood:
    return Mood(**{**found, **_numbers(found, "value")})


def _numbers(found: Mapping[str, Any], *names: str) -> dict[str, float]:
    return {name: float(found[name]) for name in names}


_FORMS: Final[Mapping[str, _Form]] = {
    "entries": _Form(fields.ENTRY, _entry, entry_path),
    "traits": _Form(fields.TRAIT, _trait, trait_path),
    "lexicon": _Form(fields.TERM, _term, lambda term: term_path(term.term)),
    "tombstones": _Form(fields.TOMBSTONE, lambda found: Tombstone(**found), tombstone_path),
    MOOD: _Form(fields.MOOD, _mood, lambda _: MOOD),
    HEADER: _Form(fields.HEADER, lambda found: found["replica"], lambda _: HEADER),
}


def _parsed(path: str, raw: bytes) -> object:
    """Return the record of one file. Raises ValueError."""
    if len(raw) > LONGEST_FILE:
        raise FormError("it is too long")
    form = _FORMS[path.partition("/")[0]]
    record = form.make(fields.checked(form.fields, json.loads(raw.decode("utf-8"))))
    if form.path(record) != path:
        raise FormError("it lies where another record would")
    return record


def _records(diary: Diary) -> Iterator[tuple[str, object]]:
    """Yield the path and the record of every file of a settled diary."""
    yield HEADER, diary.replica
    for entry in diary.entries.values():
        yield entry_path(entry), entry
    for trait in diary.traits.values():
        yield trait_path(trait), trait
    for term in diary.lexicon.values():
        yield term_path(term.term), term
    for tombstone in diary.tombstones.values():
        yield tombstone_path(tombstone), tombstone
    if diary.mood != Mood():
        yield MOOD, diary.mood
    if diary.persona:
        yield PERSONA, diary.persona


def _fields(path: str, record: object) -> dict[str, Any]:
    match record:
        case Entry():
            return _plain(record, fields.ENTRY) | {
                "tags": list(record.tags),
                "parts": [] if parts.pristine(record.parts) else list(map(_part, record.parts)),
            }
        case Term():
            shares = [_plain(share, ("replica", "edition", "value")) for share in record.counts]
            return _plain(record, fields.TERM) | {"counts": shares}
        case str():
            return {"schema": SCHEMA, "replica": record}
        case _:
            return _plain(record, _FORMS[path.partition("/")[0]].fields)


def _part(part: Part) -> dict[str, Any]:
    return {**_plain(part, ("id", "after", "at", "version")), "size": len(part.text)}


def _plain(record: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _rendered(path: str, record: object) -> bytes:
    if path == PERSONA and isinstance(record, str):
        return record.encode("utf-8", "replace")
    found = _fields(path, record)
    try:
        fields.checked(_FORMS[path.partition("/")[0]].fields, found)
    except FormError as error:
        raise DiaryRecordError(
            f"The diary's {path} would not be read again: {error}.",
            hint="Nothing was written.",
            path=path,
        ) from error
    # A line for each field, so that git shows what changed.
    told = (
        f'"{name}": {_ENCODE(found[name])}'
        for name in sorted(found)
        if not fields.silent(name, found[name])
    )
    return "{{\n {}\n}}\n".format(",\n ".join(told)).encode()


def _doubled(found: dict[str, object]) -> list[str]:
    """Take out, and return, the paths of entries that lie in a second month too."""
    ids: set[str] = set()
    doubled: list[str] = []
    for path, record in found.items():
        if isinstance(record, Entry):
            if record.id in ids:
                doubled.append(path)
            ids.add(record.id)
    for path in doubled:
        del found[path]
    return doubled


def _assembled(found: Mapping[str, object], persona: str, notes: str, damaged: list[str]) -> Diary:
    mood, replica = found.get(MOOD), found.get(HEADER)
    return Diary(
        entries={one.id: one for one in _of(Entry, found)},
        traits={one.id: one for one in _of(Trait, found)},
        lexicon={term_key(one.term): one for one in _of(Term, found)},
        tombstones={one.id: one for one in _of(Tombstone, found)},
        persona=persona,
        notes=human_notes.read(notes),
        mood=mood if isinstance(mood, Mood) else Mood(),
        damaged=tuple(damaged),
        replica=replica if isinstance(replica, str) else "",
    )


def _of(kind: type[_Record], found: Mapping[str, object]) -> Iterator[_Record]:
    return (record for record in found.values() if isinstance(record, kind))


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
