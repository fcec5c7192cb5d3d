"""A year of a diary: a person who talks, travels, edits, forgets and burns, and what comes of it.

Two homes of one person meet by packs. The clock is in the script's hand, and the zone is that of
the machine, changed as a traveller changes it.
"""

from __future__ import annotations

import functools
import os
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reflector.runtime.diary import burning, forgetting, guard, packs, skipping, tidying
from reflector.runtime.diary.notes import note
from tests.longrun.living import FIRST, SECOND, Home, Living
from tests.longrun.plan import Plan
from tests.longrun.talk import Piece
from tests.longrun.writer import Writer
from tests.support.companions import OVERLOADED
from tests.support.messages_server import serving

HAND = "I hum when I think, and I say so before anybody asks."
PAGE = "- I read mail at noon, not before."
OFF_RECORD = ("off the record: the surgeon said {0}", "不要记这个：医生说的是{0}")


TWIN = Piece(
    "the heron on the chimney, you should have seen it.",
    "He saw a heron on the chimney and typed with his coat still on.",
    "He saw a heron on the chimney and typed with his coat still on.",
    "chat",
    "en",
)
TWIN_AGAIN = Piece(
    "still thinking of the heron on the chimney.",
    f"{TWIN.told} He keeps coming back to it, as if it had meant him.",
    "He keeps coming back to it, as if it had meant him.",
    "chat",
    "en",
)


class Year(Living):
    """A life in which all sorts of things happen."""

    def hand_persona(self) -> None:
        self._page("persona.md", f"{HAND}\n\n", front=True)

    def hand_page(self) -> None:
        self._page("NOTES.md", f"\n{PAGE}\n", front=False)

    def _page(self, name: str, line: str, *, front: bool) -> None:
        place = self.first.companion.diary.path / name
        text = place.read_text("utf-8")
        place.write_text(line + text if front else text + line, "utf-8")

    def wish_tone(self) -> None:
        """A night proposes what may be, what an anchor holds, and what is not sure enough."""
        anchored = "- When I am unsure I get wordy."
        self.first.model.wishes += [
            _wish("pace", "tone", "", "I answer the question before the worry.", 0.6),
            _wish("words", "tone", anchored, "- When I am unsure I am brief.", 0.9),
            _wish("past", "fact", "", "I have never met anybody else.", 0.5),
        ]

    def wish_back(self) -> None:
        """And takes it back within a week, which locks it."""
        back = "I answer the worry before the question."
        now = "I answer the question before the worry."
        self.first.model.wishes += [
            _wish("pace", "tone", now, back, 0.9),
            _wish("pace", "tone", back, now, 0.9),
        ]

    def wish_theirs(self) -> None:
        """A night would change what a person wrote, and does three things where two are allowed."""
        self.first.model.wishes += [
            _wish("hum", "tone", HAND, "I never hum.", 0.99),
            _wish("tea", "tone", "", "I like the sound of a kettle.", 0.8),
            _wish("rain", "tone", "", "I like rain on a window.", 0.8),
            _wish("snow", "tone", "", "I like snow on a roof.", 0.8),
        ]

    def undo(self) -> None:
        guard.undo(self.first.companion.context())

    def heavy_notes(self) -> None:
        for _ in range(self.plan.notes):
            text = self.talk.note(self.count.notes)
            note(self.first.companion.context(), text)
            self.first.notes[text] = self.today().isoformat()
            self.count.notes += 1
            self.clock.sleep(31)

    def one_note(self) -> None:
        text = self.talk.note(self.count.notes)
        note(self.first.companion.context(), text)
        self.first.notes[text] = self.today().isoformat()
        self.count.notes += 1

    def off_record(self) -> None:
        """One turn that the person takes out by saying so, and one by the command."""
        home = self.first.companion
        for number, form in enumerate(OFF_RECORD):
            secret = f"{'lung' if number else 'left knee'} {self.day}"
            said = form.format(secret)
            home.says(said, "I will not.", session=f"off-{self.day}-{number}")
            self.first.model.waiting[said] = _secret(said, secret)
            self.silent.append(secret)
        said = f"my wrist {self.day} hurts, do not tell anyone"
        home.says(said, "No.", session=f"off-{self.day}-2")
        self.first.model.waiting[said] = _secret(said, f"wrist {self.day}")
        self.silent.append(f"wrist {self.day}")
        skipping.skip(home.context())
        self.first.work()
        self.first.model.waiting.clear()

    def provider_down(self) -> None:
        for home in self.homes.values():
            home.model.down = OVERLOADED

    def provider_up(self) -> None:
        for home in self.homes.values():
            home.model.down = None
        self.clock.sleep(3600)

    def twin_one(self) -> None:
        self._alone(self.first, TWIN)

    def twin_two(self) -> None:
        self._alone(self.first, TWIN_AGAIN)
        self.first.model.twins.append((TWIN.mark, TWIN_AGAIN.mark))

    def _alone(self, home: Home, piece: Piece) -> None:
        said = self._told(home, piece)
        home.companion.says(said, "Mm.", session=f"alone-{self.day}")
        self.count.turns += 1
        home.work()

    def exchange(self) -> None:
        """Both homes hand each other a pack; afterwards they know the same."""
        for home in self.homes.values():
            home.work()
        for one, other in ((FIRST, SECOND), (SECOND, FIRST)):
            self.carry(self.pack(one), other)
        together = {**self.second.present, **self.first.present}
        noted = {**self.second.notes, **self.first.notes}
        for home in self.homes.values():
            home.present, home.notes = dict(together), dict(noted)
        self.count.exchanges += 1

    def pack(self, name: str, label: str = "now") -> Path:
        place = self.folder / f"{name}-{label}.pack"
        packs.export(self.homes[name].companion.context(), place)
        return place

    def carry(self, pack: Path, to: str) -> None:
        packs.import_pack(self.homes[to].companion.context(), pack, "merge", lambda: "")

    def forget_young(self) -> None:
        """Forget what no other home has heard of."""
        known = self.second.present
        self._forget([self.first], [mark for mark in self.first.present if mark not in known])

    def forget_shared(self) -> None:
        """Forget in both homes what both know."""
        self._forget([self.first, self.second], list(self.second.present)[-9:])

    def _forget(self, homes: list[Home], marks: list[str]) -> None:
        diary = self.first.companion.kept()
        found = [one for one in diary.entries.values() if any(mark in one.text for mark in marks)]
        if not found:
            return
        entry = found[-1]
        for home in homes:
            forgetting.take_out(home.companion.context(), entry.id)
        told = [mark for mark in self.first.present if mark in entry.text]
        self.gone += told
        for home in self.homes.values():
            for mark in told:
                home.present.pop(mark, None)

    def burn(self) -> None:
        """Burn the second diary: what only it knew is nowhere from then on."""
        self.session(self.second, 4)
        self.pack(SECOND, "old")
        only = [mark for mark in self.second.present if mark not in self.first.present]
        done = burning.burn(self.second.companion.context())
        assert not done.searched.still, done.searched.still
        self.gone += only
        self.second.present, self.second.notes = {}, {}

    def revive(self) -> None:
        """Bring the first diary into the burned one: it lives there again."""
        self.carry(self.pack(FIRST), SECOND)
        self.second.present = dict(self.first.present)
        self.second.notes = dict(self.first.notes)

    def old_pack(self) -> None:
        """Bring in a pack from before the burning: what was burned stays dead."""
        self.carry(self.folder / f"{SECOND}-old.pack", FIRST)

    def tidy(self) -> None:
        tidying.apply(self.first.companion.context())

    # What is handed to the auditor

    def told(self) -> dict[str, Any]:
        """Return everything that the auditor has to know, as JSON."""
        return {
            "zones": self.zones,
            "gone": self.gone,
            "silent": self.silent,
            "never": self.never,
            "joined": [TWIN_AGAIN.mark],
            "hand": {"persona.md": HAND, "NOTES.md": PAGE},
            "terms": self.terms,
            "nickname": "Kiwi",
            "homes": {
                home.name: {
                    "home": str(home.companion.home),
                    "present": home.present,
                    "told": self.told_ever,
                    "notes": home.notes,
                    "previews": home.previews,
                }
                for home in self.homes.values()
            },
        }


def _secret(said: str, secret: str) -> Piece:
    return Piece(said, f"He told me about the {secret}.", secret, "disclosure", "en")


def _wish(dimension: str, kind: str, old: str, new: str, confidence: float) -> dict[str, Any]:
    said = {"dimension": dimension, "kind": kind, "old": old, "new": new}
    return {**said, "confidence": confidence}


@contextmanager
def certificates_read_once() -> Iterator[None]:
    """Let each new connection have the same certificates: to read them takes longer than a turn."""
    before = ssl.create_default_context
    ssl.create_default_context = functools.cache(before)  # type: ignore[assignment]
    try:
        yield
    finally:
        ssl.create_default_context = before


@contextmanager
def year(folder: Path, plan: Plan) -> Iterator[Year]:
    """Serve the model, make the homes; the machine's zone is what it was afterwards."""
    before = os.environ.get("TZ")
    writers = {name: Writer() for name in (FIRST, SECOND)}
    try:
        with (
            serving(writers[FIRST]) as one,
            serving(writers[SECOND]) as other,
            certificates_read_once(),
        ):
            urls = {FIRST: one, SECOND: other}
            models = {name: (model, urls[name]) for name, model in writers.items()}
            yield Year(folder, models, plan)
    finally:
        if before is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = before
        time.tzset()
