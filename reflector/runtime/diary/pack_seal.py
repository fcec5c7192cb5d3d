"""A pack behind a passphrase: scrypt makes the key, AES-GCM keeps and proves the bytes."""

from __future__ import annotations

from typing import Final

from reflector.core.ambient import Chance
from reflector.runtime.diary.pack_errors import PackNewerError, PassphraseError, SealMissingError

MAGIC: Final = b"reflector-sealed-pack-1\n"

_ANY = b"reflector-sealed-pack-"
_SALT = 16
_NONCE = 12
_COST = 1 << 15  # 32 MiB and a tenth of a second for each guess


def is_sealed(raw: bytes) -> bool:
    """Tell whether a passphrase is needed. Raises PackNewerError for a form to come."""
    if raw.startswith(_ANY) and not raw.startswith(MAGIC):
        raise PackNewerError("The pack is sealed in a way that this program does not know.")
    return raw.startswith(MAGIC)


def seal(raw: bytes, passphrase: str, chance: Chance) -> bytes:
    """Return a pack that only the passphrase opens."""
    salt, nonce = (bytes.fromhex(chance.hex(2 * size)) for size in (_SALT, _NONCE))
    try:
        from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - an extra
            AESGCM,
        )
    except ImportError as error:
        raise _missing() from error
    key = _key(passphrase, salt)
    return MAGIC + salt + nonce + AESGCM(key).encrypt(nonce, raw, MAGIC)


def opened(raw: bytes, passphrase: str) -> bytes:
    """Return what a sealed pack holds. Raises PassphraseError."""
    try:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
    except ImportError as error:
        raise _missing() from error
    body = raw[len(MAGIC) :]
    salt, nonce, sealed = body[:_SALT], body[_SALT : _SALT + _NONCE], body[_SALT + _NONCE :]
    if len(nonce) < _NONCE:
        raise _closed()
    try:
        return AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, MAGIC)
    except InvalidTag as error:
        raise _closed() from error


def _key(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - an extra

    secret = passphrase.encode("utf-8", "surrogateescape")
    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(secret)


def _closed() -> PassphraseError:
    return PassphraseError(
        "The passphrase is wrong, or the file is damaged.", hint="Nothing was changed; try again."
    )


def _missing() -> SealMissingError:
    return SealMissingError("A passphrase needs the package cryptography, which is not installed.")
