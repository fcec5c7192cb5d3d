"""When what happens in a simulated year: the whole of it, and a small one with the same events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

_SUNDAY = 6
_BURNED, _REVIVED = 600, 650
# In parts of a thousand of the year.
_ONCE: tuple[tuple[int, str], ...] = (
    (60, "one_note"),
    (100, "off_record"),
    (150, "hand_persona"),
    (200, "hand_page"),
    (250, "wish_tone"),
    (300, "wish_back"),
    (350, "forget_young"),
    (400, "provider_down"),
    (450, "provider_up"),
    (500, "twin_one"),
    (550, "twin_two"),
    (560, "wish_theirs"),
    (_BURNED, "burn"),
    (_REVIVED, "revive"),
    (710, "undo"),
    (800, "forget_shared"),
    (900, "old_pack"),
    (950, "tidy"),
)


@dataclass(frozen=True)
class Plan:
    """How long, where, and how much.

    `zones` are by the day on which one arrives, `meets` the days on which the homes exchange packs,
    `heavy` those with `notes` notes; every so `often` days there is a second talk, and on those
    that the person `rests` there is none.
    """

    days: int
    start: date
    zones: Mapping[int, str]
    meets: tuple[int, ...]
    heavy: range
    notes: int
    turns: tuple[int, ...] = (3, 4, 5)
    often: int = 3
    rests: tuple[int, ...] = ()
    kept: float = 0.45
    seed: str = "1"

    def events(self, day: int) -> list[str]:
        """Return what happens on a day, in order."""
        found = [name for part, name in _ONCE if self._at(part) == day]
        found += ["exchange"] if day in self.meets else []
        found += ["heavy_notes"] if day in self.heavy else []
        return found

    def _at(self, part: int) -> int:
        return part * self.days // 1000

    def second(self, day: int) -> bool:
        """Tell whether the person sits at the other machine, too; not while its diary is burned."""
        return day % 4 == 2 and not self._at(_BURNED) <= day < self._at(_REVIVED)

    def late(self, day: int) -> bool:
        """Tell whether a talk goes on past midnight."""
        return day % 9 == 4

    def evening(self, day: int) -> bool:
        """Tell whether there is a second talk."""
        return day % self.often == 1

    def nightly(self, day: int) -> bool:
        """Tell whether the first talk is in the hour that may be missing or come twice."""
        return (self.start + timedelta(days=day)).weekday() == _SUNDAY

    def odd(self, day: int) -> bool:
        """Tell whether the model writes what it should not."""
        return day > 3

    def asks(self, day: int) -> bool:
        """Tell whether the person asks for something old."""
        return day % 5 == 3


SMALL = Plan(
    days=20,
    start=date(2028, 3, 18),
    zones={0: "Europe/Berlin", 10: "Australia/Sydney", 17: "America/New_York"},
    meets=(5, 15),
    heavy=range(7, 9),
    notes=4,
    turns=(1, 2, 2),
    often=99,
    rests=(1, 3, 9, 12, 14, 16, 18),
    kept=0.65,
)
WHOLE = Plan(
    days=365,
    start=date(2027, 9, 1),
    zones={
        0: "Europe/Berlin",
        40: "Asia/Shanghai",
        54: "Europe/Berlin",
        110: "America/New_York",
        129: "Europe/Berlin",
        240: "Australia/Sydney",
        255: "Pacific/Honolulu",
        262: "Europe/Berlin",
    },
    meets=(30, 61, 92, 122, 153, 183, 245, 275, 305, 335),
    heavy=range(150, 157),
    notes=12,
)
