"""A month of conversations, made of chance with a seed: what is said when, and what goes wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from reflector.runtime.daemon import Daemon
from tests.support.auditor import rows
from tests.support.scenes import Inline, Scene, Stage
from tests.support.scripted_engine import Death

DAYS, HOUR = 30, 3600.0
DAY = 24 * HOUR
PLAIN, SCRIPTED_ONE = "plain", "model"
CONFIG = f"""
[trigger]
step_count = 2
[snapshot]
max_bytes = 1500
[run]
max_bytes = 3000
[identity.paths]
"/{PLAIN}" = "{PLAIN}"
"/{SCRIPTED_ONE}" = "{SCRIPTED_ONE}"
"""
LUCK: tuple[tuple[str, int], ...] = (
    ("", 60),
    ("Crash.", 5),
    ("Crash 2.", 2),
    ("Refuse.", 5),
    ("Silent.", 3),
    ("Late.", 3),
    ("Die.", 4),
    ("Collide.", 6),
    ("Dirty.", 5),
    ("Poison.", 4),
)
"""What goes wrong with a conversation, and in how many of about a hundred."""

WEATHER = (
    (6.35, 8.0, "quota"),
    (12.3, 44.0, "auth"),
    (19.35, 3.0, "overloaded"),
    (24.4, 6.0, "quota"),
)
"""The provider's bad hours: day, how many hours, and what it says."""


@dataclass(frozen=True)
class Moment:
    """Something that happens at a time (seconds into the month)."""

    at: float
    act: Callable[[Month], None]


@dataclass
class Count:
    """What is seen from outside, round by round."""

    parks: int = 0
    probes: int = 0
    deaths: int = 0
    parked_at: str = ""
    probed_at: str = ""


@dataclass
class Month:
    """The home, its people and its daemon."""

    scene: Scene
    stage: Stage
    conversations: int
    seed: str
    tick: int = 2
    counts: Count = field(default_factory=Count)
    spooled: int = 0
    daemon: Daemon | None = None

    def live(self) -> None:
        """Let a month go by."""
        self.start = self.scene.clock.monotonic()
        for moment in sorted(self.moments(), key=lambda each: each.at):
            self.until(moment.at)
            moment.act(self)

    def until(self, at: float) -> None:
        clock = self.scene.clock
        clock.passed = max(clock.passed, self.start + at)

    # What happens

    def moments(self) -> Iterator[Moment]:
        chance = random.Random(self.seed)
        for number in range(self.conversations):
            yield from self.conversation(number, chance)
        for day, hours, says in WEATHER:
            yield Moment(day * DAY, partial(Month.weather, says=says))
            yield Moment(day * DAY + hours * HOUR, partial(Month.weather, says=""))
        for hour in range(0, DAYS * 24, self.tick):  # the daemon ticks when nothing happens, too
            yield Moment(hour * HOUR + 1, Month.round)
        for day in range(DAYS):  # in the evening the person puts away what lay about
            yield Moment(day * DAY + 21.5 * HOUR, Month.tidy)

    def conversation(self, number: int, chance: random.Random) -> Iterator[Moment]:
        identity = PLAIN if number % 5 == 0 else SCRIPTED_ONE
        session = f"{identity}-{number}"
        luck = "" if identity == PLAIN else _luck(chance)
        at = chance.randrange(DAYS) * DAY + chance.uniform(8, 20) * HOUR
        bursts = chance.choice((1, 1, 2, 3))
        for burst in range(bursts):
            lesson = f"{number}-{burst}"
            says = [_says(identity, lesson, luck if burst == 0 else "", chance), "Noted."]
            says += [x for n in range(chance.randrange(1, 4)) for x in (f"And {n}?", "Yes. " * 9)]
            name = "SessionEnd" if burst == bursts - 1 and chance.random() < 0.5 else "Stop"
            turn = partial(Month.turn, session=session, identity=identity, name=name, says=says)
            yield Moment(at, turn)
            at += chance.expovariate(1 / HOUR)

    def turn(self, session: str, identity: str, name: str, says: list[str]) -> None:
        """A conversation goes on, a hook tells of it, the daemon comes round."""
        place = self.scene.write(*says, session=session)
        fields = {"time": f"{self.scene.clock.passed}", "harness": "claude-code", "event": name}
        fields |= {"session_id": session, "transcript_path": str(place), "cwd": f"/{identity}"}
        day = self.scene.home / "spool" / f"{self.scene.clock.now():%Y-%m-%d}.jsonl"
        with day.open("a", encoding="ascii") as file:
            file.write(json.dumps(fields, separators=(",", ":")) + "\n")
        self.spooled += 1
        self.round()

    def weather(self, says: str) -> None:
        self.scene.provider(says)

    def tidy(self) -> None:
        self.stage.tidy()

    def round(self) -> None:
        """One round of the daemon; a supervisor that dies is followed by another one."""
        for _ in range(5):
            if self.daemon is None:
                found = self.scene.context(PLAIN)
                self.daemon = Daemon(found, lambda: False, _listen, hands=Inline())
            try:
                self.daemon.round()
            except Death:
                self.counts.deaths += 1
                self.daemon = None
            else:
                break
        self.look()

    def look(self) -> None:
        """See whether the route was parked or probed since the last look."""
        found = rows(self.scene.context(SCRIPTED_ONE).agent.state, "SELECT state FROM parks")
        for row in found:
            state = json.loads(row["state"])
            counts, parked = self.counts, state.get("parked_at") or ""
            probed = state.get("last_probe_at") or ""
            counts.parks += bool(parked) and parked != counts.parked_at
            counts.probes += bool(probed) and probed != counts.probed_at
            counts.parked_at, counts.probed_at = parked, probed or counts.probed_at


def _listen(_line: str) -> None:
    """Hear what the daemon says."""


def _luck(chance: random.Random) -> str:
    return chance.choices([word for word, _ in LUCK], [weight for _, weight in LUCK])[0]


def _says(identity: str, lesson: str, luck: str, chance: random.Random) -> str:
    if identity == PLAIN:
        return f"Always use release plan {lesson} in this project."
    if not luck and chance.random() < 0.15:
        return "Hello there."
    return f"Lesson {lesson}. {luck}".strip()
