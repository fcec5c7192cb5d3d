"""A diary lived with: nothing lost, doubled or misdated, nothing of what was burned, no growing cost.

Twenty days with all that happens in a year are in the ordinary suite; the whole year is lived where
`scripts/test --deep` asks for it.
"""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.longrun import report
from tests.longrun.living import FIRST
from tests.longrun.plan import SMALL, WHOLE
from tests.longrun.year import Year, year
from tests.support import diary_auditor, diary_blocks

DEEP = "REFLECTOR_TEST_DEEP" in os.environ
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400 if DEEP else 120)]

MEMORY = Path("/dev/shm")
TURNS = 1500 if DEEP else 35
DAYS_OF_A_MONTH = 30


@pytest.fixture(scope="module")
def lived() -> Iterator[Year]:
    """A life at its end; flushing to the disk costs nothing there."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="reflector-year-", dir=place))
    with year(folder, WHOLE if DEEP else SMALL) as made:
        made.live()
        print("\n", *report.table(made), sep="\n")
    yield made
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def told(lived: Year) -> dict[str, Any]:
    return lived.told()


def test_a_diary_that_is_lived_with_loses_doubles_and_misdates_nothing(told):
    diary_auditor.audit(told)


def test_what_a_person_wrote_into_the_pages_stands_there_at_the_end(told):
    assert list(diary_auditor.hand_written(told, FIRST)) == []


def test_everything_that_was_to_happen_happened(lived, told):
    assert lived.count.turns >= TURNS
    assert lived.count.exchanges == len(lived.plan.meets) + 1
    assert lived.count.asked
    assert lived.count.beside or not DEEP  # what is drawn is drawn by chance
    assert not lived.odd
    assert not lived.first.model.twins
    assert not lived.first.model.wishes
    assert len(told["zones"]) == len(lived.plan.zones)
    assert len(told["gone"]) > 2
    assert told["silent"]


@pytest.mark.skipif(not DEEP, reason="a month has to be over")
def test_the_last_month_costs_what_the_second_did(lived):
    months = lived.months
    second, last = (months[number].asked / months[number].calls for number in (2, 12))
    assert last < second * 1.1


def _lose(told: dict[str, Any]) -> None:
    told["homes"][FIRST]["present"]["He never said this."] = "2028-03-20"


def _invent(told: dict[str, Any]) -> None:
    told["homes"][FIRST]["present"].clear()


def _forget_a_note(told: dict[str, Any]) -> None:
    told["homes"][FIRST]["notes"].popitem()


def _misdate(told: dict[str, Any]) -> None:
    present = told["homes"][FIRST]["present"]
    present[next(iter(present))] = "2027-01-01"


def _burn(told: dict[str, Any]) -> None:
    told["gone"].append(next(iter(told["homes"][FIRST]["present"])))


def _tell(told: dict[str, Any]) -> None:
    told["never"].append(next(iter(told["homes"][FIRST]["present"])))


def _delay(told: dict[str, Any]) -> None:
    for shown in told["homes"][FIRST]["previews"]:
        for day, before in (("Today", "Long ago"), ("Yesterday", "Long ago"), ("昨天", "很久以前")):
            shown["text"] = shown["text"].replace(f"- {day}", f"- {before}")


def _swell(told: dict[str, Any]) -> None:
    shown = told["homes"][FIRST]["previews"][-1]
    shown["text"] = shown["text"].replace("</diary>\n", "- so much\n" * 3000 + "</diary>\n")


def _starve(told: dict[str, Any]) -> None:
    for shown in told["homes"][FIRST]["previews"]:
        text = shown["text"]
        for heading in diary_blocks.LATELY:
            text = text.replace(heading, "## Before")
        shown["text"] = text


def _score(told: dict[str, Any]) -> None:
    told["homes"][FIRST]["previews"][0]["text"] += "salience 0.7 on 2028-03-20\n"


@pytest.mark.parametrize(
    "spoil",
    [_lose, _invent, _forget_a_note, _misdate, _burn, _tell, _delay, _swell, _starve, _score],
)
def test_the_auditor_sees_what_is_wrong(told, spoil: Callable[[dict[str, Any]], None]):
    spoilt = copy.deepcopy(told)
    spoil(spoilt)
    assert next(diary_auditor.faults(spoilt), "")
