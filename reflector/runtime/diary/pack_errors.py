"""Why a pack is refused; each cause has a code of its own, and nothing was written."""

from __future__ import annotations

from reflector.core.errors import ReflectorError


class PackError(ReflectorError):
    """A pack that cannot be written, or is not what it should be."""

    code = "bad_pack"
    advice = "Nothing was changed."


class NotAPackError(PackError):
    """The file is no pack of a diary, or cannot be read."""

    code = "not_a_pack"
    advice = "Name a file that `reflector diary export` wrote; nothing was changed."


class PackUnsafeError(PackError):
    """A member's name or kind is one that no pack of ours has."""

    code = "pack_unsafe"
    advice = "Do not trust this file: `diary export` writes no such pack. Nothing was changed."


class PackTooBigError(PackError):
    """The pack holds more than any diary does."""

    code = "pack_too_big"
    advice = "Do not trust this file: no diary is that large. Nothing was changed."


class PackChecksumError(PackError):
    """A member's bytes are not those that were packed."""

    code = "pack_checksum"
    advice = "The file was damaged on its way: copy it again, or export again. Nothing was changed."


class PackIncompleteError(PackError):
    """The members are not those that the manifest names."""

    code = "pack_incomplete"
    advice = "The file was changed after the export: export again. Nothing was changed."


class PackDamagedError(PackError):
    """A member is not in the form of its kind, though it is what was packed."""

    code = "pack_damaged"
    advice = "Export it again from the diary it came from. Nothing was changed."


class PackNewerError(PackError):
    """A pack of a newer program."""

    code = "pack_newer"
    exit_code = 3
    advice = "Update Reflector, then import it again; nothing was changed."


class PassphraseError(PackError):
    """The passphrase is missing, wrong, or not of use here."""

    code = "pack_passphrase"
    advice = "Nothing was changed."


class SealMissingError(PackError):
    """The library that a passphrase needs is not installed."""

    code = "pack_library_missing"
    exit_code = 3
    advice = "`pip install 'reflector[pack]'` brings it."
