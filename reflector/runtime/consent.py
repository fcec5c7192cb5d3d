"""What may be recorded: a person's no, as a decision over values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from reflector.runtime.pauses import Pause

_OFF_RECORD = re.compile(r"(?:[\s\ufeff\u200b]|\[image\])*#norecord(?!\w)", re.IGNORECASE)
_WHOLE_SECOND = ".000Z"


class No(StrEnum):
    """Why something is left out of the journal."""

    OWN = "own"
    EXCLUDED = "excluded"
    OFF = "off"
    HEADLESS = "headless"
    PAUSED = "paused"
    NORECORD = "norecord"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person said no to. `excluded` are patterns as `pattern` returns them."""

    pauses: tuple[Pause, ...] = ()
    excluded: tuple[str, ...] = ()
    headless: bool = True

    def paused(self, since: str, until: str) -> bool:
        """Tell whether any part of this time was paused; both ends count.

        A time without a fraction of a second may have been any instant in that second.
        """
        last = until.removesuffix(_WHOLE_SECOND) + ".999Z" if _rough(until) else until
        return any(
            each.since <= last and (not each.until or since < each.until) for each in self.pauses
        )

    def leaves_out(self, folders: Sequence[str]) -> bool:
        """Tell whether one of these folders or anything above it is excluded."""
        return any(
            _fits(each, above)
            for folder in folders
            for above in parents(folder)
            for each in self.excluded
        )


def off_record(text: str) -> bool:
    """Tell whether a message of the user asks to keep its turn out."""
    return _OFF_RECORD.match(text) is not None


def pattern(typed: str, home: str) -> str:
    """Return a pattern as it is matched: `~` is the person's home, a loose one fits anywhere.

    Without a leading slash a pattern could never fit a folder, and excluding nothing without a
    word would be the worst of all answers.
    """
    if typed == "~" or typed.startswith("~/"):
        typed = home + typed[1:]
    plain = unicodedata.normalize("NFC", typed).removesuffix("/**").rstrip("/") or "/"
    return plain if plain.startswith(("/", "*")) else f"*/{plain.removeprefix('./')}"


def parents(folder: str) -> list[str]:
    """Return a folder and everything above it."""
    plain = unicodedata.normalize("NFC", folder).rstrip("/") or "/"
    found = [plain]
    while plain not in ("/", ""):
        plain = plain.rpartition("/")[0]
        found.append(plain or "/")
    return found


def _fits(pattern: str, folder: str) -> bool:
    # A name that holds `[` fits itself even where that is no valid pattern.
    return pattern == folder or fnmatchcase(folder, pattern)


def _rough(moment: str) -> bool:
    return moment.endswith(_WHOLE_SECOND)
