"""A year of a heavy user in a diary, without git and without a model: what it costs in tokens.

`python -m tests.support.diary_year` prints the tokens of each month. The person says sixty things a
day, nine of which are worth keeping; what the model would say is made up at the length that the
templates ask for, with the JSON around it. Everything between question and diary is the product's own code.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from reflector.core.ambient import stamp
from reflector.core.decision import Message
from reflector.core.diary import Diary
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.diary import consolidation, decay, folding, judge, proposals
from reflector.pipelines.diary.consolidation import Answer, Draft, Host, Impression
from reflector.pipelines.diary.continuing import continued
from reflector.runtime.diary import words

START = date(2026, 1, 1)
TURNS = 60
KEPT = range(3, TURNS, 7)
_WORDS = [
    "rain",
    "bread",
    "letter",
    "river",
    "garden",
    "night",
    "train",
    "coat",
    "silence",
    "window",
    "friend",
    "mother",
    "cup",
    "song",
    "road",
    "lamp",
    "stone",
    "promise",
    "garlic",
    "winter",
    "cousin",
    "ticket",
    "stairs",
    "harbour",
    "quarrel",
    "apron",
    "candle",
]


@dataclass
class Month:
    """Tokens asked and said in one month, and the entries there are at its end."""

    asked: int = 0
    said: int = 0
    entries: int = 0

    def add(self, question: str, answer: str) -> None:
        self.asked += estimate_tokens(question)
        self.said += estimate_tokens(answer)


def months(days: int = 365, seed: int = 7) -> Iterator[Month]:
    """Live so many days and yield each month of thirty."""
    life = _Life(random.Random(seed))
    month = Month()
    for number in range(days):
        life.day(number, month)
        if number % 30 == 29:
            month.entries = len(life.diary.entries)
            yield month
            month = Month()


class _Life:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.diary = Diary()
        self.slept = ""

    def text(self, count: int) -> str:
        said = " ".join(self.chance.choices(_WORDS, k=count))
        return f"{said[:1].upper()}{said[1:]}."

    def day(self, number: int, month: Month) -> None:
        today = START + timedelta(days=number)
        talk: list[Message] = []
        for turn in range(1, TURNS + 1):
            talk += [Message("user", self.text(18)), Message("assistant", self.text(40))]
            month.add(words.question(judge.last_sentence(talk[-2].text)), "yes")
            if turn in KEPT:
                self.keep(today, turn, talk[-12:], month)
        self.sleep(today, month)

    def keep(self, today: date, turn: int, talk: list[Message], month: Month) -> None:
        session = f"{today}/{turn // 20}"
        on = continued(self.diary.entries.values(), session, turn)
        traits = consolidation.shown_traits(self.diary, today, decay.weight)
        shown = words.window(talk, on.text if on else "", traits)
        draft, trait = Draft(self.text(30)), Impression(self.text(7), self.text(12), "user")
        learned = (trait,) if self.chance.random() < 0.2 else ()
        month.add(words.consolidation_rules() + shown, draft.text + "x" * 140)
        now = datetime(today.year, today.month, today.day, turn // 4, turn % 60, tzinfo=UTC)
        ids = [f"{self.chance.getrandbits(64):016x}" for _ in range(4)]
        host = Host(session, turn, today.isoformat(), stamp(now), ids)
        self.diary, _ = consolidation.written(self.diary, Answer(draft, learned), host)

    def sleep(self, today: date, month: Month) -> None:
        listed = proposals.items(self.diary, self.slept)
        for batch in list(proposals.batches(listed))[: proposals.MOST_BATCHES]:
            month.add(words.sleep_rules() + words.items(batch, "p" * 900), "x" * 240)
            night = proposals.Night(fade=tuple(range(1, 3)))
            self.diary = proposals.dispose(self.diary, batch, night, lambda text: text, 2).diary
        self.diary = folding.fold(self.diary, {}, None, today)
        self.slept = f"{today}T23:00:00.000Z"


def main() -> None:
    """Print a row for each month."""
    print(f"{'month':>5}{'in':>12}{'out':>12}{'entries':>10}")
    for number, month in enumerate(months(), 1):
        print(f"{number:>5}{month.asked:>12}{month.said:>12}{month.entries:>10}")


if __name__ == "__main__":
    main()
