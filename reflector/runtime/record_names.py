"""Names without secrets, of conversations and records: a harness may take them from anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from reflector.core.cleaning import clean
from reflector.core.entry import ConversationKey
from reflector.harness import reading

_HEXADECIMAL = re.compile(r"h?[0-9a-f.-]+")
"""What hashes and most ids of harnesses look like, and no secret that stands alone."""


class Names:
    """What one reading has renamed: conversations are asked for again and again."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: dict[ConversationKey, ConversationKey] = {}

    def of(self, key: ConversationKey) -> ConversationKey:
        """Return a conversation as it may be named."""
        if key not in self._known:
            session, agent = clean(key.session), clean(key.agent)
            self._known[key] = ConversationKey(key.harness, session, agent)
        return self._known[key]

    def cleaned(self, records: Sequence[reading.Record]) -> list[reading.Record]:
        """Return the records of a batch as they may be kept."""
        named = {part for record in records for name in _named(record) for part in name.split(":")}
        doubtful = sorted(name for name in named if not _HEXADECIMAL.fullmatch(name))
        together = "\n".join(doubtful)  # one look costs as much as a hundred short ones
        found = () if clean(together) == together else doubtful
        secret = frozenset(name for name in found if clean(name) != name)
        return [self._cleaned(record, secret) for record in records]

    def _cleaned(self, record: reading.Record, secret: frozenset[str]) -> reading.Record:
        key = self.of(record.key)
        if key == record.key and not secret:
            return record
        match record:
            case reading.Appended(entry=found):
                own, message = _renamed(found.id, secret), _renamed(found.message_id, secret)
                parent = self.of(record.parent) if record.parent else None
                entry = replace(found, id=own, message_id=message)
                return replace(record, key=key, parent=parent, entry=entry)
            case reading.Hidden(message_id=message):
                return replace(record, key=key, message_id=_renamed(message, secret))
            case reading.Boundary(record=name):
                return replace(record, key=key, record=_renamed(name, secret))
            case _:
                return replace(record, key=key)


def _named(record: reading.Record) -> Sequence[str]:
    match record:
        case reading.Appended(entry=entry):
            return entry.id, entry.message_id
        case reading.Hidden(message_id=name) | reading.Boundary(record=name):
            return (name,)
        case _:
            return ()


def _renamed(name: str, secret: frozenset[str]) -> str:
    """Put a hash in the place of each part that is a secret: two names must stay two."""
    return ":".join(
        "h" + sha256(part.encode()).hexdigest()[:24] if part in secret else part
        for part in name.split(":")
    )
