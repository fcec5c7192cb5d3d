"""Messages of a person noted for extraction while they are journaled, in the same transaction."""

from __future__ import annotations

from pathlib import Path

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.harness.reading import About, Appended, Record
from reflector.runtime.banks import bank_of
from reflector.store import decisions, journal
from reflector.store.state import Connection


class Hearing:
    """Hears what one reading of a source adds. `wanted` off hears nothing.

    A conversation of a subagent is left out, and one whose folder nobody knows: it has no bank.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._folders: dict[ConversationKey, str] = {}
        self._banks: dict[str, str] = {}

    def heard(self, connection: Connection, record: Record, added: Entry | None, now: str) -> None:
        """Hear one record, and the entry that it added to the journal, None if it added none."""
        if isinstance(record, About) and record.cwd:
            self._folders[record.key] = record.cwd
        elif isinstance(record, Appended) and added is not None:
            self._said(connection, record, added, now)

    def _said(self, connection: Connection, record: Appended, entry: Entry, now: str) -> None:
        key = record.key
        person = entry.kind is Kind.USER and entry.canonical
        if not (self._wanted and person) or key.agent or record.parent is not None:
            return
        # The bank of the folder as it is now: when a model answers it may be another project's.
        bank = self._bank(record.cwd or self._folder(connection, key))
        if bank:
            decisions.enqueue_job(connection, str(key), entry, bank, now)

    def _folder(self, connection: Connection, key: ConversationKey) -> str:
        if key not in self._folders:
            known = journal.conversation(connection, str(key))
            self._folders[key] = known.cwd if known else ""
        return self._folders[key]

    def _bank(self, folder: str) -> str:
        if folder and folder not in self._banks:
            self._banks[folder] = bank_of(Path(folder))
        return self._banks.get(folder, "")
