"""The inside of a pack: whatever it holds, nothing is believed before it was checked."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.ambient import SystemChance
from reflector.runtime.diary import pack_seal
from reflector.runtime.diary.pack_errors import (
    NotAPackError,
    PackChecksumError,
    PackError,
    PackIncompleteError,
    PackNewerError,
    PackTooBigError,
    PackUnsafeError,
    PassphraseError,
    SealMissingError,
)
from reflector.runtime.diary.pack_zip import Limits, packed, unpacked

FILES = {
    "diary.json": b'{"schema": 1}\n',
    "entries/2026-11/e1.json": b'{"id": "e1"}\n',
    "persona.md": "# 我\n".encode(),
}
TIME = "2026-11-30T12:00:00.000Z"
NAME = "entries/2026-11/e1.json"


def _manifest(files: Mapping[str, bytes], **changed: Any) -> bytes:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    known = {"format": "reflector-diary", "version": 1, "schema": 1, "time": TIME, "members": sums}
    return json.dumps(known | changed).encode()


def _zip(*members: tuple[str | zipfile.ZipInfo, bytes], manifest: bytes | None = None) -> bytes:
    """Return a zip of exactly these members, with a manifest that fits unless one is given."""
    named = {(one if isinstance(one, str) else one.filename): raw for one, raw in members}
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of a name that comes twice
        archive.writestr("manifest.json", _manifest(named) if manifest is None else manifest)
        for one, raw in members:
            archive.writestr(one, raw)
    return stream.getvalue()


def _member(name: str, mode: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def test_a_pack_holds_what_was_packed_and_says_so():
    raw = packed(FILES, TIME)

    assert unpacked(raw) == FILES
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["schema"] == 1
    assert manifest["time"] == TIME
    assert manifest["members"][NAME] == hashlib.sha256(FILES[NAME]).hexdigest()


def test_the_same_diary_is_the_same_pack():
    assert packed(FILES, TIME) == packed(dict(reversed(FILES.items())), TIME)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.json",
        "entries/../../outside.json",
        "/etc/passwd",
        "C:/x.json",
        "entries/2026-11/..\\x.json",
        "entries/2026-11/a\0.json",
        "README.md",
        ".git/config",
        "entries/2026-11/sub/e1.json",
        "entries/2026-11/",
        "traits/E1.JSON",
    ],
)
def test_a_member_that_no_pack_of_ours_has_is_refused(name: str):
    member = zipfile.ZipInfo("x")
    member.filename = name

    with pytest.raises(PackUnsafeError):
        unpacked(_zip((member, b"{}")))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFCHR])
def test_a_member_that_is_no_plain_file_is_refused(mode: int):
    with pytest.raises(PackUnsafeError, match="no plain file"):
        unpacked(_zip((_member(NAME, mode | 0o777), b"/etc/passwd")))


def test_a_member_that_comes_twice_is_refused():
    with pytest.raises(PackUnsafeError, match="two members"):
        unpacked(_zip((NAME, b"{}"), (NAME, b"{}")))


def test_other_bytes_than_were_packed_are_refused():
    with pytest.raises(PackChecksumError):
        unpacked(_zip((NAME, b"{}"), manifest=_manifest({NAME: b"{ }"})))


@pytest.mark.parametrize(
    "named", [{}, {NAME: b"{}", "traits/t1.json": b"{}"}], ids=["not named", "not there"]
)
def test_members_and_manifest_have_to_agree(named: dict[str, bytes]):
    with pytest.raises(PackIncompleteError):
        unpacked(_zip((NAME, b"{}"), manifest=_manifest(named)))


@pytest.mark.parametrize("changed", [{"version": 2}, {"schema": 2}])
def test_a_newer_pack_is_refused(changed: dict[str, int]):
    with pytest.raises(PackNewerError):
        unpacked(_zip((NAME, b"{}"), manifest=_manifest({NAME: b"{}"}, **changed)))


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 50_000,
        b"{}",
        b'{"format": "reflector-diary"}',
        _manifest({}, members=3),
        _manifest({}, schema="1"),
        _manifest({}, version=True),
    ],
    ids=len,
)
def test_a_zip_of_somebody_else_is_no_pack(manifest: bytes):
    with pytest.raises(NotAPackError):
        unpacked(_zip((NAME, b"{}"), manifest=manifest))


@pytest.mark.parametrize("raw", [b"", b"PK", b"x" * 100, packed(FILES, TIME)[:200]], ids=len)
def test_what_is_no_zip_is_no_pack(raw: bytes):
    with pytest.raises(NotAPackError):
        unpacked(raw)


def test_a_member_larger_than_any_record_is_refused():
    with pytest.raises(PackTooBigError):
        unpacked(_zip((NAME, b"x" * 2000)), Limits(member=1000))


def test_members_that_together_are_more_than_any_diary_are_refused():
    many = [(f"traits/t{at}.json", bytes(range(250)) * 4) for at in range(20)]

    with pytest.raises(PackTooBigError):
        unpacked(_zip(*many), Limits(total=10_000, unsuspected=10_000))


def test_more_members_than_any_diary_has_are_refused():
    many = [(f"traits/t{at}.json", b"{}") for at in range(20)]

    with pytest.raises(PackTooBigError, match="21 members"):
        unpacked(_zip(*many), Limits(members=20))


def test_a_bomb_is_refused_before_it_is_large():
    bomb = [(f"traits/t{at}.json", b"\0" * 1_000_000) for at in range(12)]
    raw = _zip(*bomb)
    assert len(raw) < 20_000

    with pytest.raises(PackTooBigError):
        unpacked(raw)


def test_a_header_that_lies_about_a_size_is_not_believed():
    raw = bytearray(_zip((NAME, b"y" * 5000)))
    # The size of the last member, in the central directory and in front of its bytes.
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = raw.rfind(mark) + at
        raw[place : place + 4] = (10).to_bytes(4, "little")

    with pytest.raises(PackError):
        unpacked(bytes(raw))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_pack_is_refused_or_holds_what_was_packed(data: st.DataObject):
    raw = bytearray(packed(FILES, TIME))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))

    try:
        found = unpacked(bytes(raw))
    except PackError:
        return
    assert found == FILES


def test_a_sealed_pack_opens_with_its_passphrase_alone():
    raw = packed(FILES, TIME)
    sealed = pack_seal.seal(raw, "korrekt 马 batterie", SystemChance())

    assert pack_seal.is_sealed(sealed)
    assert not pack_seal.is_sealed(raw)
    assert NAME.encode() not in sealed
    assert pack_seal.opened(sealed, "korrekt 马 batterie") == raw
    with pytest.raises(PassphraseError):
        pack_seal.opened(sealed, "korrekt")


@pytest.mark.parametrize(
    "change", [lambda raw: raw[:-1], lambda raw: raw[:30], lambda raw: raw[:-9] + b"x" + raw[-8:]]
)
def test_a_sealed_pack_that_was_changed_does_not_open(change: Callable[[bytes], bytes]):
    sealed = pack_seal.seal(b"x" * 100, "secret", SystemChance())

    with pytest.raises(PassphraseError):
        pack_seal.opened(change(sealed), "secret")


def test_a_seal_to_come_is_told_from_what_is_no_pack():
    with pytest.raises(PackNewerError):
        pack_seal.is_sealed(b"reflector-sealed-pack-2\n...")


def test_without_the_library_a_passphrase_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)

    with pytest.raises(SealMissingError) as raised:
        pack_seal.seal(b"x", "secret", SystemChance())
    assert "reflector[pack]" in raised.value.hint
    with pytest.raises(SealMissingError):
        pack_seal.opened(pack_seal.MAGIC + b"x" * 60, "secret")
