"""The inside of a pack: a zip of checked members, written plainly and read with suspicion."""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reflector.core.diary import SCHEMA
from reflector.runtime.diary.pack_errors import (
    NotAPackError,
    PackChecksumError,
    PackIncompleteError,
    PackNewerError,
    PackTooBigError,
    PackUnsafeError,
)

FORMAT: Final = "reflector-diary"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"

# Where members may lie. A name outside is refused before anything of it is read.
_NAME = re.compile(
    r"diary\.json|mood\.json|persona\.md|NOTES\.md|entries/\d{4}-\d\d/[a-z0-9_-]+\.json"
    r"|(?:traits|lexicon|tombstones)/[a-z0-9_-]+\.json"
)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_CHUNK = 64 * 1024
_LOCKED = 0x1
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNREADABLE = (
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a pack may hold, counted in bytes while it is read and never taken from its headers."""

    total: int = 128 * 1024 * 1024
    member: int = 1024 * 1024
    manifest: int = 32 * 1024 * 1024
    members: int = 200_000
    ratio: int = 200
    unsuspected: int = 1024 * 1024


def packed(files: Mapping[str, bytes], time: str) -> bytes:
    """Return the bytes of a pack; the same files at the same time are the same bytes."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "schema": SCHEMA,
        "time": time,
        "members": {name: _digest(files[name]) for name in sorted(files)},
    }
    raw = json.dumps(manifest, sort_keys=True, indent=1).encode() + b"\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {MANIFEST: raw, **dict(sorted(files.items()))}.items():
            member = zipfile.ZipInfo(name, _LONG_AGO)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (stat.S_IFREG | 0o600) << 16
            archive.writestr(member, content)
    return stream.getvalue()


def unpacked(raw: bytes, limits: Limits | None = None) -> dict[str, bytes]:
    """Return the checked members of a pack, without its manifest. Raises a PackError."""
    limits = limits or Limits()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = _members(archive, limits)
            reading = _Reading(archive, limits, len(raw))
            sums = _sums(reading.read(members.pop(MANIFEST), limits.manifest))
            if differing := sorted(sums.keys() ^ members.keys()):
                what = "is missing" if differing[0] in sums else "is not in its manifest"
                raise PackIncompleteError(f"The pack's {differing[0]} {what}.")
            found = {name: reading.read(info, limits.member) for name, info in members.items()}
    except zipfile.BadZipFile as error:
        raise _damaged(error) from error
    except _UNREADABLE as error:
        raise NotAPackError(f"The file is no zip that can be read: {error}.") from error
    for name, content in found.items():
        if _digest(content) != sums[name]:
            raise PackChecksumError(f"The pack's {name} is not what was packed.")
    return found


def _damaged(error: zipfile.BadZipFile) -> PackChecksumError | NotAPackError:
    if "CRC" in str(error):
        return PackChecksumError(f"A part of the pack is damaged: {error}.")
    return NotAPackError(f"The file is no zip that can be read: {error}.")


def _members(archive: zipfile.ZipFile, limits: Limits) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, none of which was read yet."""
    listed = archive.infolist()
    if len(listed) > limits.members:
        raise PackTooBigError(f"The pack has {len(listed)} members.")
    found: dict[str, zipfile.ZipInfo] = {}
    for member in listed:
        name = member.filename
        if name != member.orig_filename or not (name == MANIFEST or _NAME.fullmatch(name)):
            raise PackUnsafeError(f"The pack has a member {member.orig_filename[:120]!r}.")
        if name in found:
            raise PackUnsafeError(f"The pack has two members {name}.")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.is_dir() or member.flag_bits & _LOCKED:
            raise PackUnsafeError(f"The pack's {name} is no plain file.")
        if member.compress_type not in _PLAIN:
            raise PackUnsafeError(f"The pack's {name} is compressed as no pack of ours.")
        found[name] = member
    if MANIFEST not in found:
        raise NotAPackError(f"The file is a zip without a {MANIFEST}.")
    return found


class _Reading:
    """Reads members, and stops at once when they come to more than they may."""

    def __init__(self, archive: zipfile.ZipFile, limits: Limits, size: int) -> None:
        self._archive = archive
        self._limits = limits
        self._most = max(limits.unsuspected, min(limits.total, size * limits.ratio))
        self._read = 0

    def read(self, member: zipfile.ZipInfo, most: int) -> bytes:
        content = bytearray()
        with self._archive.open(member) as stream:
            while chunk := stream.read(_CHUNK):
                content += chunk
                self._read += len(chunk)
                if len(content) > most or self._read > self._most:
                    raise PackTooBigError(f"The pack's {member.filename} is larger than it may be.")
        return bytes(content)


def _sums(raw: bytes) -> dict[str, str]:
    """Return the checksums that a manifest names. Raises a PackError."""
    try:
        found = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise NotAPackError(f"The pack's {MANIFEST} cannot be read.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise NotAPackError(f"The pack's {MANIFEST} is none of a diary's.")
    for name, newest in (("version", VERSION), ("schema", SCHEMA)):
        number = found.get(name)
        if type(number) is not int or number < 1:
            raise NotAPackError(f"The pack's {MANIFEST} names no {name}.")
        if number > newest:
            raise PackNewerError(f"The pack has {name} {number}, this program reads {newest}.")
    sums = found.get("members")
    if not isinstance(sums, dict) or not all(isinstance(value, str) for value in sums.values()):
        raise NotAPackError(f"The pack's {MANIFEST} names no members.")
    return sums


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
