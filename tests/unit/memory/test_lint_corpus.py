"""One fault each, and the lint says exactly that one; of sound documents it says nothing."""

from __future__ import annotations

import pytest

from reflector.memory.codes import RULES
from reflector.memory.rules import check_memory
from reflector.memory.tree import Tree, readable
from reflector.pipelines.contexts import SeedContext
from reflector.runtime.words import open_words
from tests.support.corpus import Case, cases

BROKEN, SOUND = cases("broken"), cases("sound")
# Of these no single document is guilty, or git itself keeps them out.
_NOT_OF_ONE_DOCUMENT = {"path_escapes", "bad_mode", "points_nowhere", "secret_in_path"}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_a_fault_is_named_with_its_code_and_line_and_nothing_else_is(case: Case):
    found = check_memory(Tree.of(case.files))
    assert [(one.code, one.path, one.line, one.severity) for one in found] == [
        (case.code, readable(case.path), case.line, case.severity)
    ]


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.name)
def test_of_a_sound_document_nothing_is_said(case: Case):
    beside = {path: file for other in SOUND for path, file in other.files.items()}
    assert check_memory(Tree.of(beside), [case.path]) == ()
    assert check_memory(Tree.of(beside)) == ()


def test_a_new_memory_and_its_skills_are_sound():
    words = open_words()
    seeds = {
        name: words.seed(name, SeedContext("someone", "2026-11-30")).encode()
        for name in words.seeds()
    }
    assert any(name.endswith("/SKILL.md") for name in seeds)
    assert check_memory(Tree.of(seeds)) == ()


def test_the_corpus_has_a_document_for_every_fault_that_a_document_can_have():
    by_run = {"seed_changed", "run_too_large", "unknown_key_changed"}
    by_run |= {
        "skill_operations",
        "skill_still_named",
        "link_broken",
        "stored_broken",
        "chain_broken",
        "stored_twin",
    }
    wanted = {
        code
        for code, row in RULES.items()
        if row.rule in (3, 4, 6, 7, 8, 14)
        and code not in by_run | _NOT_OF_ONE_DOCUMENT | {"secret_in_message"}
        and not code.startswith("read_only_re")
        and code != "read_only_changed"
    }
    assert wanted <= {case.code for case in BROKEN}
    assert len(BROKEN) >= 40


def test_every_name_of_a_case_is_its_own():
    paths = [path for case in (*BROKEN, *SOUND) for path in case.files]
    assert len({case.name for case in BROKEN}) == len(BROKEN)
    assert len(set(paths) - {"system/self-aware.md"}) == len(paths) - 2
