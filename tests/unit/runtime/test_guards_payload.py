"""What an engine is given: the user's words are told from all others, and no secret is in it."""

from __future__ import annotations

from reflector.core.entry import Entry, Kind
from reflector.core.snapshot import Snapshot
from reflector.runtime.payload import conversation, user_entries
from tests.support.journals import assistant, reasoning, tool, user

TOKEN = "ghp_" + "A1b2C3d4E5" * 4
TAKEN = Snapshot("claude-code/s", 1, 2, "a", "b", 2, 99, 0, "advance")


def test_only_what_a_person_said_is_evidence():
    said = [user("u"), assistant("a"), tool("a"), reasoning("r")]
    assert user_entries([*said, Entry("x:e:0", "e", Kind.ERROR, "it broke")]) == (said[0].id,)


def test_a_row_that_is_older_than_a_rule_is_redacted_on_its_way_out():
    old = [user("u", f"use {TOKEN}"), tool("a", result=f"export GH={TOKEN}")]
    shown = conversation(TAKEN, old, title=f"about {TOKEN}", cwd=f"/{TOKEN}", max_bytes=9999)
    assert TOKEN not in repr(shown)


def test_a_lone_group_over_the_budget_is_cut_and_says_so():
    (shown,) = conversation(
        TAKEN, [user("u", "word " * 5000)], title="", cwd="", max_bytes=2000
    ).entries
    assert len(shown.text) < 2100
    assert "characters left out" in shown.text
