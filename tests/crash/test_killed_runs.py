"""Runs killed at every saved move and on both sides of every effect, then brought to their end.

Every scenario is judged by the auditor: nothing of ENGINE 15 may be broken, nothing lost, nothing
learned twice. By default each point is killed once, and what starts and what recovers the run take
turns; REFLECTOR_TEST_DEEP=1 tries all of them with all.
"""

from __future__ import annotations

import itertools
import os
import signal

import pytest

from tests.support.deaths import LESSON
from tests.support.kill_at import ALIVE, CHILD_POINTS, POINTS

pytestmark = [pytest.mark.crash, pytest.mark.slow]

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
KILLED = -signal.SIGKILL
WAYS = list(itertools.product(("reflect", "event"), ("reflect", "event")))


def ways(point, number):
    """Every way to start and to recover that comes by a point; by default one of them, in turns."""
    # An event reserves before there is a supervisor that could die of it.
    possible = [way for way in WAYS if not (point.endswith(":reserve") and way[0] == "event")]
    return possible if DEEP else [possible[(number + number // 4) % len(possible)]]


def scenarios(points):
    """Every point with its ways."""
    return [
        pytest.param(point, *way, id=f"{point}-{'-'.join(way)}" if DEEP else point)
        for number, point in enumerate(points)
        for way in ways(point, number)
    ]


def every(who, points):
    """Every point of every victim; by default the victims take turns."""
    return [
        f"{each}:{point}"
        for number, point in enumerate(points)
        for each in (who if DEEP else [who[number % len(who)]])
    ]


@pytest.mark.parametrize(("point", "start", "recover"), scenarios(POINTS))
def test_a_killed_supervisor_loses_nothing(nursery, mortal, point, start, recover):
    code, said = mortal.killed(nursery, f"supervisor:{point}", start)
    assert code == KILLED, said
    mortal.recovered(recover)
    mortal.judge(LESSON)


@pytest.mark.parametrize(("point", "start", "recover"), scenarios(every(("child", "both"), ALIVE)))
def test_a_child_killed_beside_its_supervisor_loses_nothing(nursery, mortal, point, start, recover):
    code, said = mortal.killed(nursery, point, start)
    assert code in ((0, 1) if point.startswith("child") else (KILLED,)), said
    mortal.recovered(recover)
    mortal.judge(LESSON)


@pytest.mark.parametrize(
    ("point", "start", "recover"),
    scenarios(every(("in:child", "in:supervisor", "in:both"), CHILD_POINTS)),
)
def test_a_child_killed_at_its_own_work_loses_nothing(nursery, mortal, point, start, recover):
    code, said = mortal.killed(nursery, point, start)
    assert code in ((0, 1) if point.startswith("in:child") else (KILLED,)), said
    mortal.recovered(recover)
    mortal.judge(LESSON)


TWICE = (
    *("before:adopt", "after:adopt", "before:validating", "after:integrating"),
    *("after:ref", "after:exchange", "after:index", "before:settled", "after:settled"),
    *("before:cleanup", "half:rmtree"),
)
AT_FIRST = ("after:ended", "after:validating", "after:ref", "after:exchange", "after:index")


def pairs():
    every_pair = list(itertools.product(AT_FIRST, TWICE))
    return every_pair if DEEP else every_pair[::7]


@pytest.mark.parametrize(("one", "two"), pairs())
def test_who_recovers_may_die_as_well(nursery, mortal, one, two):
    assert mortal.killed(nursery, f"supervisor:{one}", "event")[0] == KILLED
    # Not every recovery comes by every point; it has to be right whether it died or not.
    assert nursery.run(f"supervisor:{two}", mortal.home, "reflect", "--home", mortal.home)[0] in (
        *(0, KILLED),
    )
    mortal.recovered("event")
    mortal.judge(LESSON)
