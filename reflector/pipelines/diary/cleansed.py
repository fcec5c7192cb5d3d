"""A diary without the secrets that it should never have held, and how many there were."""

from __future__ import annotations

from dataclasses import replace

from reflector.core.cleaning import suspicious
from reflector.core.diary import Diary, Entry, Term, Trait, term_key
from reflector.core.redact import redact


class Cleaner:
    """Takes secrets out of texts and counts them."""

    def __init__(self) -> None:
        """Begin at none."""
        self.found = 0

    def text(self, text: str) -> str:
        """Return a text without its secrets."""
        if not suspicious(text):
            return text
        done = redact(text)
        self.found += sum(done.counts.values())
        return done.text

    def entry(self, entry: Entry) -> Entry:
        """Return an entry without secrets in what it says."""
        tags = tuple(map(self.text, entry.tags))
        text, conversation = self.text(entry.text), self.text(entry.conversation)
        if (text, tags, conversation) == (entry.text, entry.tags, entry.conversation):
            return entry
        return replace(entry, text=text, tags=tags, conversation=conversation)

    def trait(self, trait: Trait) -> Trait:
        """Return a trait without secrets in what it says."""
        return replace(trait, text=self.text(trait.text), evidence=self.text(trait.evidence))

    def term(self, term: Term) -> Term:
        """Return a term without secrets in it."""
        return replace(term, term=self.text(term.term))


def without_secrets(diary: Diary) -> tuple[Diary, int]:
    """Return the diary without secrets, and how many were taken out."""
    cleaner = Cleaner()
    terms = list(map(cleaner.term, diary.lexicon.values()))
    cleaned = replace(
        diary,
        entries={name: cleaner.entry(entry) for name, entry in diary.entries.items()},
        traits={name: cleaner.trait(trait) for name, trait in diary.traits.items()},
        lexicon={term_key(term.term): term for term in terms},
        persona=cleaner.text(diary.persona),
        notes=tuple(map(cleaner.text, diary.notes)),
    )
    return (cleaned if cleaner.found else diary), cleaner.found
