from __future__ import annotations

import pytest

from reflector.agent import remembered
from reflector.agent.remembered import Memory, Note, normalised, own_lines, supersedes, with_line
from reflector.agent.statements import find_statements

SEED = "# Human\n\n## Preferences\n\n## Corrections\n"


def note(message: str, project: str = "shop", day: str = "2026-11-30") -> Note:
    (one,) = find_statements(message)
    return Note(one, one.text, project, day, "claude-code/s1", f"claude-code:{len(message)}:0")


def entered(body: str, *messages: str) -> Memory:
    memory = Memory(bodies={remembered.HUMAN: body})
    memory.enter(note(one) for one in messages)
    return memory


def refusals(memory: Memory) -> list[str]:
    return [reason for _, reason in memory.refused]


def test_preferences_and_corrections_have_sections_of_their_own():
    memory = entered(SEED, "never use sudo", "no, use ruff not flake8")
    assert memory.bodies[remembered.HUMAN] == (
        "# Human\n\n## Preferences\n\n- Never use sudo (2026-11-30)\n\n"
        "## Corrections\n\n- Use ruff not flake8 (2026-11-30)\n"
    )


def test_a_missing_section_is_made():
    assert with_line("Hello.\n", "Corrections", "- x") == "Hello.\n\n## Corrections\n\n- x\n"


def test_a_line_goes_to_the_end_of_its_section():
    body = "## A\n\n- one\n\n## B\n\n- two\n"
    assert with_line(body, "A", "- new") == "## A\n\n- one\n- new\n\n## B\n\n- two\n"


def test_facts_and_decisions_are_grouped_by_project():
    memory = Memory(bodies={})
    memory.enter(
        [
            note("remember that staging runs on port 5433"),
            note("remember that billing is frozen", project="bills"),
            note("We decided to keep SQLite"),
        ]
    )
    assert memory.bodies[remembered.FACTS] == (
        "# Facts\n\n## shop\n\n- Staging runs on port 5433 (2026-11-30)\n\n"
        "## bills\n\n- Billing is frozen (2026-11-30)\n"
    )
    assert "## shop" in memory.bodies[remembered.DECISIONS]


@pytest.mark.parametrize("said", ["never use sudo", "Never use sudo!", "never  use ｓｕｄｏ"])
def test_the_same_words_are_not_written_twice(said: str):
    memory = entered("## Preferences\n\n- never use sudo\n", said)
    assert memory.written == []
    assert refusals(memory) == ["already in memory"]


def test_names_that_differ_in_a_sign_only_are_different():
    assert normalised("- Use C++ (2026-11-30)") != normalised("- Use C (2026-11-30)")


def test_a_correction_replaces_the_line_that_it_corrects():
    memory = entered("## Preferences\n\n- We use npm (2026-01-01)\n", "no, use pnpm not npm")
    (one,) = memory.written
    assert one.replaced == "- We use npm (2026-01-01)"
    assert memory.bodies[remembered.HUMAN] == "## Preferences\n\n- Use pnpm not npm (2026-11-30)\n"


@pytest.mark.parametrize(
    "line",
    [
        "- We use npm",
        "- Never use npm (2026-01-01)",
        "- Use pnpm not npm for installs (2026-01-01)",
        "- Always run npm test before committing (2026-01-01)",
        "- The proxy forwards npm downloads to a mirror (2026-01-01)",
    ],
)
def test_a_persons_own_line_and_a_line_about_something_else_stay(line: str):
    (one,) = find_statements("no, use pnpm not npm")
    assert not supersedes(one, line)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("No, we use tabs, not spaces", "- Use spaces (2026-01-01)"),
        ("用 httpx，不要用 requests", "- 用 requests (2026-01-01)"),
        ("错了，测试环境的端口是 5433", "- 测试环境的端口是 5432 (2026-01-01)"),
        ("always squash merge commits", "- Never squash merge commits (2026-01-01)"),
    ],
)
def test_the_newer_word_stands_for_the_older(message: str, line: str):
    (one,) = find_statements(message)
    assert supersedes(one, line)


def test_two_facts_that_differ_in_a_number_are_two_facts():
    memory = Memory(bodies={})
    memory.enter(
        [
            note("remember that server 1 has 4 GB of RAM"),
            note("remember that server 2 has 4 GB of RAM"),
        ]
    )
    assert len(memory.written) == 2


def test_of_two_opposite_statements_in_a_run_the_newer_wins():
    memory = entered(SEED, "always squash merge commits", "never squash merge commits")
    assert list(own_lines(memory.bodies[remembered.HUMAN])) == [
        "- Never squash merge commits (2026-11-30)"
    ]
    assert [(one.note.text, one.replaced) for one in memory.written] == [
        ("Never squash merge commits", "")
    ]
    assert refusals(memory) == ["replaced later in this run"]


def test_changing_ones_mind_back_is_followed():
    line = "- Always squash merge commits (2026-01-01)"
    memory = entered(
        f"## Preferences\n\n{line}\n", "never squash merge commits", "always squash merge commits"
    )
    assert list(own_lines(memory.bodies[remembered.HUMAN])) == [
        "- Always squash merge commits (2026-11-30)"
    ]
    assert [one.replaced for one in memory.written] == [line]


@pytest.mark.parametrize(("project", "kept"), [("other", True), ("shop", False)])
def test_a_correction_changes_the_facts_of_its_own_project_only(project: str, kept: bool):  # noqa: FBT001
    body = f"## {project}\n\n- 测试环境的端口是 5432 (2026-01-01)\n"
    memory = Memory(bodies={remembered.FACTS: body})
    memory.enter([note("错了，测试环境的端口是 5433")])
    assert (memory.bodies[remembered.FACTS] == body) is kept


def test_when_the_system_document_is_full_preferences_go_on_elsewhere():
    full = "## Preferences\n\n" + "x" * remembered.HUMAN_LIMIT + "\n"
    memory = entered(full, "never use sudo")
    assert memory.bodies[remembered.HUMAN] == full
    assert [one.path for one in memory.written] == [remembered.PREFERENCES]


def test_when_the_system_tier_is_full_preferences_go_on_elsewhere():
    memory = Memory(bodies={remembered.HUMAN: "## Preferences\n"}, left=40)
    memory.enter([note("never use sudo"), note("always sign commits"), note("never use npm")])
    assert [one.path for one in memory.written] == [
        remembered.HUMAN,
        remembered.HUMAN,
        remembered.PREFERENCES,
    ]


@pytest.mark.parametrize(("left", "place"), [(40, remembered.HUMAN), (-5, remembered.PREFERENCES)])
def test_a_correction_for_which_the_system_tier_has_no_room_takes_the_old_line_away(left, place):
    line = "- Always squash merge commits (2026-01-01)"
    body = f"## Preferences\n\n{line}\n- Never use sudo (2026-01-01)\n"
    memory = Memory(bodies={remembered.HUMAN: body}, left=left)
    memory.enter([note("never squash merge commits")])
    assert [(one.path, one.replaced) for one in memory.written] == [(place, line)]
    assert line not in memory.bodies[remembered.HUMAN]
    assert "- Never squash merge commits (2026-11-30)" in memory.bodies[place]
    assert "sudo" in memory.bodies[remembered.HUMAN]


def test_a_protected_document_is_not_written():
    memory = Memory(bodies={}, protected=frozenset({remembered.FACTS, remembered.HUMAN}))
    memory.enter([note("remember that staging runs on port 5433"), note("never use sudo")])
    assert refusals(memory) == ["document is protected"]
    assert [one.path for one in memory.written] == [remembered.PREFERENCES]
