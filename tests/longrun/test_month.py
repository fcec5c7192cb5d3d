"""Thirty days with every kind of bad luck: nothing lost, nothing learned twice, little wasted."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reflector.agent.abilities import ABILITIES
from reflector.core.schedule import Engine
from reflector.runtime import daemon, supervisor
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from tests.longrun.month import CONFIG, DAY, DAYS, HOUR, PLAIN, SCRIPTED_ONE, WEATHER, Month
from tests.support.auditor import CONSUMING, audit, git, rows
from tests.support.scenes import Scene, Stage, outcomes
from tests.support.scripted_engine import LESSON, WORD, lesson_file

pytestmark = [pytest.mark.slow, pytest.mark.race]

DEEP = "REFLECTOR_TEST_DEEP" in os.environ
CONVERSATIONS = 500 if DEEP else 80
TICK = 3 if DEEP else 6
BUSY = 45
"""Conversations of one day that a person reflects on by hand: more than a day allows runs."""
SEED = os.environ.get("REFLECTOR_TEST_SEED", "1")
MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path):
    """A place where flushing to the disk costs nothing: a month flushes often."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(prefix="reflector-month-", dir=MEMORY))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def month(folder, monkeypatch):
    stage = Stage(folder, plain=(PLAIN,))
    monkeypatch.setattr(supervisor, "run_child", stage)
    monkeypatch.setattr(daemon, "HOUR", 12 * HOUR)  # two sweeps a day are enough
    # What a person's own engine could do: dream, and cost money.
    able = Engine("rules", can_dream=True, calls_model=True)
    monkeypatch.setitem(ABILITIES, "rules", able)
    scene = Scene(folder, CONFIG, (PLAIN, SCRIPTED_ONE))
    without = scene.context(PLAIN).agent.path / "config.toml"
    without.write_text("[dream]\nenabled = false\n", "utf-8")
    return Month(scene, stage, CONVERSATIONS, SEED, TICK)


def ledger(month: Month, identity: str) -> list[Any]:
    return rows(month.scene.context(identity).agent.state, "SELECT * FROM runs ORDER BY id")


def database(month: Month, identity: str, query: str) -> int:
    return int(rows(month.scene.context(identity).agent.state, query)[0][0] or 0)


def catch_up(month: Month) -> int:
    """Good weather, a tidy desk, and a person who reflects on more than a day allows.

    Returns how often the person was told to wait for the next day.
    """
    month.scene.provider("")
    month.until(DAYS * DAY)
    for _ in range(6):
        month.tidy()
        month.scene.clock.sleep(7 * HOUR)
        month.round()
    month.until((DAYS + 4) * DAY)
    for number in range(BUSY):  # too long for two of them to share a run
        session = f"{SCRIPTED_ONE}-busy-{number}"
        text = f"Lesson busy-{number}. {'And so on. ' * 150}"
        month.scene.says(text, "Noted.", session=session, identity=SCRIPTED_ONE)
    return sum(reflect_on_all(month, identity) for identity in (PLAIN, SCRIPTED_ONE))


def reflect_on_all(month: Month, identity: str) -> int:
    """Be a person who reflects until nothing is left; return on how many days that was refused."""
    refused = 0
    while True:
        done = reflect(month.scene.context(identity), Options(max_runs=2 * BUSY), Quiet())
        if done.over:
            refused += 1
            month.scene.clock.sleep(DAY)
        elif not outcomes(done.runs):
            return refused


def table(month: Month) -> dict[str, Any]:
    """Count everything from the ledger."""
    runs = [row for name in (PLAIN, SCRIPTED_ONE) for row in ledger(month, name)]
    ends = Counter("/".join(filter(None, (row["outcome"], row["reason"]))) for row in runs)
    calls = [row for row in runs if row["calls_model"] and row["started_at"]]
    wasted = [row for row in calls if row["outcome"] not in CONSUMING]
    lost, twice = rows_of(month)
    return {
        "seed": SEED,
        "conversations": CONVERSATIONS,
        "hook events": month.spooled,
        "runs": len(runs),
        "dreams": sum(row["pipeline"] == "dream" for row in runs),
        "ends": dict(ends.most_common()),
        "model calls": len(calls),
        "wasted calls": len(wasted),
        "wasted by": dict(Counter(row["reason"] or row["outcome"] for row in wasted)),
        "wasted at most": at_most(month),
        "retries": retries(month),
        "most calls a day": max(map(calls_a_day, (PLAIN, SCRIPTED_ONE), [month, month])),
        "parks": month.counts.parks,
        "probes": month.counts.probes,
        "supervisors that died": month.counts.deaths,
        "set aside": database(month, SCRIPTED_ONE, "SELECT count(*) FROM set_aside"),
        "rows lost": lost,
        "rows reflected on twice": twice,
    }


def calls_a_day(identity: str, month: Month) -> int:
    """Return the most runs of one identity and slot that called a model on one day."""
    days = Counter(
        (row["slot"], row["started_at"][:10])
        for row in ledger(month, identity)
        if row["calls_model"] and row["started_at"]
    )
    return max(days.values())


def retries(month: Month) -> int:
    """Return how many runs began where one had begun before."""
    starts: Counter[tuple[str, str, int]] = Counter()
    for identity in (PLAIN, SCRIPTED_ONE):
        found = rows(
            month.scene.context(identity).agent.state,
            "SELECT conversation, first_sequence a FROM run_snapshots WHERE mode = 'advance'",
        )
        starts.update((identity, row["conversation"], row["a"]) for row in found)
    return sum(times - 1 for times in starts.values())


def at_most(month: Month) -> int:
    """Return how many calls so much bad luck may waste."""
    times = {"Refuse": 1, "Silent": 1, "Late": 1, "Die": 1, "Collide": 1, "Poison": 12, "Dirty": 1}
    texts = [text for said in month.scene.talks.values() for text in said]
    words = [each for text in texts for each in WORD.findall(text)]
    own = sum(times.get(word, int(count or 1)) for word, count in words)
    weather = sum(1 if says == "auth" else 6 for _, _, says in WEATHER)
    return own + weather + month.counts.probes


def rows_of(month: Month) -> tuple[int, int]:
    """Return how many entries no consuming run read and nobody set aside, and how many two did."""
    lost = twice = 0
    for identity in (PLAIN, SCRIPTED_ONE):
        state = month.scene.context(identity).agent.state
        read: Counter[tuple[str, int]] = Counter()
        ranges = rows(
            state,
            "SELECT conversation, first_sequence a, last_sequence z FROM run_snapshots s "
            "JOIN runs ON runs.id = run WHERE mode = 'advance' AND ("
            f"outcome IN {CONSUMING} OR EXISTS (SELECT 1 FROM set_aside x "
            "WHERE x.run = s.run AND x.conversation = s.conversation))",
        )
        for row in ranges:
            read.update((row["conversation"], n) for n in range(row["a"], row["z"] + 1))
        entries = rows(
            state,
            "SELECT key, sequence FROM entries e JOIN conversations c ON c.id = e.conversation",
        )
        lost += sum(read[row["key"], row["sequence"]] == 0 for row in entries)
        twice += sum(times > 1 for times in read.values())
    return lost, twice


def learned(month: Month) -> list[str]:
    """Return what is wrong with the lessons in main: each once, but for those that were poisoned."""
    wrong = []
    repo = month.scene.context(SCRIPTED_ONE).agent.repo
    for session, texts in month.scene.talks.items():
        for text in texts[::2]:
            for name in LESSON.findall(text):
                said = git(repo, "show", f"main:{lesson_file(name)}", check=False).decode()
                expected = 0 if "Poison" in text else 1
                if (times := said.count(f"- lesson {name}\n")) != expected:
                    wrong.append(f"{session}: lesson {name} is {times} times in main")
    return wrong


@pytest.mark.timeout(400 if DEEP else 120)
def test_a_month_of_mixed_luck_loses_nothing_and_learns_nothing_twice(month):
    month.live()
    refused = catch_up(month)
    found = table(month) | {"days used up by hand": refused}
    print("\n" + json.dumps(found, indent=2))
    transcripts = {
        name: sorted(month.scene.folder.glob(f"{name}-*.jsonl")) for name in (PLAIN, SCRIPTED_ONE)
    }
    audit(month.scene.home, transcripts=transcripts)
    assert learned(month) == []
    assert (found["rows lost"], found["rows reflected on twice"]) == (0, 0)
    poisoned = sum("Poison" in text for texts in month.scene.talks.values() for text in texts)
    assert found["set aside"] == poisoned
    assert found["most calls a day"] == 40
    assert refused >= 1
    assert found["parks"] >= 2
    assert found["probes"] >= 2
    assert found["dreams"] <= DAYS + 2
    assert found["wasted calls"] <= found["wasted at most"]
