"""The dream persona: what it says beside the rules of both personas, and that this is true."""

from __future__ import annotations

import re

import pytest

from reflector.memory.budget import estimate_tokens
from reflector.memory.commit_message import Reason, Update
from reflector.memory.edit import Scope
from reflector.memory.rules import check
from reflector.memory.tree import Tree
from reflector.pipelines.prompts import Words
from reflector.runtime.judgement import scope_of
from reflector.runtime.scheduling import SYSTEM_SHARE
from reflector.runtime.settings_keys import KEYS
from tests.support.memory_trees import SAID, Files, doc
from tests.support.words import ROOT

DREAM = Words(ROOT).persona("dream")
SCOPE: Scope = scope_of("dream", (SAID,))
CONTRACT = {
    "Role": (
        "after several conversations",
        "the memory itself and those conversations together",
        "You are not the reflection either",
        "What a single conversation teaches is its work",
        "**consolidate**",
        "may have been reflected before",
        "The same holds for memory text",
    ),
    "Working rules": (
        "windows of several conversations",
        "unlike projects",
        "without any conversation leaves the memory alone",
    ),
    "Five phases": (
        "read` every document under `system/` and note its size",
        "whose names or descriptions overlap",
        "Then read the conversations",
        "from the **memory**, in this order of priority",
        "two documents, or a document and what the user said later",
        "the same thing said in two places",
        "what no longer earns its place",
        "confirmed, falsified or went stale",
        "descriptions that do not tell",
        "only what shows when several are read together",
        "is no candidate",
        "only the later one counts",
        "needs the user's agreement",
        "Silence is no reason",
        "left as it is",
        "changes nothing the second time",
        "**Merge duplicates.**",
        "names, numbers, conditions, exceptions and dates survive",
        "word for word instead of writing a third",
        "**Resolve contradictions.**",
        "the later of two statements outranks the earlier",
        "user's words outrank what was inferred",
        "`system/boundaries.md` outranks everything",
        "general rule and its exception",
        "keep both and say when each holds",
        "leave both and name them under Issues",
        "**Demote.**",
        "leaves `system/` for the place by tier",
        "asked for everywhere stays in `system/`",
        "are never moved or deleted",
        "**Archive.**",
        "by shrinking the live source",
        "that names the path",
        "**Tighten descriptions.**",
        "what the document answers, when to read it",
        "only where it would change what is fetched",
        "**Promote observations.**",
        "when two different conversations show it",
        "leaves `reference/self/observations.md`",
        "At most 12 entries",
        "the weakest goes back",
        "one dated line in `reference/self/ARCHIVE.md`",
        "never an order, and never what a user wants",
        "that belongs in `system/human.md`, with its evidence",
        "**Keep the system tier inside its budget.**",
        "must at least make it smaller",
        "merge first, then demote, then archive",
        "Never cut a sentence until it says something else",
        "At least 60 % of the lines of `system/persona.md`",
        "`experiences/` and `facts/` are read here, not changed",
        "points to its new place",
        "a change there and needs its evidence",
        "leave the document that it points to where it is",
        "know where its content is now or why it is gone",
        "no larger than it may be",
        "that a person undid before",
        "Commit **once**",
    ),
    "Target document": (
        "**that document only**",
        "The rest of the memory is read",
        "No other path is written, moved or deleted",
        "`ARCHIVE.md` and `system/self-aware.md` included",
        "neither moved nor deleted",
        "all of the above holds",
        "a description that earns the fetch, single lines in load-bearing documents, evidence",
        "Nothing can be archived",
        "an item that starts `wrong:`",
        "stays and is named under Skipped",
        "Skills are left alone, unless",
        "does not exist, is `system/boundaries.md`, lies under `experiences/` or `facts/`",
        'read_only: "true"',
        "change nothing and say so under Issues",
        "Without a target, the whole memory",
    ),
    "Commit": (
        "contradiction is `fix(dream)`",
        "a promoted observation or a new line is `feat(dream)`",
        "what only tidies (merged, demoted, archived, described better) is `chore(dream)`",
        "the first of them in this order",
        "an id that only the memory mentions",
        "a line that is only removed",
        "a line that moves word for word from one document under `system/` to another",
        "a line that moves word for word from `reference/self/observations.md`",
        "A **new line** does need one",
        "A reworded line, a line from another tier and a changed description are new lines",
        "makes the whole run wait for a person",
        "without evidence in the payload, leave it as it was",
        "more than 40 % and at least 10 lines",
        "needs its line in `ARCHIVE.md`",
    ),
    "Reminders": (
        "With a target document, that document only",
        "Tidying loses nothing",
    ),
}
SECTIONS = (
    "Role",
    "Working rules",
    "Tiers and visibility",
    "Five phases",
    "Target document",
    "Skills",
    "Commit",
    "Report",
    "Reminders",
)


def codes(before: Files, changed: Files, *updates: Update) -> list[str]:
    """Return what the validator says of a dream that changes these files."""
    after = {path: raw for path, raw in (before | changed).items() if raw}
    return [one.code for one in check(Tree.of(before), Tree.of(after), SCOPE, updates)]


def because(path: str, reason: Reason = "") -> Update:
    return Update("x", (SAID,), path, reason)


def test_the_dream_has_the_sections_of_the_reflection_and_one_for_its_target() -> None:
    assert tuple(DREAM.sections) == SECTIONS


@pytest.mark.parametrize(
    ("section", "phrase"),
    [(section, phrase) for section, phrases in CONTRACT.items() for phrase in phrases],
)
def test_a_rule_of_the_dream_stands_in_its_section(section: str, phrase: str) -> None:
    assert phrase.casefold() in DREAM.sections[section].casefold()


@pytest.mark.parametrize("section", ["Tiers and visibility", "Skills", "Report"])
def test_what_is_the_same_for_both_is_said_in_the_same_words(section: str) -> None:
    assert DREAM.sections[section] == Words(ROOT).persona("reflection").sections[section]


def test_the_updates_come_in_the_order_of_the_job() -> None:
    named = re.findall(r"^\*\*(\w+)[^*]*\.\*\*", DREAM.sections["Five phases"], re.MULTILINE)
    assert named == ["Merge", "Resolve", "Demote", "Archive", "Tighten", "Promote", "Keep"]


def test_the_budget_that_it_names_is_the_one_of_the_settings() -> None:
    budget = next(key.default for key in KEYS if key.name == "prompt.budget_tokens")
    assert isinstance(budget, int)
    named = re.search(
        r"may take (\d+) % of the compiled block: (\d+) estimated tokens unless"
        r".* about (\d+) characters of English or (\d+) of Chinese",
        DREAM.sections["Five phases"],
    )
    assert named
    share, tokens, english, chinese = map(int, named.groups())
    assert (share, tokens) == (SYSTEM_SHARE, budget * SYSTEM_SHARE // 100)
    assert estimate_tokens("x" * english) == estimate_tokens("记" * chinese) == tokens


def test_what_it_says_of_evidence_is_what_the_validator_asks() -> None:
    human, style, note = "system/human.md", "system/style.md", "reference/note.md"
    before: Files = {human: doc("a", "b"), style: doc("s"), note: doc("n", "m")}
    assert codes(before, {human: doc("a")}) == []
    assert codes(before, {human: doc("a"), style: doc("s", "b")}) == []
    page, seen = "system/self-aware.md", "reference/self/observations.md"
    observed = before | {page: doc("s"), seen: doc("asks too late")}
    assert codes(observed, {page: doc("s", "asks too late"), seen: doc("")}) == []
    assert codes(observed, {page: doc("s", "asks too soon")}) == ["not_observed"]
    wanting = ["no_user_evidence"]
    assert codes(before, {human: doc("a", "b, reworded")}) == wanting
    assert codes(before, {note: doc("n"), human: doc("a", "b", "m")}) == wanting
    assert codes(before, {human: doc("a", "b", description="other")}) == wanting
    assert codes(before, {human: doc("a", "c")}, because(human)) == []
    foreign = Update("x", ("claude-code:other:0",), human)
    assert codes(before, {human: doc("a", "c")}, foreign) == wanting


def test_what_it_says_of_deletions_is_what_the_validator_asks() -> None:
    long, half = [f"line {number}" for number in range(20)], "reference/half.md"
    before: Files = {half: doc(*long), "reference/gone.md": doc("x")}
    assert codes(before, {half: doc(*long[9:])}) == []
    assert codes(before, {half: doc(*long[10:])}) == ["unexplained_deletion"]
    assert codes(before, {half: doc(*long[10:])}, because(half, "wrong")) == []
    assert codes(before, {half: doc(*long[10:]), "reference/b.md": doc(*long[:10])}) == []
    assert codes(before, {"reference/gone.md": b""}) == ["unexplained_deletion"]
    line = "- 2026-03-14 reference/gone.md: about a tool that is gone"
    assert codes(before, {"reference/gone.md": b"", "ARCHIVE.md": doc(line)}) == []
