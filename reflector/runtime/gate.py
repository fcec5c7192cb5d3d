"""Holds every record of a source against what a person said no to, before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.core.sentinel import strip
from reflector.harness.reading import About, Appended, Hidden, Record
from reflector.runtime.consent import Consent, No, off_record
from reflector.runtime.pauses import Pause
from reflector.runtime.recording import folder_no
from reflector.store import left_out
from reflector.store.journal import Appender
from reflector.store.state import State

_OF_THE_CONVERSATION = frozenset({No.OWN, No.EXCLUDED, No.OFF, No.HEADLESS})


@dataclass(slots=True)
class _Talk:
    """What is known of a conversation while its source is read."""

    here: str
    headless: bool
    silent_since: str
    stored_open: bool
    gaps: bool
    recorded: bool
    forgotten: bool
    own: bool = False
    news: bool = False
    last: str = ""
    cwd: str = ""
    title: str = ""
    ended: list[tuple[str, str]] = field(default_factory=list)


class Gate:
    """Decides record by record. One for each reading of a source."""

    def __init__(self, given: Consent, home: Path, window: tuple[str, str], *, first: bool) -> None:
        """Judge by `given`; rows without any time were written within `window`.

        `first` tells that this source was never read before.
        """
        self._consent = given
        self._home = home
        self._window = window
        self._unsaved = first
        self._folders: dict[str, No | None] = {}
        self._talks: dict[ConversationKey, _Talk] = {}
        self._notes: dict[tuple[str, str], str] = {}
        self._left_out: dict[str, No] = {}
        self.purged = False
        """Whether what is in the journal already was taken out of it."""

    def pauses(self, now: tuple[Pause, ...]) -> None:
        """Take in that somebody paused or resumed while the source is read."""
        self._consent = replace(self._consent, pauses=now)

    def begin(self, state: State, records: Sequence[Record], now: str) -> None:
        """Look at a batch before any of it is written: a title may come before the folder."""
        self._connection = state.connection
        self._now = now
        self._careful = bool(self._left_out) or left_out.anything(self._connection)
        self._retracted = {(r.key, r.message_id) for r in records if isinstance(r, Hidden)}
        for record in records:
            if isinstance(record, About):
                talk = self._talk(record.key)
                talk.headless |= record.headless
                talk.here = talk.here or record.cwd

    def learn(self, record: About) -> None:
        """Take in what became known of a conversation; `end` writes what may be kept of it."""
        talk = self._talk(record.key)
        talk.here = record.cwd or talk.here
        if self._conversation_no(talk) is None and not talk.silent_since:
            talk.cwd = talk.cwd or record.cwd
            talk.title = record.title or talk.title
            talk.news = True

    def why(self, record: Appended) -> No | None:
        """Tell why an entry must be left out, None when it may be written."""
        talk = self._talk(record.key)
        entry = record.entry
        if entry.kind is Kind.USER:
            self._user(record, talk)
        paused = self._paused(talk, record)
        no = self._why(talk, record) or (No.PAUSED if paused else None)
        owner = left_out.recorded_in(self._connection, entry.id) if no else ""
        if no is None or owner == str(record.key):  # read again: it changes nothing
            talk.recorded = True
            self._unsaved = False
            return None
        if not owner:
            self._leave_out(record.key, talk, entry.id, no)
        return no

    def _leave_out(self, key: ConversationKey, talk: _Talk, entry: str, no: No) -> None:
        talk.gaps = True
        self._careful = True
        self._unsaved &= no in _OF_THE_CONVERSATION
        self._notes[str(key), entry] = no.value
        self._left_out[entry] = no

    def admits(self, key: ConversationKey) -> bool:
        """Tell whether a conversation may be in the journal at all by now."""
        talk = self._talk(key)
        return self._conversation_no(talk) is None and (talk.recorded or not talk.gaps)

    def end(self, appender: Appender) -> bool:
        """Write what became known; tell whether this reading leaves anything to remember.

        Of a source whose every word was left out for where it was said nothing is kept, not even
        its name.
        """
        if self._unsaved and self._notes:
            return False
        for key, talk in self._talks.items():
            self._describe(appender, key, talk)
            self._silences(key, talk)
        left_out.note(self._connection, ((*of, why) for of, why in self._notes.items()))
        self._notes.clear()
        return True

    # The decision

    def _why(self, talk: _Talk, record: Appended) -> No | None:
        entry = record.entry
        if self._careful and (before := self._before(entry.id)):
            return before
        if no := self._conversation_no(talk) or self._folder(record.cwd):
            return no
        if talk.silent_since or self._parent_silent(record):
            return No.NORECORD
        if talk.gaps and (record.key, entry.message_id) in self._retracted:
            return No.NORECORD  # a summary of everything, written as an answer
        return None

    def _before(self, entry: str) -> No | None:
        if known := self._left_out.get(entry):
            return known
        stored = left_out.why(self._connection, entry)
        return No(stored) if stored else None

    def _conversation_no(self, talk: _Talk) -> No | None:
        talk.own |= self._folder(talk.here) is No.OWN
        if talk.own:
            return No.OWN
        if talk.forgotten:
            return No.FORGOTTEN
        if talk.headless and not self._consent.headless:
            return No.HEADLESS
        return self._folder(talk.here)

    def _folder(self, folder: str) -> No | None:
        if not folder:
            return None
        if folder not in self._folders:
            self._folders[folder] = folder_no(self._consent, folder, self._home)
        return self._folders[folder]

    def _paused(self, talk: _Talk, record: Appended) -> bool:
        since = record.entry.at or record.until
        until = max(since, record.until)
        if since:
            talk.last = until
        elif talk.last:  # a row without a time goes with the one before it
            since = until = talk.last
        else:
            since, until = self._window
        return self._consent.paused(since, until)

    # Turns that are off the record

    def _user(self, record: Appended, talk: _Talk) -> None:
        """Begin or end a silence; a message that was seen here before changes nothing.

        What a subagent is asked in such a turn keeps all that it answers out, however late.
        """
        key, entry = record.key, record.entry
        seen = left_out.seen_in(self._connection, entry.id)
        if str(key) in seen or (str(key), entry.id) in self._notes:
            return
        at = entry.at or self._now
        if talk.silent_since:
            talk.ended.append((talk.silent_since, at))
            talk.silent_since = ""
        if _asks_silence(entry) or self._parent_silent(record):
            talk.silent_since = at
        if seen:
            self._notes[str(key), entry.id] = left_out.COPY

    def _parent_silent(self, record: Appended) -> bool:
        key, at = record.key, record.entry.at
        if not key.agent or not self._careful:
            return False
        parent = record.parent or ConversationKey(key.harness, key.session)
        talk = self._talk(parent)
        here = [*talk.ended, (talk.silent_since, "")] if talk.silent_since else talk.ended
        if any(since <= (at or since) and (not until or at < until) for since, until in here):
            return True
        return left_out.silent_at(self._connection, str(parent), at)

    # What is kept

    def _talk(self, key: ConversationKey) -> _Talk:
        if key not in self._talks:
            stored = left_out.standing(self._connection, str(key))
            self._talks[key] = _Talk(
                here=stored.here,
                headless=stored.headless,
                silent_since=stored.silent_since,
                stored_open=bool(stored.silent_since),
                gaps=stored.gaps,
                recorded=stored.known,
                forgotten=stored.forgotten,
            )
        return self._talks[key]

    def _describe(self, appender: Appender, key: ConversationKey, talk: _Talk) -> None:
        if talk.news and (talk.recorded or self.admits(key)):
            title = "" if talk.gaps else talk.title
            row = appender.conversation(key, None)
            appender.describe(row, cwd=talk.cwd, title=title, headless=talk.headless)
            talk.news, talk.title = False, ""
        if talk.recorded:
            left_out.moved(self._connection, str(key), talk.here)

    def _silences(self, key: ConversationKey, talk: _Talk) -> None:
        name = str(key)
        if not talk.ended and bool(talk.silent_since) == talk.stored_open:
            return
        for since, until in talk.ended:
            if talk.stored_open:
                left_out.speak(self._connection, name, until)
                talk.stored_open = False
            else:
                left_out.silence(self._connection, name, since, max(since, until))
        if talk.silent_since:
            left_out.silence(self._connection, name, talk.silent_since)
            talk.stored_open = True
        self.purged |= left_out.purge(self._connection, name)
        talk.ended.clear()


def _asks_silence(entry: Entry) -> bool:
    # Memory that a harness put before the message is no part of it.
    return off_record(entry.text) or off_record(strip(entry.text, typed=True))
