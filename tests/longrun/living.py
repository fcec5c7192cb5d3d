"""A person with two homes who talks day by day: the clock, the zones, the sessions."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from reflector.core.ambient import stamp
from reflector.runtime.background import worker
from reflector.runtime.diary import beside, preview, shown
from reflector.runtime.loop import Quiet
from tests.longrun.plan import Plan
from tests.longrun.talk import ODD, TASKS, Piece, Talk
from tests.longrun.writer import Tokens, Writer
from tests.support.clocks import FakeClock
from tests.support.companions import Companion
from tests.support.projects import asking

FIRST, SECOND = "first", "second"
CONFIG = """
[diary]
enabled = true
nickname = "Kiwi"
"""


class Dice:
    """Chance with a seed: two homes never draw the same."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)

    def hex(self, digits: int) -> str:
        return f"{self._chance.getrandbits(4 * digits):0{digits}x}"


@dataclass
class Count:
    """What was done, counted by whoever did it."""

    turns: int = 0
    notes: int = 0
    asked: int = 0
    came: int = 0
    beside: int = 0
    exchanges: int = 0


@dataclass
class Home:
    """One home of the person, and what ought to be in its diary: first sentence by local day."""

    name: str
    companion: Companion
    model: Writer
    present: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    previews: list[dict[str, Any]] = field(default_factory=list)

    def work(self) -> None:
        """Be the worker until nothing is left that can be done now."""
        worker.work(self.companion.context(), "diary", Quiet())


class Living:
    """The person, the homes, the model, and what they did."""

    def __init__(self, folder: Path, models: Mapping[str, tuple[Writer, str]], plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        self.months: dict[int, Tokens] = {}
        self.chance = random.Random(plan.seed)
        self.talk = Talk(self.chance)
        start = datetime.combine(plan.start, datetime.min.time(), ZoneInfo(plan.zones[0]))
        self.clock = FakeClock(start.astimezone(UTC))
        self.started = start.astimezone(UTC)
        self.zones: list[tuple[str, str]] = []
        self.homes = {name: self._home(name, *models[name]) for name in (FIRST, SECOND)}
        self.count = Count()
        self.gone: list[str] = []
        self.silent: list[str] = []
        self.never: list[str] = []
        self.terms: dict[str, int] = {}
        self.told_ever: dict[str, str] = {}
        self.day = 0
        self.odd = list(ODD)

    def _home(self, name: str, model: Writer, url: str) -> Home:
        place = self.folder / name
        place.mkdir()
        model.months = self.months
        made = Companion(place, asking(url, CONFIG), clock=self.clock, model=model)
        made.chance = Dice(f"{self.plan.seed}-{name}")  # type: ignore[assignment]
        return Home(name, made, model)

    @property
    def first(self) -> Home:
        return self.homes[FIRST]

    @property
    def second(self) -> Home:
        return self.homes[SECOND]

    # Time

    @property
    def zone(self) -> str:
        return self.zones[-1][1]

    def today(self) -> date:
        return self.clock.now().astimezone(ZoneInfo(self.zone)).date()

    def travel(self, zone: str) -> None:
        os.environ["TZ"] = zone
        time.tzset()
        self.zones.append((stamp(self.clock.now()), zone))

    def until(self, hour: float) -> None:
        """Let it become that hour of the day that the year is at; time never goes back."""
        day = self.plan.start + timedelta(days=self.day)
        wall = datetime.combine(day, datetime.min.time()) + timedelta(hours=hour)
        at = wall.replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC)
        self.clock.passed = max(self.clock.passed, (at - self.started).total_seconds())

    # A life

    def exchange(self) -> None:
        """Let the homes meet."""
        raise NotImplementedError

    def live(self) -> None:
        """Live all the days, then let one more night pass and meet once more."""
        self.travel(self.plan.zones[0])
        for day in range(self.plan.days):
            self.day = day
            for home in self.homes.values():
                home.model.month = 1 + day // 30
            if day and (zone := self.plan.zones.get(day)):
                self.until(5)
                self.travel(zone)
            self._one_day()
        for more in range(1, 4):
            self.day = self.plan.days - 1 + more
            self.until(9)
            self._nights()
            if more == 2:
                self.exchange()

    def _one_day(self) -> None:
        if self.plan.nightly(self.day):
            self.until(2.5)
            self.session(self.first, 2)
        self.until(7)
        self._nights()
        for name in self.plan.events(self.day):
            self.clock.sleep(97)  # nothing of a life falls on the same instant
            getattr(self, name)()
        self.until(8 + 2 * self.chance.random())
        if self.day not in self.plan.rests:
            self.session(self.first, self.chance.choice(self.plan.turns))
        if self.plan.second(self.day):
            self.until(14)
            self.session(self.second, 2)
        if self.plan.late(self.day):
            self.until(23.8)
            self.session(self.first, 2, minutes=11)
        elif self.plan.evening(self.day):
            self.until(20.4)
            self.session(self.first, 2)

    def _nights(self) -> None:
        self.first.work()
        if self.plan.second(self.day) or self.day >= self.plan.days:
            self.second.work()

    def session(self, home: Home, turns: int, minutes: float = 4) -> None:
        """Talk: first what the block shows, at each prompt what comes to mind, then the answer."""
        name = f"d{self.day}-{int(self.clock.passed)}"
        shown.leave_given(home.companion.context())
        language = "zh" if self.chance.random() < 0.4 else "en"
        for turn in range(turns):
            asks = not turn and self.plan.asks(self.day) and home is self.first
            said = (self._old(home) if asks else "") or self._says(home, language)
            if not turn:
                self._look(home, said)
            found = beside.group(home.companion.context(), name, said)
            self.count.beside += len(found.pieces)
            home.companion.says(said, "Mm, I hear you. Go on.", session=name)
            self.count.turns += 1
            self.months.setdefault(home.model.month, Tokens()).turns += 1
            self._count_terms(said)
            self.clock.sleep(60 * minutes)
        if not home.model.down:
            home.work()

    def _says(self, home: Home, language: str) -> str:
        odd = self.odd and self.plan.odd(self.day) and home is self.first
        if odd and self.chance.random() < 0.5:
            return self._told(home, self.odd.pop(0))
        if self.chance.random() < self.plan.kept:
            piece = self.talk.piece(language)
            while piece.said in home.model.waiting:
                piece = self.talk.piece(language)
            return self._told(home, piece)
        known = [term for term in self.terms if self.chance.random() < 0.1]
        if known and self.chance.random() < 0.3:
            return f"so is it {known[0]} again, number {self.count.turns}?"
        return f"{self.chance.choice(TASKS)}, number {self.count.turns}"

    def _told(self, home: Home, piece: Piece) -> str:
        home.model.waiting[piece.said] = piece
        home.present[piece.mark] = self.told_ever[piece.mark] = self.today().isoformat()
        self.never += piece.never
        if piece.term:
            self.terms.setdefault(piece.term, 0)
        return piece.said

    def _count_terms(self, said: str) -> None:
        for term in self.terms:
            self.terms[term] += term in said

    def _look(self, home: Home, query: str) -> None:
        """Keep what the session is shown."""
        context = home.companion.context()
        found = preview.preview(context, query=query)
        self.count.came += "It comes to mind" in found.text or "你想起来" in found.text
        home.previews.append(
            {
                "at": stamp(self.clock.now()),
                "zone": self.zone,
                "day": self.day,
                "head": home.companion.diary.head(),
                "query": query,
                "text": found.text,
                "explain": dict(found.explained),
            }
        )

    def _old(self, home: Home) -> str:
        last = (self.today() - timedelta(days=12)).isoformat()
        marks = [mark for mark, day in home.present.items() if day < last]
        self.count.asked += bool(marks)
        return f"do you remember? {self.chance.choice(marks)}" if marks else ""
