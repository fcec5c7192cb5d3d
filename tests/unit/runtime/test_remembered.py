"""What of the diary stands among what a person recalls: its words, and neither score nor reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reflector.core.diary import Diary, Entry
from reflector.runtime.diary.repository import Repository
from reflector.runtime.remembered import remembered
from tests.support.scenes import Scene

KETTLE = Entry(
    "a" * 16,
    "2026-08-01",
    "We got lost in the marsh, and the kettle saved the evening.",
    "chat",
    salience=0.9,
)

QUERY = "Remember how we got lost in the marsh that evening, with the kettle?"


def lived(scene: Scene) -> None:
    others = (
        Entry(f"{n:016x}", "2026-11-01", f"Talk number {n} about topic{n}.", "chat", salience=0.3)
        for n in range(80)
    )

    def change(now: Diary) -> Diary:
        return replace(now, entries={each.id: each for each in (KETTLE, *others)})

    Repository(scene.context()).change("why", "x", change)


def test_a_memory_has_its_words_and_no_score_and_no_reason(tmp_path: Path):
    scene = Scene(tmp_path, "diary.enabled = true\n")
    lived(scene)
    (found,) = remembered(scene.context(), QUERY)
    assert found.as_json() == {"id": KETTLE.id, "layer": "diary", "excerpt": found.excerpt}
    assert "marsh" in found.excerpt
    assert "2026" not in found.excerpt


def test_without_a_diary_nothing_comes_to_mind_and_none_is_made(tmp_path: Path):
    scene = Scene(tmp_path)
    assert remembered(scene.context(), QUERY) == []
    assert not scene.context().agent.diary.exists()
