"""Rules 6 and 7: what points to a path that went away, and the page about itself."""

from __future__ import annotations

import pytest

from reflector.memory.commit_message import Update
from reflector.memory.edit import Scope
from reflector.memory.rules import check, check_planned
from reflector.memory.tree import SYMLINK, Tree
from tests.support.memory_trees import PERSON, RUN, SAID, Files, doc, skill

OLD: Files = {"reference/old.md": doc("old")}
KEPT: Files = {"reference/kept.md": doc("kept")}
SELF = "system/self-aware.md"
OBSERVED = "reference/self/observations.md"


def found(before: Files, after: Files, scope: Scope = RUN) -> list[tuple[str, str, int]]:
    """Return code, path and line of everything but evidence; deletions are explained."""
    why = [Update("x", (SAID,), "", "forget")]
    return [
        (one.code, one.path, one.line)
        for one in check(Tree.of(before), Tree.of(after), scope, why)
        if one.code != "no_user_evidence"
    ]


@pytest.mark.parametrize(
    "link",
    [
        "[[reference/old.md]]",
        "[[reference/old]]",
        "[[reference/old.md|the old one]]",
        "[[reference/old.md#part]]",
        "[[ ./reference/old.md ]]",
        "[[/reference/old.md]]",
        "`code` and [[reference/old.md]]",
    ],
)
def test_no_link_points_to_what_a_run_deleted_or_moved(link):
    pointing = {"projects/x/a.md": doc("first", link)}
    place = ("link_broken", "projects/x/a.md", 5)
    assert found(OLD | pointing, KEPT | pointing) == [place]
    moved = {"reference/new.md": OLD["reference/old.md"]}
    assert found(OLD | pointing, moved | pointing) == [place]
    assert found(OLD | pointing, OLD | KEPT | pointing) == []


@pytest.mark.parametrize(
    "text",
    [
        "[[reference/kept.md]]",
        "`[[reference/old.md]]`",
        "reference/old.md",
        "[[reference/older.md]]",
    ],
)
def test_what_is_no_link_to_it_is_no_fault(text):
    pointing = {"facts/a.md": doc(text)}
    assert found(OLD | KEPT | pointing, KEPT | pointing) == []


def test_a_link_that_led_nowhere_before_is_not_the_runs():
    pointing = {"facts/a.md": doc("[[reference/never.md]]")}
    assert found(OLD | pointing, pointing) == []


def test_a_link_may_be_mended_in_the_same_run():
    before = OLD | {"facts/a.md": doc("see [[reference/old.md]]")}
    after = {"facts/a.md": doc("see [[reference/new.md]]"), "reference/new.md": doc("old")}
    assert found(before, after) == []


def test_a_link_to_a_folder_that_vanished_is_found():
    pointing = {"facts/a.md": doc("[[projects/x/]] and [[projects]]")}
    before = {"projects/x/a.md": doc("x"), "projects/y/a.md": doc("y")} | pointing
    after = {"projects/y/a.md": doc("y")} | pointing
    assert found(before, after) == [("link_broken", "facts/a.md", 4)]
    still = {"projects/x/b.md": doc("z")}
    assert found(before | still, after | still) == []


def test_links_are_found_in_broken_companion_and_archived_documents_too():
    pointing = {
        "facts/broken.md": b"no header\n[[reference/old.md]]\n",
        "skills/s/references/more.md": b"[[reference/old.md]]\n",
        "ARCHIVE.md": b"- 2026-11-30 [[reference/old.md]]\n",
    }
    assert found(OLD | pointing, pointing) == [
        ("link_broken", "ARCHIVE.md", 1),
        ("link_broken", "facts/broken.md", 2),
        ("link_broken", "skills/s/references/more.md", 1),
    ]


def test_a_document_that_became_a_link_went_away():
    pointing = {"facts/a.md": doc("[[reference/old.md]]")}
    after = pointing | {"reference/old.md": (SYMLINK, b"x")}
    assert ("link_broken", "facts/a.md", 4) in found(OLD | pointing, after)


def test_a_person_hears_of_it_and_may_go_on():
    pointing = {"facts/a.md": doc("[[reference/old.md]]")}
    (warning,) = check(Tree.of(OLD | pointing), Tree.of(pointing), PERSON)
    assert (warning.code, warning.severity, warning.line) == ("points_nowhere", "warning", 4)


def test_a_document_that_somebody_linked_meanwhile_is_found_in_the_planned_merge():
    pointing = {"facts/a.md": doc("[[reference/old.md]]")}
    (fault,) = check_planned(Tree.of(OLD | pointing), Tree.of(pointing), RUN)
    assert (fault.code, fault.path) == ("link_broken", "facts/a.md")


def test_other_documents_are_read_only_when_something_went_away():
    many = {f"reference/{n}.md": doc("[[reference/old.md]]") for n in range(50)}
    before = Tree.of(OLD | many | {"facts/a.md": doc("a")})
    read: list[str] = []

    class Watching:
        def __init__(self, tree: Tree) -> None:
            self.listing, self.size, self._of = tree.reader.listing, tree.reader.size, tree.reader

        def content(self, oid: str) -> bytes:
            read.append(oid)
            return self._of.content(oid)

    changed = Tree.of(OLD | many | {"facts/a.md": doc("b")})
    assert check(before, Tree(changed.oid, Watching(changed)), RUN) == ()
    assert len(set(read)) == 1
    gone = Tree.of(many | {"facts/a.md": doc("a")})
    assert len(check(before, Tree(gone.oid, Watching(gone)), RUN)) == 51  # and the deletion


SKILL: Files = {"skills/s/SKILL.md": skill("s", "x"), "skills/s/scripts/go.sh": b"x\n"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("see skills/s/SKILL.md.", "skill_still_named"),
        ("run `skills/s/scripts/go.sh`", "skill_still_named"),
        ("the skill skills/s is old", "skill_still_named"),
        ("[[skills/s/SKILL.md]]", "link_broken"),
        ("[[skills/s]]", "link_broken"),
    ],
)
def test_nothing_points_to_a_skill_that_a_run_removed(text, code):
    pointing = {"projects/x/a.md": doc("first", text)}
    assert found(SKILL | pointing, pointing) == [(code, "projects/x/a.md", 5)]
    renamed = {"skills/t/SKILL.md": skill("t", "x"), "skills/t/scripts/go.sh": b"x\n"}
    assert (code, "projects/x/a.md", 5) in found(SKILL | pointing, renamed | pointing)
    assert found(SKILL | pointing, SKILL | KEPT | pointing) == []


@pytest.mark.parametrize(
    "text", ["skills/st", "skills/s-t", "my/skills/s", "skills/s.md", "the s skill"]
)
def test_another_name_is_another_skill(text):
    pointing = {"projects/x/a.md": doc(text)}
    assert found(SKILL | pointing, pointing) == []


def test_the_archive_may_name_a_skill_that_was_removed():
    archive = {"ARCHIVE.md": b"- 2026-11-30 skills/s/SKILL.md: nobody used it\n"}
    assert found(SKILL, archive) == []


def test_another_skill_may_not_be_replaced_by_one_that_was_removed():
    other = {"skills/o/SKILL.md": skill("o", "x", extra="replaced_by: s\n")}
    assert found(SKILL | other, other) == [("skill_still_named", "skills/o/SKILL.md", 4)]
    path = {"skills/o/SKILL.md": skill("o", "x", extra="replaced_by: skills/s\n")}
    assert found(SKILL | path, path) == [("skill_still_named", "skills/o/SKILL.md", 4)]


def test_the_page_about_itself_has_at_most_twelve_entries():
    twelve = [f"- 2026-11-30 observation {n}" for n in range(12)]
    prose = ["# Self-aware", "", "Some words.", "  - a detail", "-no entry", ""]
    mores = ("- one", "* one", "1. one", "12) one")
    before = {SELF: doc(*prose), OBSERVED: doc(*twelve, *mores)}
    for scope in (RUN, PERSON):
        assert found(before, before | {SELF: doc(*prose, *twelve)}, scope) == []
        for more in mores:
            files = before | {SELF: doc(*prose, *twelve, more)}
            assert found(before, files, scope) == [("self_aware_full", SELF, 22)]


def test_scanning_takes_linear_time_whatever_a_line_repeats():
    for piece in ("[[", "[[a", "skills/", "skills/s-", "`[[reference/old.md]]"):
        pointing = {"facts/a.md": doc(piece * (250_000 // len(piece)))}
        found(OLD | SKILL | pointing, pointing)
