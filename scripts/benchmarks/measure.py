"""Measures sides of a comparison in turns, and holds their costs and the rows of the table."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median


@dataclass(slots=True)
class Cost:
    """What a block of work cost: wall and CPU seconds, those of ended child processes included."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def cost() -> Iterator[Cost]:
    """Measure the block."""
    found = Cost()
    wall, cpu = time.perf_counter(), _cpu()
    yield found
    found.wall, found.cpu = time.perf_counter() - wall, _cpu() - cpu


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@dataclass(frozen=True, slots=True)
class Series:
    """The costs of one side over several rounds."""

    costs: list[Cost] = field(default_factory=list)

    @property
    def least(self) -> float:
        """Return the smallest wall time: what the work takes when nothing disturbs it."""
        return min(each.wall for each in self.costs)

    @property
    def middle(self) -> float:
        """Return the median wall time."""
        return median(each.wall for each in self.costs)

    @property
    def cpu(self) -> float:
        """Return the smallest CPU time."""
        return min(each.cpu for each in self.costs)


def interleaved(rounds: int, sides: Mapping[str, Callable[[], Cost]]) -> dict[str, Series]:
    """Let every side work once per round, in an order that turns, and return what each cost."""
    found = {name: Series() for name in sides}
    names = list(sides)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            found[name].costs.append(sides[name]())
    return found


def repeated(rounds: int, work: Callable[[], object]) -> Series:
    """Measure the same work several times."""

    def once() -> Cost:
        with cost() as found:
            work()
        return found

    return interleaved(rounds, {"": once})[""]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `goal` is the largest ratio that is good, None when there is none."""

    name: str
    ours: str
    against: str
    ratio: float | None = None
    goal: float | None = None
    shown_goal: str = ""
    note: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """Say whether the goal is met."""
        met = self.met
        if met is None and self.ratio is not None and self.goal is not None:
            met = self.ratio <= self.goal
        return "" if met is None else "met" if met else MISSED

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the row as it is printed."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        goal = self.shown_goal or ("" if self.goal is None else f"≤ {self.goal:g}")
        return self.name, self.ours, self.against, ratio, goal, self.verdict, self.note


MISSED = "**missed**"
HEADINGS = ("what", "ours", "against", "ratio", "goal", "verdict", "note")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns line up."""
    lines = [headings, ["-" * 3 for _ in headings], *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )


def ms(seconds: float) -> str:
    """Return a time in milliseconds."""
    return f"{seconds * 1000:.{1 if seconds < 0.1 else 0}f} ms"


def both(series: Series) -> str:
    """Return the minimum and the median."""
    return f"{ms(series.least)} / {ms(series.middle)}"
