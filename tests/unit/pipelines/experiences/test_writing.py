"""What was decided, as documents of one commit."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.comparing import folded
from reflector.memory.edit import Scope
from reflector.memory.experiences.chains import broken, chain
from reflector.memory.rules import check
from reflector.memory.tree import Tree
from reflector.pipelines.experiences.reconciling import Action, Candidate, Decided, decide
from reflector.pipelines.experiences.writing import MOST_EVIDENCE, Host, edits
from tests.support.secret_samples import ALNUM
from tests.support.stored import BANK, NOON, Memory, draft

FIRST = f"{1:08x}"
TOKEN = f"ghp_{ALNUM[:36]}"


def test_a_new_one_has_what_the_model_said_and_what_the_host_knows():
    memory = Memory()
    one = draft(
        "Use tail -F.",
        confidence=0.9,
        boundary_envs="os: linux",
        evidence=("h:s:1",),
        files=("proposed.py",),
        verified=False,
    )
    done = memory.takes(one, files=("src/log.py",), source="manual")
    assert list(done.files) == ["experiences/rotate-a-log-00000001.md"]
    assert done.counts == {"added": 1, "updated": 0, "skipped": 0, "superseded": 0}
    (update,) = done.updates
    assert update.text == "experiences/rotate-a-log-00000001.md: rotate a log"
    assert update.evidence == ("h:s:1",)
    kept = memory.known[FIRST]
    assert (kept.title, kept.body, kept.confidence) == ("rotate a log", "Use tail -F.", 0.9)
    assert (kept.project, kept.branch, kept.source) == (BANK, "main", "manual")
    assert (kept.files, kept.verified, kept.status) == (("src/log.py",), False, "active")


def test_a_fact_lies_by_month_with_its_own_files_and_details():
    memory = Memory()
    memory.takes(
        draft("It runs at 2.", "fact", title="backup", files=("a.py",), details="row 1"),
        files=("src/log.py",),
    )
    kept = memory.known[FIRST]
    assert kept.path == "facts/2026-11/backup-00000001.md"
    assert (kept.files, kept.details) == (("a.py",), "row 1")
    memory.takes(draft("Without a subject.", "fact", title=""))
    assert "facts/2026-11/without-a-subject-00000002.md" in memory.files


def test_what_is_said_again_word_for_word_makes_no_twin():
    memory = Memory()
    memory.takes(draft("Use tail -F.", evidence=("h:a:1",)))
    done = memory.takes(draft("Use  tail -F.", title="Rotate a log", evidence=("h:a:1", "h:a:3")))
    assert (done.counts["added"], done.counts["skipped"]) == (0, 1)
    assert memory.known[FIRST].evidence == ("h:a:1", "h:a:3")
    assert memory.takes(draft("Use tail -f.", evidence=("h:a:1",))).counts["added"] == 1
    assert memory.takes(draft("Use tail -F.", title="follow a log")).counts["added"] == 1


def test_a_fact_that_still_holds_another_day_is_a_fact_of_that_day():
    memory = Memory()
    first = draft("It runs.", "fact", title="backup", evidence=("h:a:1", "h:a:2"))
    assert memory.takes(first).counts["added"] == 1
    read_again = memory.takes(replace(first, evidence=("h:a:2",)))
    assert (read_again.counts["skipped"], read_again.files) == (1, {})
    assert memory.takes(replace(first, evidence=("h:b:1",))).counts["added"] == 1
    assert memory.takes(replace(first, evidence=())).counts["added"] == 1


def test_a_better_solution_keeps_name_chain_and_first_date():
    memory = Memory()
    memory.takes(draft("Old way.", evidence=("h:a:1",)), files=("a.py",))
    memory.takes(draft("New way."), Action.SUPERSEDE, FIRST)
    second = f"{2:08x}"
    better = draft(
        "Best way.", title="how to rotate", evidence=("h:b:1",), confidence=0.2, search_keys=("k",)
    )
    done = memory.takes(better, Action.UPDATE, second, files=("b.py",))
    kept = memory.known[second]
    assert list(done.files) == [kept.path]
    assert (kept.body, kept.title, kept.supersedes) == ("Best way.", "rotate a log", (FIRST,))
    assert kept.created < kept.updated
    assert (kept.evidence, kept.files) == (("h:b:1",), ("b.py",))
    assert (kept.search_keys, kept.confidence) == (("how to rotate", "k"), 0.7)
    assert done.counts["updated"] == 1


def test_what_was_unsure_becomes_verified_and_the_rules_let_it():
    memory = Memory()
    memory.takes(draft("Perhaps so.", verified=False))
    before = Tree.of(memory.files)
    memory.takes(draft("It is so."), Action.UPDATE, FIRST)
    assert memory.known[FIRST].verified
    assert check(before, Tree.of(memory.files), Scope("experiences")) == ()


def test_what_is_known_only_gains_evidence_and_is_confirmed_once_by_each():
    memory = Memory()
    memory.takes(draft("Use tail -F.", evidence=("h:a:1",)))
    done = memory.takes(draft("Other words.", evidence=("h:b:1",)), Action.SKIP, FIRST)
    kept = memory.known[FIRST]
    assert (kept.body, kept.evidence) == ("Use tail -F.", ("h:a:1", "h:b:1"))
    assert done.counts["skipped"] == 1
    again = memory.takes(draft("Other words.", evidence=("h:b:1",)), Action.SKIP, FIRST)
    assert (again.files, again.updates, again.counts["skipped"]) == ({}, (), 1)
    many = draft("x", evidence=tuple(f"h:c:{n}" for n in range(500)))
    memory.takes(many, Action.SKIP, FIRST)
    assert memory.known[FIRST].evidence[-1] == "h:c:499"
    assert len(memory.known[FIRST].evidence) == MOST_EVIDENCE


def test_a_replacement_writes_both_sides_at_once():
    memory = Memory()
    memory.takes(draft("X is 1.", "fact", title="X"))
    done = memory.takes(draft("X is 2.", "fact", title="X"), Action.SUPERSEDE, FIRST)
    assert len(done.files) == 2
    assert done.counts == {"added": 1, "updated": 0, "skipped": 0, "superseded": 1}
    old, new = memory.known[FIRST], memory.known[f"{2:08x}"]
    assert (old.status, old.superseded_by, new.supersedes) == ("superseded", new.id, (old.id,))
    assert [one.id for one in memory.active] == [new.id]


def test_of_eighty_corrections_only_the_last_holds_and_all_can_be_read():
    memory = Memory()
    for number in range(80):
        one = draft(f"X is {number}.", "fact", title="X" if number % 2 else " x ")
        same = [
            Candidate(each.id, each.layer, each.title, each.body)
            for each in memory.active
            if folded(each.title) == "x"
        ]
        answer = {
            "decisions": [
                {"draft": "f1", "action": "supersede", "targets": [each.id for each in same]}
            ]
        }
        (choice,) = decide((one,), {"f1": same}, answer).choices
        memory.takes(one, choice.action, *choice.targets)
    (last,) = memory.active
    assert last.body == "X is 79."
    assert [one.body for one in chain(memory.known, FIRST)] == [f"X is {n}." for n in range(80)]
    assert check(None, Tree.of(memory.files), Scope("experiences")) == ()


def test_a_target_that_is_gone_replaced_or_of_the_other_layer_is_none():
    memory = Memory()
    memory.takes(draft("One."))
    memory.takes(draft("Two."), Action.SUPERSEDE, FIRST)
    for action in (Action.UPDATE, Action.SKIP, Action.SUPERSEDE):
        for target in ("ffffffff", FIRST):
            before = memory.known[FIRST]
            done = memory.takes(draft("More."), action, target)
            assert done.counts == {"added": 1, "updated": 0, "skipped": 0, "superseded": 0}
            assert memory.known[FIRST] == before
    memory.takes(draft("It is.", "fact"), Action.SUPERSEDE, f"{2:08x}")
    assert memory.known[f"{2:08x}"].status == "active"


def test_what_a_person_removed_from_a_chain_is_named_no_more():
    for action in (Action.UPDATE, Action.SKIP, Action.SUPERSEDE):
        memory = Memory()
        memory.takes(draft("Old."))
        memory.takes(draft("New."), Action.SUPERSEDE, FIRST)
        (new,) = memory.active
        del memory.files[memory.known[FIRST].path]
        memory.takes(draft("Newer.", evidence=("h:s:2",)), action, new.id)
        assert memory.known[new.id].supersedes == ()
        assert not [told for one in memory.active for told in broken(memory.known, one)]


def test_an_id_that_is_taken_is_not_given_twice():
    ids = iter(["00000001", "00000001", "00000001", "00000002"])
    host = Host(lambda: next(ids), BANK, "main", NOON)
    two = (draft("One."), draft("Two.", "fact"))
    done = edits(Decided(()), two, {}, host)
    assert sorted(path[-11:-3] for path in done.files) == ["00000001", "00000002"]


def test_no_secret_reaches_a_document_or_its_commit():
    memory = Memory()
    one = draft(
        f"Log in with {TOKEN}.",
        "fact",
        title=f"{TOKEN} login",
        details=f"row {TOKEN}",
        files=(f"a/{TOKEN}",),
        search_keys=(TOKEN,),
        boundary_envs=f"key: {TOKEN}",
    )
    done = memory.takes(one)
    written = b"".join(raw or b"" for raw in done.files.values()) + repr(done).encode()
    assert TOKEN.encode() not in written
    assert TOKEN.lower() not in written.decode().lower()


_STEP = st.tuples(st.sampled_from(list(Action)), st.integers(1, 6), st.booleans())


@settings(max_examples=25)
@given(st.lists(_STEP, max_size=8))
def test_whatever_is_decided_every_tree_on_the_way_passes_the_rules(steps):
    memory = Memory()
    for action, target, fact in steps:
        before = Tree.of(memory.files)
        one = draft(f"Step {action} {target}.", "fact" if fact else "experience")
        memory.takes(one, action, f"{target:08x}")
        known = memory.known
        assert check(before, Tree.of(memory.files), Scope("experiences")) == ()
        assert [each for item in known.values() for each in broken(known, item)] == []
    assert len(memory.active) <= max(len(steps), 0)
