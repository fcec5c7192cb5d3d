"""What one reading of a source counts: entries, secrets taken out, rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.runtime.consent import No


class Tally:
    """Counts over one file. `new` is the entry that the last record added, until it is taken."""

    def __init__(self, bad_lines: int) -> None:
        """Go on from what was wrong with the file so far."""
        self.entries = self.skipped = 0
        self.bad_lines = bad_lines
        self.left_out: dict[str, int] = {}
        self.added: dict[ConversationKey, int] = {}
        self.passed_by: set[str] = set()
        self._redactions: dict[str, int] = {}
        self._typed: dict[str, int] = {}
        self.new: Entry | None = None

    def take_new(self) -> Entry | None:
        """Return the entry that a record added, None if it added none."""
        taken, self.new = self.new, None
        return taken

    def refused(self, why: No) -> None:
        """Count a record that a person said no to."""
        self.left_out[why.value] = self.left_out.get(why.value, 0) + 1

    def redacted(self, kind: Kind, counts: Mapping[str, int]) -> None:
        """Count the secrets taken out of an entry, by rule."""
        for rule, count in counts.items():
            self._redactions[rule] = self._redactions.get(rule, 0) + count
            if kind is Kind.USER:
                self._typed[rule] = self._typed.get(rule, 0) + count

    def passed(self, before: Mapping[str, int]) -> list[str]:
        """Return those of these conversations that grew since; nothing of them waits for a run."""
        now = {str(key): count for key, count in self.added.items()}
        grown = [key for key, count in before.items() if now.get(key, 0) > count]
        self.passed_by.update(grown)
        return grown

    def take_redactions(self) -> dict[str, int]:
        """Return the secrets that were taken out since this was last asked."""
        taken, self._redactions = self._redactions, {}
        return taken

    def take_typed(self) -> dict[str, int]:
        """Return those of them that a person had typed."""
        taken, self._typed = self._typed, {}
        return taken
