"""A night: at most one each day, what is noted folded in once, twins joined, the persona guarded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from reflector.core.days import local_day
from reflector.core.diary import Diary, Entry, Term
from reflector.core.errors import GitError, NotFoundError, UsageError
from reflector.pipelines.diary import merging
from reflector.pipelines.diary.guard_rails import Proposal
from reflector.runtime.background import worker
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary import guard, sleep
from reflector.runtime.diary.background import wanted
from reflector.runtime.diary.names import AWAKE
from reflector.runtime.diary.repository import Repository
from reflector.runtime.diary.sleep import Slept, due
from reflector.runtime.loop import Quiet
from reflector.store import diary as noted
from reflector.store import scheduling
from reflector.vcs import merge
from tests.support.cli import Cli
from tests.support.companions import OVERLOADED, Companion, companion, entry
from tests.support.dying import DeathError, dead, died

pytestmark = pytest.mark.slow

WROTE = "They said it lightly that a friend moved away."
AGAIN = "They said lightly that a friend had moved away."
OTHER = "We laughed about the yellow page again."


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Companion]:
    with companion(tmp_path) as made:
        yield made


def keeps(home: Companion, *texts: str, **more: Any) -> list[str]:
    """Put entries into the diary, and let the next day come."""
    now = home.clock.now()
    day = local_day(now).isoformat()
    made = [
        Entry(
            f"e{number:015d}",
            day,
            text,
            "chat",
            conversation="jsonl/talk",
            turn=number,
            created_at=f"2026-11-30T12:00:0{number}.000Z",
            updated_at=f"2026-11-30T12:00:0{number}.000Z",
            reinforced_on=day,
        )
        for number, text in enumerate(texts, 1)
    ]

    def change(diary: Diary) -> Diary:
        return replace(diary, entries={**diary.entries, **{one.id: one for one in made}}, **more)

    home.diary.change("put entries there", "test", change)
    home.night()
    return [one.id for one in made]


def is_due(home: Companion) -> bool:
    with home.context().state() as state:
        return due(home.context(), state.connection)


def today(home: Companion) -> date:
    return local_day(home.clock.now())


def dies(*_given: object, **_named: object) -> None:
    raise GitError("killed")


def test_a_night_is_due_once_a_local_day_when_something_of_an_earlier_one_waits(home: Companion):
    (first,) = keeps(home, WROTE)
    assert not is_due(home)
    day = today(home)
    home.mentions([first], day.isoformat())
    assert not is_due(home)
    home.night()
    assert is_due(home)
    assert isinstance(home.sleeps(), Slept)
    home.mentions([first], day.isoformat(), turn=2)
    assert not is_due(home)
    home.night()
    assert is_due(home)
    with home.context().state() as state:
        assert wanted(home.context(), state)


def test_a_clock_that_ran_ahead_puts_no_night_off(home: Companion):
    with home.context().state() as state, state.transaction() as connection:
        scheduling.set_mark(connection, AWAKE, "2036-01-01")
    assert is_due(home)


def test_what_was_mentioned_is_folded_in_once(home: Companion):
    term = Term("the yellow page", 5, "2026-11-30")
    (first,) = keeps(home, WROTE, lexicon={"the yellow page": term})
    day = today(home).isoformat()
    home.mentions([first, "term:the yellow page"], day, turn=3)
    home.mentions(["term:the yellow page"], day, turn=3)
    home.mentions(["term:the yellow page"], day, turn=4)
    home.night()
    home.sleeps()
    kept = home.kept()
    assert kept.entries[first].reinforced_on == day
    assert (kept.lexicon["the yellow page"].count, kept.entries[first].text) == (7, WROTE)
    home.night()
    home.sleeps()
    assert home.kept().lexicon["the yellow page"].count == 7


def test_a_phrase_that_a_person_says_again_rises_once_for_each_turn(home: Companion):
    term = Term("the yellow page", 5, "2026-11-30")
    keeps(home, WROTE, lexicon={"the yellow page": term})
    day = today(home).isoformat()
    home.says("The Yellow Page again, and the yellow page!", "Yes.", "no yellow pages", "No.")
    home.model.down = OVERLOADED
    home.judges()
    home.clock.sleep(400)
    home.model.down = None
    home.judges()
    home.night()
    home.sleeps()
    kept = home.kept().lexicon["the yellow page"]
    assert (kept.count, kept.last_used) == (6, day)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_death_in_the_night_loses_no_mention_and_counts_none_twice(
    home: Companion, monkeypatch: pytest.MonkeyPatch, where: str
):
    term = Term("the yellow page", 5, "2026-11-30")
    keeps(home, WROTE, lexicon={"the yellow page": term})
    home.mentions(["term:the yellow page"], today(home).isoformat())
    home.night()
    with monkeypatch.context() as patch:
        if where == "before":
            patch.setattr(Repository, "change", dies)
        else:
            patch.setattr(sleep, "_finish", dies)
        with pytest.raises(GitError):
            home.sleeps()
    assert home.kept().lexicon["the yellow page"].count == (5 if where == "before" else 6)
    home.mentions(["term:the yellow page"], today(home).isoformat(), turn=9)
    home.night()
    home.sleeps()
    assert home.kept().lexicon["the yellow page"].count == 7


def test_a_night_in_which_nothing_was_mentioned_is_not_had_twice_after_a_death(
    home: Companion, monkeypatch: pytest.MonkeyPatch
):
    home.says("We named the job the goat", "Yes.")
    home.model.writes = {"goat": entry("We named the job the goat.", lexicon=["the goat"])}
    home.writes()
    home.night()
    home.model.nights = [{"fade": [2]}, {"fade": [1]}]
    with monkeypatch.context() as patch:
        patch.setattr(merge, "_follow", dead)
        with pytest.raises(DeathError):
            home.sleeps()
    worker.work(home.context(), "diary", Quiet())
    nights = home.diary_git("log", "--first-parent", "--format=%B").count("Diary-Sleep: ")
    asked = sum("<diary_items>" in each for each in home.model.shown)
    assert (nights, asked, is_due(home)) == (1, 1, False)
    assert home.diary_git("status", "--porcelain") == ""
    assert not (home.diary.path / ".git" / "index.lock").exists()


def test_a_death_in_a_change_of_the_persona_keeps_nobody_out_for_longer_than_a_round(
    home: Companion, monkeypatch: pytest.MonkeyPatch
):
    keeps(home, WROTE)
    wish = Proposal("tea", "tone", "", "I like the sound of a kettle.", 0.8)
    lock = home.diary.path / ".git" / "index.lock"
    with monkeypatch.context() as patch, home.context().state() as state:
        patch.setattr(merge, "_follow", dead)
        with pytest.raises(DeathError):
            guard.propose(home.context(), state, [wish], lambda text: text)
    assert lock.exists()
    worker.work(home.context(), "diary", Quiet())
    assert not lock.exists()
    assert home.diary_git("status", "--porcelain") == ""
    assert "kettle" in (home.diary.path / "persona.md").read_text("utf-8")


def test_twins_are_joined_by_a_merge_that_names_the_night(home: Companion):
    first, second = keeps(home, WROTE, AGAIN)
    joined = "They said it lightly: a friend moved away, and they had known."
    home.model.nights = [{"same": [{"items": [1, 2], "text": joined}]}]
    done = home.sleeps()
    assert isinstance(done, Slept)
    assert home.texts() == [joined]
    assert [*home.kept().entries] == [first]
    assert second in home.kept().tombstones
    assert f"Diary-Sleep: {done.id}" in home.diary_git("log", "-1", "--format=%B")
    assert len(home.diary_git("log", "-1", "--format=%P").split()) == 2
    assert home.diary_git("status", "--porcelain") == ""


def test_what_is_written_and_forgotten_during_the_night_stays_so(home: Companion):
    first, second = keeps(home, WROTE, AGAIN)
    home.model.nights = [{"same": [{"items": [1, 2], "text": ""}]}]
    added = Entry("f" * 16, "2026-12-01", OTHER, "chat", created_at="2026-12-01T12:00:00.000Z")

    def meanwhile(diary: Diary) -> Diary:
        entries = {name: one for name, one in diary.entries.items() if name != first}
        return merging.buried(diary, replace(diary, entries={**entries, added.id: added}))

    def writes() -> None:
        if added.id not in home.kept().entries:
            home.diary.change("x", "test", meanwhile)

    home.model.before_answer = writes
    home.sleeps()
    assert first not in home.kept().entries
    assert home.kept().entries[added.id].text == OTHER
    del second


def test_a_night_without_a_provider_waits_and_without_a_model_only_folds(
    home: Companion, tmp_path: Path
):
    (first,) = keeps(home, WROTE)
    home.mentions([first], today(home).isoformat())
    home.night()
    home.model.down = OVERLOADED
    held = home.sleeps()
    assert isinstance(held, Waits)
    assert held.why == "back_off"
    assert is_due(home)
    with companion(tmp_path / "other", engine="rules") as plain:
        (first,) = keeps(plain, WROTE)
        plain.mentions([first], today(plain).isoformat())
        plain.night()
        assert isinstance(plain.sleeps(), Slept)
        assert plain.kept().entries[first].reinforced_on > "2026-11-30"
        assert plain.model.requests == []


def test_mood_moves_with_what_is_written_and_a_night_writes_it_down(home: Companion):
    from tests.support.companions import entry

    home.model.writes["moved"] = entry(WROTE, mood=-1)
    home.says("A friend moved away.")
    home.writes()
    assert home.kept().mood.value == 0
    with home.context().state() as state:
        mood = noted.mood(state.connection)
    assert mood
    assert -0.5 < mood.value < 0
    home.night()
    home.sleeps()
    assert mood.value < home.kept().mood.value < 0


def lines(*pairs: tuple[str, str, str], kind: str = "tone", sure: float = 0.5) -> dict[str, Any]:
    return {
        "persona": [
            {"dimension": about, "kind": kind, "old": old, "new": new, "confidence": sure}
            for about, old, new in pairs
        ]
    }


def test_at_most_two_lines_of_the_persona_change_a_day_each_by_a_commit(home: Companion):
    home.model.nights = [
        lines(("a", "", "I ask first."), ("b", "", "I am dry."), ("c", "", "I hum."))
    ]
    keeps(home, WROTE)
    before = home.kept().persona
    done = home.sleeps()
    assert isinstance(done, Slept)
    assert done.counts["persona"] == 2
    persona = home.kept().persona
    assert "I ask first." in persona
    assert "I am dry." in persona
    assert "I hum." not in persona
    assert home.diary_git("log", "--format=%s", "-2").splitlines() == ["change the persona"] * 2
    last = home.diary_git("log", "--format=%H", "-1").strip()
    undone = Cli(home.home)("diary", "undo", "--json")
    assert (undone.code, undone.json["undone"]) == (0, last)
    assert "I am dry." not in home.kept().persona
    with pytest.raises(UsageError):
        guard.undo(home.context(), last)
    with pytest.raises(NotFoundError):
        guard.undo(home.context(), home.diary_git("log", "--format=%H", "--reverse").split()[0])
    assert before != persona


def test_what_flips_back_is_locked_what_is_anchored_stays_and_what_is_undone_does_not_return(
    home: Companion,
):
    nights = [
        lines(("tone", "", "I ask first.")),
        lines(("tone", "I ask first.", "I wait.")),
        lines(("tone", "I wait.", "I ask first.")),
        lines(("tone", "I wait.", "I say it at once.")),
        lines(("faults", "- I explain too early, when the point was only to be heard.", "none")),
        lines(("city", "", "I live by the sea."), kind="fact", sure=0.8),
    ]
    for number, night in enumerate(nights):
        home.model.nights = [night]
        keeps(home, f"{WROTE} And number {number}.")
        _touch(home)
        home.sleeps()
    persona = home.kept().persona
    assert "I wait." in persona
    assert not any(
        word in persona for word in ("I ask first.", "I say it at once.", "by the sea", "none")
    )
    assert "I explain too early" in persona


def _touch(home: Companion) -> None:
    later = home.context().ambient.now()

    def change(now: Diary) -> Diary:
        one = replace(now.entries[min(now.entries)], updated_at=later)
        return replace(now, entries={**now.entries, one.id: one})

    home.diary.change("touch", "test", change)


def test_a_line_that_a_person_wrote_by_hand_is_theirs(home: Companion):
    keeps(home, WROTE)
    place = home.diary.path / "persona.md"
    place.write_text(place.read_text("utf-8") + "\nI hate mornings.\n", "utf-8")
    home.model.nights = [lines(("mornings", "I hate mornings.", "I love mornings."))]
    home.sleeps()
    assert "I hate mornings." in home.kept().persona
    assert "I love mornings." not in home.kept().persona


def test_whoever_dies_between_any_two_effects_of_a_night_counts_everything_once(
    home: Companion, monkeypatch: pytest.MonkeyPatch
):
    keeps(home, WROTE, lexicon={"the yellow page": Term("the yellow page", 0, "2026-11-30")})
    deaths = 0
    for number in range(1, 20):
        home.model.nights = [lines((f"d{number}", "", f"I am number {number}."))] * 2
        home.mentions(["term:the yellow page"], today(home).isoformat(), turn=number)
        home.night(24 * 8)
        _touch(home)
        came_to_it = died(monkeypatch, number, home.sleeps)
        deaths += came_to_it
        home.sleeps()
        assert home.kept().lexicon["the yellow page"].count == number
        assert home.kept().persona.count(f"I am number {number}.") <= 1
        if not came_to_it:
            break
    assert deaths >= 4
