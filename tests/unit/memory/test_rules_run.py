"""The verdict on a run: its chain, its leftovers, its messages, and what becomes of it."""

from __future__ import annotations

import pytest

from reflector.memory.chain import CommitView, RunView
from reflector.memory.edit import Scope
from reflector.memory.rules import check_run
from reflector.memory.tree import SYMLINK, Tree
from tests.support.memory_trees import RUN, SAID, doc, message, run, skill

BASE = {"system/human.md": doc("short"), "reference/a.md": doc("a")}
MORE = BASE | {"reference/b.md": doc("b")}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def judged(view: RunView) -> tuple[str, list[str]]:
    """Return the outcome and the codes."""
    verdict = check_run(view)
    return verdict.outcome, sorted({one.code for one in verdict.findings})


def test_a_good_run_is_accepted():
    assert judged(run(BASE, (MORE, message()))) == ("accept", [])


def test_a_run_that_left_nothing_has_no_changes():
    assert judged(run(BASE)) == ("no_changes", [])


@pytest.mark.parametrize("head", ["refs/heads/other", None])
def test_a_head_that_is_not_the_reserved_branch_is_refused(head):
    assert judged(run(BASE, head=head)) == ("failed", ["head_moved"])
    assert judged(run(BASE, (MORE, message()), head=head)) == ("failed", ["head_moved"])


def test_rewritten_history_is_refused():
    elsewhere = CommitView("x", ("older",), message(), Tree.of(MORE))
    root = CommitView("x", (), message(), Tree.of(MORE))
    for commit in (elsewhere, root):
        view = run(BASE, commits=(commit,), tip="x")
        assert judged(view) == ("failed", ["not_from_base"])


def test_a_branch_moved_back_behind_its_base_is_refused():
    assert judged(run(BASE, tip="older")) == ("failed", ["not_from_base"])


def test_a_gap_in_the_chain_is_refused():
    first = CommitView("c0", ("base",), message(), Tree.of(BASE))
    last = CommitView("c2", ("c1",), message(), Tree.of(MORE))
    assert judged(run(BASE, commits=(first, last), tip="c2")) == ("failed", ["not_from_base"])


def test_a_merge_inside_the_run_is_refused():
    merge = CommitView("c0", ("base", "other"), message(), Tree.of(MORE))
    assert judged(run(BASE, commits=(merge,), tip="c0")) == ("failed", ["not_single_parent"])


def test_only_the_recorded_tip_is_judged():
    assert judged(run(BASE, (MORE, message()), tip="c9")) == ("failed", ["tip_mismatch"])


def test_at_most_twenty_commits_are_taken():
    steps = [(BASE | {"reference/b.md": doc(str(n))}, message()) for n in range(21)]
    assert judged(run(BASE, *steps[:20])) == ("accept", [])
    assert judged(run(BASE, *steps)) == ("failed", ["too_many_commits"])


def test_uncommitted_changes_and_untracked_documents_are_dirty():
    good = (MORE, message())
    assert judged(run(BASE, good, uncommitted=["reference/a.md"])) == (
        "dirty_uncommitted",
        ["uncommitted_change"],
    )
    for path in ("reference/c.md", "skills/", "ARCHIVE.md"):
        assert judged(run(BASE, good, untracked=[path])) == (
            "dirty_uncommitted",
            ["untracked_document"],
        )
    assert judged(run(BASE, untracked=["reference/c.md"]))[0] == "dirty_uncommitted"


def test_scratch_outside_the_memory_does_not_sink_good_commits():
    view = run(BASE, (MORE, message()), untracked=["tmp_edit.py", "scratch/"])
    assert judged(view) == ("accept", ["untracked_scratch"])
    assert judged(run(BASE, untracked=["tmp_edit.py"])) == ("no_changes", ["untracked_scratch"])


def test_a_commit_and_its_revert_are_no_changes_whatever_they_say():
    view = run(BASE, (MORE, message()), (BASE, 'Revert "fix(reflection): learned"\n'))
    assert judged(view) == ("no_changes", [])


def test_a_secret_added_and_removed_again_is_refused():
    leaked = MORE | {"reference/b.md": doc("b", TOKEN)}
    view = run(BASE, (leaked, message()), (MORE, message()))
    assert judged(view) == ("failed", ["secret"])


def test_a_link_added_and_removed_again_is_refused():
    linked = MORE | {"reference/c.md": (SYMLINK, b"/etc")}
    assert judged(run(BASE, (linked, message()), (MORE, message()))) == ("failed", ["symlink"])


def test_a_collision_or_a_variable_that_one_commit_held_is_refused():
    for files, code in (
        ({"reference/B.md": doc("b")}, "path_collision"),
        ({"reference/c.md": doc("for $AGENT_ID")}, "agent_id_literal"),
    ):
        view = run(BASE, (MORE | files, message()), (MORE, message()))
        assert judged(view) == ("failed", [code])


def test_a_header_that_a_later_commit_mends_is_accepted():
    broken = MORE | {"reference/b.md": b"no header\n"}
    assert judged(run(BASE, (broken, message()), (MORE, message()))) == ("accept", [])
    assert judged(run(BASE, (broken, message()))) == ("failed", ["header_missing"])


def test_the_size_of_a_run_is_that_of_all_its_commits():
    steps = [(BASE | {"reference/b.md": doc(str(n) * 250_000)}, message()) for n in range(5)]
    assert judged(run(BASE, *steps)) == ("failed", ["run_too_large"])


def test_every_message_keeps_the_contract():
    view = run(BASE, (MORE, "wip\n"), (MORE | {"reference/c.md": doc("c")}, message()))
    expected = ["message_generated_by", "message_subject", "message_updates"]
    assert judged(view) == ("failed", expected)


def test_a_secret_in_a_message_is_refused():
    view = run(BASE, (MORE, message(f"reference/b.md: {TOKEN}")))
    assert judged(view) == ("failed", ["secret_in_message"])
    assert TOKEN not in repr(check_run(view).findings)


def test_evidence_may_stand_in_any_commit_of_the_chain():
    human = BASE | {"system/human.md": doc("short", "new")}
    item = f"system/human.md: new [entry {SAID}]"
    assert judged(run(BASE, (human, message(item)))) == ("accept", [])
    view = run(BASE, (human, message()), (human | MORE | human, message(item)))
    assert judged(view)[0] == "accept"
    assert judged(run(BASE, (human, message()))) == ("awaiting_review", ["no_user_evidence"])
    nobody = Scope(pipeline="reflection")
    view = run(BASE, (human, message(item)), scope=nobody)
    assert judged(view) == ("awaiting_review", ["no_user_evidence"])


def test_an_error_outweighs_a_review_and_a_leftover():
    bad = BASE | {"system/human.md": doc("short", "new"), "reference/b.md": b"x"}
    view = run(BASE, (bad, message()), uncommitted=["reference/a.md"])
    assert judged(view) == (
        "failed",
        ["header_missing", "no_user_evidence", "uncommitted_change"],
    )


def test_a_protected_document_renamed_and_edited_in_one_commit_is_refused():
    kept = {"reference/k.md": doc("a", "b", extra='read_only: "true"\n')}
    for after in ({}, {"reference/l.md": doc("a", "c")}):
        view = run(BASE | kept, (BASE | after, message("forget: reference/k.md: old")))
        assert judged(view) == ("failed", ["read_only_removed"])


def test_a_file_of_another_kind_is_refused_for_the_right_reason():
    for path, raw, code in (
        ('system/größe "x".md', b"no header\n", "header_missing"),
        ("system/blob.md", bytes(range(256)) * 12_000, "file_too_large"),
        ("system/wide.md", "---\ndescription: x\n---\n".encode("utf-16"), "not_utf8"),
    ):
        verdict = check_run(run(BASE, (BASE | {path: raw}, message()), scope=RUN))
        errors = [one for one in verdict.findings if one.severity == "error"]
        assert (verdict.outcome, [(one.code, one.path) for one in errors]) == (
            "failed",
            [(code, path)],
        )


def test_a_run_that_moves_a_document_mends_the_links_to_it():
    base = BASE | {"facts/f.md": doc("see [[reference/a.md]]")}
    moved = {path: text for path, text in base.items() if path != "reference/a.md"}
    moved |= {"reference/z.md": BASE["reference/a.md"]}
    mended = moved | {"facts/f.md": doc("see [[reference/z.md]]")}
    assert judged(run(base, (moved, message()))) == ("failed", ["link_broken"])
    assert judged(run(base, (moved, message()), (mended, message()))) == ("accept", [])


def test_a_run_does_one_thing_to_skills_over_all_its_commits():
    item = f"skills/one/SKILL.md: made [entry {SAID}]"
    other = f"skills/two/SKILL.md: made [entry {SAID}]"
    one = BASE | {"skills/one/SKILL.md": skill("one", "first")}
    two = one | {"skills/two/SKILL.md": skill("two", "second")}
    assert judged(run(BASE, (one, message(item)))) == ("accept", [])
    view = run(BASE, (one, message(item)), (two, message(other)))
    assert judged(view) == ("failed", ["skill_operations"])


def test_findings_are_said_once():
    linked = MORE | {"reference/c.md": (SYMLINK, b"/etc")}
    again = MORE | {"reference/c.md": (SYMLINK, b"/usr")}
    verdict = check_run(run(BASE, (linked, message()), (again, message())))
    assert [one.code for one in verdict.findings] == ["symlink"]
