"""What a forgetting takes is told before it is taken, and what it leaves is told as well."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from reflector.core.diary import Entry, Term, Trait
from reflector.runtime.diary.forgetting import Forgotten, Would
from reflector.runtime.diary.notes import note
from reflector.runtime.diary.repository import Repository
from reflector.runtime.diary.search import Searched
from reflector.surface.cli.diary import forget
from reflector.surface.cli.output import Output
from tests.support.scenes import Scene

ITEMS = (
    Entry("a" * 16, "2026-11-20", "The kettle\nsang.\x1b[31m", "chat"),
    Trait("b" * 16, "He mends things.", "The kettle again.", "user"),
    Term("kettle time", 3),
)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path, "diary.enabled = true\n")
    note(made.context(), "We had tea.")
    note(made.context(), "The team won.")
    return made


def ran(scene: Scene, *words: str, as_json: bool = False) -> int:
    parser = argparse.ArgumentParser()
    forget.configure(parser)
    args = parser.parse_args(words)
    args.home, args.identity = str(scene.home), None
    return forget.run(args, Output(json=as_json, colour=False, live=False))


def texts(scene: Scene) -> set[str]:
    return {each.text for each in Repository(scene.context()).read().entries.values()}


def test_every_item_that_goes_is_a_line_and_drives_no_terminal():
    head, *lines = forget._shown(Would(ITEMS, 0))
    assert head == "This goes:"
    assert lines == [
        "  chat: The kettle sang.\\x1b[31m",
        "  trait: He mends things. (The kettle again.)",
        "  shared phrase: kettle time",
    ]


def test_a_long_text_is_cut_and_what_stays_is_said():
    long = Entry("a" * 16, "2026-11-20", "word " * 99, "note")
    _, line, stays = forget._shown(Would((long,), 2))
    assert line.endswith("…")
    assert len(line) < 180
    assert stays == "2 items that have it only inside a longer word stay."


def test_what_only_the_history_says_is_not_called_nothing():
    (line,) = forget._shown(Would((), 0))
    assert "history" in line


def test_what_is_left_over_is_said():
    searched = Searched(1, 2, 3, 1, ())
    lines = list(forget._told(Forgotten(("a",), 1, ("NOTES.md",), ("b",), searched)))
    assert lines[0] == "1 item forgotten; 1 commit of the history written anew."
    assert any(line.startswith("NOTES.md is your own page") for line in lines)
    assert lines[-1].startswith("1 other item says the same and stayed")


@pytest.mark.slow
def test_dry_run_shows_it_and_changes_nothing(scene, capsys):
    assert ran(scene, "tea", "--dry-run") == 0
    assert "  note: We had tea.\n" in capsys.readouterr().out
    assert ran(scene, "tea", "--dry-run", as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["text"] for each in told["would_go"]] == ["We had tea."]
    assert (told["only_in_longer_words"], told["forgotten"]) == (1, [])
    assert texts(scene) == {"We had tea.", "The team won."}


@pytest.mark.slow
def test_with_a_yes_it_is_listed_all_the_same_before_it_goes(scene, capsys):
    assert ran(scene, "tea", "--yes") == 0
    out = capsys.readouterr().out
    assert out.index("  note: We had tea.\n") < out.index("1 item forgotten")
    assert texts(scene) == {"The team won."}
