"""Secrets that are known by what stands before them: a password field, a login header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

# The words that announce a secret, on the lowered copy with every "-" as "_". Each pattern starts
# with plain letters: one literal search per word is much faster than one pattern of alternatives.
_Kind = Literal["password", "field", "authorization", "bearer"]
_KEYS: tuple[tuple[_Kind, bytes, re.Pattern[bytes]], ...] = (
    ("field", b"token", re.compile(rb"token")),
    ("field", b"secret", re.compile(rb"secret(?:_access)?(?:_?key)?")),
    ("password", b"pass", re.compile(rb"pass(?:word|wd|wort|phrase)")),
    ("password", b"pwd", re.compile(rb"pwd")),
    ("field", b"key", re.compile(rb"key")),
    ("bearer", b"bearer", re.compile(rb"bearer")),
    ("authorization", b"authoriz", re.compile(rb"authorization")),
)
_OWNERS = tuple(
    owner + joint
    for owner in b"api access private auth account encryption signing master shared service "
    b"storage deploy license subscription client".split()
    for joint in (b"", b"_")
)
_TAIL = rb"(?:_(?:base|value|b64|base64))?\d?[\\\"'`\]*]{0,8}"
_BLANK = rb"[ \t*]{0,8}"
_ASSIGNED = re.compile(_TAIL + rb"[ \t]{0,8}(?::=|=>|===?|:|=)" + _BLANK)
_ANNOTATED = re.compile(_TAIL + rb"[ \t]{0,8}:[ \t]{0,4}[a-z][\w.\[\]| ]{0,40}?=" + _BLANK)
_SPOKEN = re.compile(_TAIL + rb"[ \t]{1,4}is[ \t]{1,4}:?" + _BLANK)
_FLAG = re.compile(rb"[ \t]{1,8}")
_ELEMENT = re.compile(rb">(?=[^<\n]{1,256}</)")
_SCHEME = re.compile(rb"(?:bearer|basic|token|bot|apikey|api_key|digest)[ \t]{1,8}")
_BEFORE_FLAG = re.compile(rb"(?:\A|[\s\"'`])__\w*\Z")
_BEFORE_ELEMENT = re.compile(rb"<[\w:.]*\Z")

# A value is judged by its start, so that rejecting one stays cheap wherever it stands, and taken
# to its end.
_JUDGED = 160


def _quoted(most: int) -> re.Pattern[bytes]:
    some = b"{1,%d}" % most
    return re.compile(
        rb"\"((?:[^\"\\\n]|\\.)" + some + rb")|'((?:[^'\\\n]|\\.)" + some + rb")"
        rb"|`([^`\n]" + some + rb")|\\{1,8}[\"']([^\"'\\\n]" + some + rb")"
    )


_QUOTED_START, _QUOTED_WHOLE = _quoted(_JUDGED), _quoted(65_536)
_BARE_START = re.compile(rb"[^\s\"'`,;<>\\]{1,%d}" % _JUDGED)
_BARE_REST = re.compile(rb"[^\s\"'`,;<>\\]*")
_OPENING = re.compile(rb"\\{0,8}[\"'`]?")
_CREDENTIAL = re.compile(rb"[A-Za-z0-9._~+/=-]{8,8192}")

FIELD_RULES: Mapping[_Kind, str] = {
    "password": "password-field", "field": "field", "authorization": "login", "bearer": "login",
}  # fmt: skip
LOWER = bytes(ord("_") if c == ord("-") else c for c in bytes(range(256)).lower())
# What stands in a value's place but is none: a variable, a call, a name, a blank to fill in.
_REFERENCE = re.compile(
    rb"\$\{|\$\(|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)\Z|\$\w*(?:pass|token|secret|key)\w*\Z"
    rb"|<.*>|\{|%[A-Za-z_]+%|%[sdrv(]|\[|\*+\Z|&[\w.]+\Z|\(|\?+\Z|https?://"
)
_DUMMY = re.compile(
    rb"(?i)\[redacted:|\A\W*redacted|\Ayour[_ -]|change[_-]?me|placeholder|example\Z"
    rb"|\A(.)\1{3,}\Z|\A[\w-]{0,8}x{4}|\*{3}|\.\.\."
)
_DOTTED = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[)\]}?]*\Z")
_WORDS_DOTTED = re.compile(rb"[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")
_CALL = re.compile(rb"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[(\[{]")
_PATH = re.compile(rb"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]")
_NAME = re.compile(rb"[A-Za-z_$][\w$]*\Z", re.ASCII)
_DIGIT = re.compile(rb"\d")
_SPACE = re.compile(rb"\s")
_NO_LETTER = re.compile(rb"[\d\W]")
_SIGN = re.compile(rb"[!@#$%^&*+=~]")
_KEYISH = re.compile(rb"(?i)pass|pwd|token|secret|key|auth|cred")
WORDS = frozenset(
    b"password passwort passphrase kennwort contrasena secret token apikey api_key api-key bearer "
    b"required optional production development undefined disabled enabled include omitted "
    b"invalid missing expired unknown default string boolean number integer hidden sha256 sha512 "
    b"base64 uint32 uint64 float32 float64 oauth2 same-origin access refresh encrypted "
    b"access_token refresh_token id_token client_secret private_key current-password new-password "
    b"one-time-code".split()
)


@dataclass(frozen=True, slots=True, order=True)
class _Key:
    start: int
    end: int
    kind: _Kind


def keyed(flat: bytes, low: bytes) -> Iterator[tuple[int, int, str]]:
    """Find values that stand under a secret key: start, end, rule."""
    position = 0
    for key in sorted(_keys(low)):
        if key.start < position:
            continue
        value = _value_of(flat, low, key)
        if value is not None:
            position = value[1]
            yield *value, FIELD_RULES[key.kind]


def _keys(low: bytes) -> Iterator[_Key]:
    for kind, stem, pattern in _KEYS:
        if stem not in low:
            continue
        for match in pattern.finditer(low):
            if stem != b"key" or low.endswith(_OWNERS, 0, match.start()):
                yield _Key(match.start(), match.end(), kind)


def _value_of(flat: bytes, low: bytes, key: _Key) -> tuple[int, int] | None:
    if key.kind == "bearer":
        gap = _FLAG.match(low, key.end)
        return _credential(flat, gap.end(), bare=True) if gap else None
    for gap in _gaps(low, key):
        if key.kind == "authorization":
            start = _open(flat, gap.end())
            scheme = _SCHEME.match(low, start)
            found = _credential(flat, scheme.end() if scheme else start, bare=not scheme)
        else:
            found = _field(flat, gap, key)
        if found:
            return found
    return None


def _gaps(low: bytes, key: _Key) -> Iterator[re.Match[bytes]]:
    """Find what may stand between a key and its value, the plainest reading first."""
    for form in (_ASSIGNED, _ANNOTATED):
        if gap := form.match(low, key.end):
            yield gap
    if key.kind == "password" and (gap := _SPOKEN.match(low, key.end)):
        yield gap
    follows = low[key.end : key.end + 1]
    before = low[max(0, key.start - 40) : key.start]
    if (
        follows in (b" ", b"\t")
        and _BEFORE_FLAG.search(before)
        and (gap := _FLAG.match(low, key.end))
    ):
        yield gap
    if follows == b">" and _BEFORE_ELEMENT.search(before) and (gap := _ELEMENT.match(low, key.end)):
        yield gap


def _open(flat: bytes, start: int) -> int:
    opening = _OPENING.match(flat, start)
    return opening.end() if opening else start


def _credential(flat: bytes, start: int, *, bare: bool) -> tuple[int, int] | None:
    match = _CREDENTIAL.match(flat, start)
    if match is None or is_dummy(match.group()) or match.group().lower() in WORDS:
        return None
    value = match.group().rstrip(b".")
    digit = _DIGIT.search(value) is not None
    enough = digit or len(value) >= 16
    if bare:
        enough = len(value) >= (12 if digit else 24) and not _DOTTED.match(value)
    return (start, start + len(value)) if enough else None


def _field(flat: bytes, gap: re.Match[bytes], key: _Key) -> tuple[int, int] | None:
    at = gap.end()
    if quoted := _QUOTED_START.match(flat, at):
        if not _quoted_secret(quoted[quoted.lastindex or 0], key):
            return None
        whole = _QUOTED_WHOLE.match(flat, at) or quoted
        return whole.span(whole.lastindex or 0)
    bare = _BARE_START.match(flat, at)
    if bare is None:
        return None
    value = bare.group()
    tight = gap.group().endswith(b"=") and b" " not in gap.group()
    if tight and b"&" in value:
        value = value[: value.index(b"&")]
    elif len(value) == _JUDGED:
        return (at, _bare_end(flat, bare.end())) if _bare_secret(value, key) else None
    value = value.rstrip(b")]}.:!?")
    end = at + len(value)
    if value.isalpha():
        return (at, end) if _word_is_secret(value, flat, end, key, tight=tight) else None
    return (at, end) if _bare_secret(value, key) else None


def _bare_end(flat: bytes, position: int) -> int:
    rest = _BARE_REST.match(flat, position)
    return rest.end() if rest else position


def is_dummy(value: bytes) -> bool:
    """Tell whether a value only stands for a secret (a variable, a mask, a blank to fill in)."""
    return _REFERENCE.match(value) is not None or _DUMMY.search(value) is not None


def _is_none(value: bytes, key: _Key) -> bool:
    is_path = key.kind == "password" and _PATH.match(value) is not None
    return is_path or is_dummy(value) or value.lower() in WORDS


def _quoted_secret(value: bytes, key: _Key) -> bool:
    if len(value) < 4 or _is_none(value, key) or _SPACE.search(value):
        return False
    return not _WORDS_DOTTED.match(value) and (
        len(value) >= 8 or _NO_LETTER.search(value) is not None
    )


def _word_is_secret(value: bytes, flat: bytes, end: int, key: _Key, *, tight: bool) -> bool:
    """Judge letters alone: a secret in a settings line, a type or a next word elsewhere."""
    alone = flat[end : end + 1] in (b"", b"\n", b"\r", b"&", b"\\", b"<")
    if len(value) < 5 or not alone or _is_none(value, key):
        return False
    one_case = value.islower() or value.isupper()
    setting = tight and (one_case or flat[key.start : key.end].isupper())
    return setting or (one_case and len(value) >= 16)


def _bare_secret(value: bytes, key: _Key) -> bool:
    strong = _DIGIT.search(value) or (len(value) >= 8 and _SIGN.search(value))
    if len(value) < 5 or not strong or _DOTTED.match(value) or _CALL.match(value):
        return False
    if value.isdigit() and (key.kind != "password" or len(value) < 6):
        return False
    if _NAME.match(value) and b"_" in value and _KEYISH.search(value):
        return False
    return not _is_none(value, key)
