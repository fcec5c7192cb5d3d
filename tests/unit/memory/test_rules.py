"""One broken tree for every finding about a change of the memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.memory import text_rules
from reflector.memory.codes import RULES
from reflector.memory.commit_message import Reason, Update
from reflector.memory.edit import Scope
from reflector.memory.rules import check, check_message, check_planned
from reflector.memory.tree import EXECUTABLE, SUBMODULE, SYMLINK, Tree
from tests.support.memory_trees import PERSON, RUN, SAID, WHEN, Files, doc, message, skill

HUMAN = "system/human.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SEEDED: Files = {".gitignore": b"*~\n", ".gitattributes": b"* -text\n", HUMAN: doc("short")}


def codes(
    before: Files | None, after: Files, scope: Scope = RUN, updates: Sequence[Update] = ()
) -> list[str]:
    """Return the codes of what a change gives, without repeats, in the order of places."""
    tree = None if before is None else Tree.of(before)
    return list(dict.fromkeys(one.code for one in check(tree, Tree.of(after), scope, updates)))


def added(
    path: str,
    content: bytes | tuple[int, bytes],
    scope: Scope = RUN,
    updates: Sequence[Update] = (),
) -> list[str]:
    """Return what adding one file gives."""
    return codes(SEEDED, SEEDED | {path: content}, scope, updates)


def said(path: str, reason: Reason = "") -> list[Update]:
    return [Update("x", (SAID,), path, reason)]


def test_a_good_change_has_no_findings():
    assert added("reference/a.md", doc("text")) == []
    assert added("system/b.md", doc("text"), updates=said("system/b.md")) == []


def test_a_whole_memory_can_be_checked():
    assert codes(None, SEEDED, PERSON) == []
    assert codes(None, SEEDED | {"reference/x.md": b"x"}, PERSON) == ["header_missing"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("reference/a\\b.md", "path_backslash"),
        ("reference/a\nb.md", "path_control"),
        ("reference/a\udcffb.md", "path_control"),
        ("reference/e\u0301.md", "path_not_nfc"),
        ("reference/.gitignore", "path_git_name"),
        (".GITattributes", "path_git_name"),
        (".gitmodules", "path_git_name"),
        ("reference/../x.md", "path_escapes"),
        ("reference/" + "a" * 300 + ".md", "path_too_long"),
        ("README.md", "outside_layout"),
        ("notes/a.md", "outside_layout"),
        ("System/a.md", "outside_layout"),
    ],
)
def test_a_path_that_may_not_be_there_is_refused(path, code):
    for scope in (RUN, PERSON):
        found = [
            one for one in added(path, doc("x"), scope=scope) if not one.startswith("path_coll")
        ]
        assert found == [code]


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        (SYMLINK, "symlink"),
        (SUBMODULE, "submodule"),
        (EXECUTABLE, "executable"),
        (0o100664, "bad_mode"),
    ],
)
def test_only_plain_files_are_taken(mode, code):
    assert code in added("reference/a.md", (mode, doc("x")))


def test_an_executable_is_taken_only_as_a_script_of_a_skill_and_goes_to_a_person():
    ok = added("skills/x/scripts/a.sh", (EXECUTABLE, b"#!/bin/sh\n"), updates=said("skills/x"))
    assert ok == ["script_changed"]
    assert added("skills/x/assets/a.sh", (EXECUTABLE, b"x\n"), updates=said("skills/x")) == [
        "executable",
        "script_changed",
    ]


@pytest.mark.parametrize("path", [".gitignore", ".gitattributes"])
def test_a_run_may_not_touch_the_seeds_and_a_person_may(path):
    gone = {name: raw for name, raw in SEEDED.items() if name != path}
    assert codes(SEEDED, SEEDED | {path: b"!x\n"}) == ["seed_changed"]
    assert codes(SEEDED, gone) == ["seed_changed"]
    assert codes(SEEDED, SEEDED | {path: b"!x\n"}, PERSON) == []


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("reference/Straße.md", "reference/STRASSE.md"),
        ("reference/a.md", "reference/A.md"),
        ("reference/deep/a.md", "reference/Deep/b.md"),
    ],
)
def test_names_that_some_file_systems_confuse_collide(there, new):
    base = SEEDED | {there: doc("x")}
    found = check(Tree.of(base), Tree.of(base | {new: doc("y")}), RUN)
    assert [one.code for one in found] == ["path_collision"]


def test_a_rename_that_changes_only_the_case_is_no_collision():
    assert codes({"reference/a.md": doc("x")}, {"reference/A.md": doc("x")}) == []


def test_many_files_in_one_folder_are_checked_in_one_pass():
    files = {f"reference/{n}.md": doc(str(n)) for n in range(2000)}
    assert codes(None, files, PERSON) == []


def test_sizes_are_bounded_per_file_and_per_run():
    assert added("reference/a.md", doc("x" * 262_000)) == []
    assert added("reference/a.md", doc("x" * 263_000)) == ["file_too_large"]
    five = {f"reference/{n}.md": doc(str(n) * 250_000) for n in range(5)}
    assert codes(SEEDED, SEEDED | five) == ["run_too_large"]
    assert codes(SEEDED, SEEDED | five, PERSON) == []


def test_what_is_too_large_is_not_read():
    tree = Tree.of(SEEDED | {"reference/a.md": b"\0" * 3_000_000})
    read = []

    class Watching:
        listing = staticmethod(tree.reader.listing)
        size = staticmethod(tree.reader.size)

        @staticmethod
        def content(oid):
            read.append(oid)
            return tree.reader.content(oid)

    found = check(Tree.of(SEEDED), Tree(tree.oid, Watching()), RUN)
    assert [one.code for one in found] == ["file_too_large"]
    assert read == []


@pytest.mark.parametrize(
    ("raw", "code", "line"),
    [
        ("---\ndescription: x\n---\n".encode("utf-16"), "not_utf8", 1),
        ("---\ndescription: x\n---\nü\n".encode("latin-1"), "not_utf8", 4),
        (doc("a", "b\0c"), "nul_byte", 5),
        (doc("a", "b\r"), "not_lf", 5),
        (doc("a\rb"), "not_lf", 4),
        (doc("<<<<<<< ours", "a", "=======", "b", ">>>>>>> theirs"), "conflict_marker", 4),
        (doc("<<<<<<< ours", "a", "||||||| base", "=======", ">>>>>>> t"), "conflict_marker", 4),
    ],
)
def test_bytes_that_are_no_clean_text_are_refused_with_their_line(raw, code, line):
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {"reference/a.md": raw}), RUN)
    assert [(one.code, one.line) for one in found] == [(code, line)]


def test_less_than_a_whole_conflict_is_text():
    assert added("reference/a.md", doc("Title", "=======", ">>>>>>> quoted")) == []
    assert added("reference/a.md", doc("<<<<<<< only", ">>>>>>> these")) == []
    assert added("reference/a.md", doc(" <<<<<<< in", " =======", " >>>>>>> code")) == []


def test_a_file_that_is_no_document_is_a_warning():
    assert added("reference/a.txt", b"x\n") == ["not_a_document"]
    assert added("skills/x/assets/a.txt", b"x\n", updates=said("skills/x")) == []
    assert RULES["not_a_document"].severity == "warning"


@pytest.mark.parametrize(
    ("raw", "code", "line"),
    [
        (b"text\n", "header_missing", 1),
        (b"---\nname: x\n", "header_unclosed", 1),
        (b"---\ndescription: a: b\n---\n", "header_not_yaml", 2),
        (b"---\n- a\n---\n", "header_not_mapping", 2),
        (b"---\ndescription: &a x\n---\n", "header_not_plain", 2),
        (b"---\n[a]: b\n---\n", "header_key", 2),
        (b"---\na: b\na: c\n---\n", "header_duplicate_key", 3),
        (b"---\na: 2026-02-31\n---\n", "header_value", 2),
        (b"---\na: b\n---\n", "description_missing", 1),
        (b"---\ndescription: ''\n---\n", "description_empty", 2),
        (b"---\ndescription: 2026-01-01\n---\n", "description_not_text", 2),
        (b'---\ndescription: "a\\nb"\n---\n', "description_lines", 2),
        (doc(description="x" * 1025), "description_too_long", 2),
        (doc(extra="read_only: never\n"), "read_only_value", 3),
    ],
)
def test_a_broken_header_is_refused_with_its_line(raw, code, line):
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {"reference/a.md": raw}), RUN)
    assert [(one.code, one.line, one.severity) for one in found] == [(code, line, "error")]


def test_a_boolean_read_only_protects_and_is_a_warning():
    assert added("reference/a.md", doc(extra="read_only: true\n")) == ["read_only_not_text"]


def test_headers_are_asked_of_documents_only():
    assert added("skills/x/references/a.md", b"# no header\n", updates=said("skills/x")) == []
    assert added("ARCHIVE.md", b"- 2026-11-30 retired: x\n") == []
    assert added("ARCHIVE.md", b"---\n- x\n---\n") == ["header_not_mapping"]


def test_a_skill_needs_a_name():
    path = "skills/x/SKILL.md"
    assert added(path, doc("x", description=WHEN), updates=said(path)) == ["name_missing"]
    unnamed = doc("x", description=WHEN, extra="name: [x]\n")
    assert added(path, unnamed, updates=said(path)) == ["name_missing"]
    assert added(path, skill("x", "x"), updates=said(path)) == []


def test_a_run_keeps_unknown_keys_byte_for_byte():
    before = {"reference/a.md": doc("x", extra="colour:  red # mine\nstatus: open\n")}
    for kept, expected in (
        ("colour:  red # yours\nstatus: done\n", []),
        ("status: open\n", ["unknown_key_changed"]),
        ("colour: red # mine\n", ["unknown_key_changed"]),
        ("colour:  'red'\n", ["unknown_key_changed"]),
    ):
        after = {"reference/a.md": doc("x", extra=kept)}
        assert codes(before, after) == expected
        assert codes(before, after, PERSON) == []


PROTECTED = doc("kept", extra='read_only: "true"\n')


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"reference/a.md": doc("kept")}, ["read_only_changed"]),
        ({"reference/a.md": doc("other", extra='read_only: "true"\n')}, ["read_only_changed"]),
        (
            {"reference/a.md": (EXECUTABLE, PROTECTED)},
            ["executable", "read_only_changed", "script_changed"],
        ),
        (
            {"reference/a.md": (SYMLINK, b"b.md")},
            ["read_only_changed", "symlink"],
        ),
        ({"reference/b.md": PROTECTED}, ["read_only_removed"]),
        ({"reference/b.md": doc("kept", "and more")}, ["read_only_removed"]),
        ({}, ["read_only_removed", "unexplained_deletion"]),
        ({"reference/a.md/b.md": PROTECTED}, ["read_only_removed"]),
    ],
)
def test_a_read_only_document_is_neither_changed_nor_renamed_nor_deleted(after, expected):
    before = SEEDED | {"reference/a.md": PROTECTED}
    assert set(codes(before, SEEDED | after)) == set(expected)


def test_a_person_may_change_a_read_only_document():
    assert codes({"reference/a.md": PROTECTED}, {"reference/a.md": doc("x")}, PERSON) == []


def test_the_boundaries_are_changed_by_no_run():
    path, text = "system/boundaries.md", doc("never push")
    more = doc("never push", "never again")
    for before, after in (({}, {path: text}), ({path: text}, {path: more})):
        assert codes(before, after, updates=said(path)) == ["boundaries_changed"]
        assert codes(before, after, PERSON) == []
    assert "boundaries_changed" in codes({path: text}, {}, updates=said(path, reason="forget"))


def _persona(kept: int, total: int = 10) -> list[str]:
    path = "system/persona.md"
    before = {path: doc(*(f"line {n}" for n in range(total)))}
    after = {path: doc(*(f"line {n}" if n < kept else f"new {n}" for n in range(total)))}
    return codes(before, after, updates=said(path))


def test_the_persona_is_edited_line_by_line():
    assert _persona(6) == []
    assert _persona(5) == ["persona_rewritten"]


def test_the_persona_is_never_emptied_removed_or_renamed():
    path, text = "system/persona.md", doc("who", "I", "am")
    why = said(path, reason="wrong")
    assert codes({path: text}, {path: doc("")}, updates=why) == ["persona_emptied"]
    assert codes({path: text}, {}, updates=why) == ["persona_removed"]
    renamed = codes({path: text}, {"system/self.md": text}, updates=said("system/self.md"))
    assert renamed == ["persona_removed"]


def test_a_seed_may_be_replaced_whole():
    path = "system/persona.md"
    seed = doc("<!-- reflector: seed -->", *(f"placeholder {n}" for n in range(20)))
    assert codes({path: seed}, {path: doc("I am brief")}, updates=said(path)) == []


BIG = {"reference/a.md": doc(*(f"line {n}" for n in range(30)))}
SMALL = {"reference/a.md": doc(*(f"line {n}" for n in range(10)))}
ARCHIVED = {"ARCHIVE.md": b"- 2026-11-30 something was retired\n"}


def test_a_deletion_needs_a_reason():
    assert codes(BIG, {}) == ["unexplained_deletion"]
    assert codes(BIG, SMALL) == ["unexplained_deletion"]
    assert codes(BIG, SMALL, PERSON) == []


def test_a_line_of_the_archive_is_a_reason_for_one_deletion():
    assert codes(BIG, SMALL | ARCHIVED) == []
    two = BIG | {"reference/b.md": doc("y")}
    assert codes(two, ARCHIVED) == ["unexplained_deletion"]
    named = {"ARCHIVE.md": b"- 2026-11-30 reference/a.md and reference/b.md: retired\n"}
    assert codes(two, named) == []


@pytest.mark.parametrize("reason", ["forget", "wrong"])
def test_an_item_that_says_forget_or_wrong_is_a_reason(reason):
    assert codes(BIG, {}, updates=[Update("x", (), "reference/a.md", reason)]) == []
    assert codes(BIG, {}, updates=[Update("x", (), "", reason)]) == []
    elsewhere = [Update("x", (), "reference/b.md", reason)]
    assert codes(BIG, {}, updates=elsewhere) == ["unexplained_deletion"]
    assert codes(BIG, {}, updates=[Update("x", (), "reference/a.md")]) == ["unexplained_deletion"]


def test_what_moves_or_shrinks_a_little_is_no_deletion():
    nineteen = {"reference/a.md": doc(*(f"line {n}" for n in range(18)))}
    assert codes(BIG, nineteen) == []
    assert codes(BIG, {"reference/b.md": BIG["reference/a.md"]}) == []
    rest = {"reference/b.md": doc(*(f"line {n}" for n in range(10, 30)))}
    assert codes(BIG, SMALL | rest) == []


def test_a_secret_is_refused_and_its_value_never_shown():
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {"reference/a.md": doc("a", TOKEN)}), RUN)
    assert [(one.code, one.line) for one in found] == [("secret", 5)]
    assert TOKEN not in repr(found)
    assert "secret" in added("reference/a.md", doc("a", TOKEN), scope=PERSON)


def test_a_secret_that_was_there_before_is_not_the_runs():
    before = {"reference/a.md": doc("a", TOKEN)}
    assert codes(before, {"reference/a.md": doc("new", "a", TOKEN)}) == []
    assert codes(before, {"reference/a.md": doc("a", TOKEN, TOKEN)}) == ["secret"]


def test_a_secret_in_a_file_that_is_no_text_is_found():
    assert added("reference/a.md", doc("a", TOKEN) + b"\xff") == ["secret", "not_utf8"]


def test_a_secret_in_a_path_is_found_and_not_shown():
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {f"reference/{TOKEN}/a.md": b"x"}), RUN)
    assert {one.code for one in found} == {"secret_in_path", "header_missing"}
    assert TOKEN not in repr(found)
    assert {one.path for one in found} == {"reference/[REDACTED]/a.md"}


def test_a_secret_in_a_message_is_found_and_not_shown():
    found = check_message(message(f"reference/a.md: {TOKEN}"), RUN)
    assert [(one.code, one.line) for one in found] == [("secret_in_message", 4)]
    assert TOKEN not in repr(found)


def test_the_name_of_the_variable_is_refused_in_text_and_message():
    assert added("reference/a.md", doc("for $AGENT_ID")) == ["agent_id_literal"]
    assert added("reference/a.md", doc("for ${AGENT_ID}")) == ["agent_id_literal"]
    assert added("reference/a.md", doc("for $AGENT_IDS")) == []
    bad = message().replace("agent-1", "$AGENT_ID")
    assert [one.code for one in check_message(bad, RUN)] == ["agent_id_literal"]


@pytest.mark.parametrize(
    "text",
    [
        "we met yesterday",
        "Last week it broke",
        "fixed 3 days ago",
        "an hour ago",
        "next Tuesday",
        "昨天改了",
        "上个月决定",
        "三天前",
        "昨日直した",
        "先週の話",
        "어제 고쳤다",
        "지난주에",
        "3일 전에",
    ],
)
def test_a_relative_date_in_prose_is_a_warning(text):
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {"reference/a.md": doc("ok", text)}), RUN)
    assert [(one.code, one.line, one.severity) for one in found] == [
        ("relative_date", 5, "warning")
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["use `yesterday` as the name"],
        ["```", "yesterday", "```"],
        ["> yesterday"],
        ["# Yesterday"],
        ['it prints "see you tomorrow"'],
        ["他说“昨天”"],
        ["since 2026-11-30, lasting weeks"],
    ],
)
def test_code_quotes_and_headings_may_hold_relative_dates(lines):
    assert added("reference/a.md", doc(*lines)) == []


def test_what_a_fact_keeps_word_for_word_may_hold_relative_dates():
    path = "facts/2026-11/a-0123abcd.md"
    assert "relative_date" in added(path, doc("Done yesterday."))
    assert "relative_date" not in added(path, doc("Done.", "", "## Details", "", "yesterday: ok"))
    assert "relative_date" in added("reference/a.md", doc("## Details", "", "yesterday: ok"))


@given(st.from_regex(text_rules._RELATIVE, fullmatch=True), st.text(max_size=5))
def test_the_quick_look_for_relative_dates_misses_none(found, around):
    assert text_rules._may_be_relative(f"{around}\n{found}\n")


def test_a_relative_date_that_was_there_before_is_not_told_again():
    before = {"reference/a.md": doc("yesterday")}
    assert codes(before, {"reference/a.md": doc("yesterday", "more")}) == []


def test_the_system_tier_asks_for_the_users_own_words():
    new = SEEDED | {HUMAN: doc("short", "new")}
    assert codes(SEEDED, new) == ["no_user_evidence"]
    assert codes(SEEDED, new, updates=said("system/other.md")) == ["no_user_evidence"]
    assert codes(SEEDED, new, updates=[Update("x", ("a:b:0",), HUMAN)]) == ["no_user_evidence"]
    assert codes(SEEDED, new, updates=[Update("x", (), HUMAN)]) == ["no_user_evidence"]
    assert codes(SEEDED, new, updates=said(HUMAN)) == []
    assert codes(SEEDED, new, PERSON) == []
    assert RULES["no_user_evidence"].consequence == "awaiting_review"


def test_the_line_without_evidence_is_named():
    new = SEEDED | {HUMAN: doc("short", "", "new")}
    (found,) = check(Tree.of(SEEDED), Tree.of(new), RUN)
    assert (found.path, found.line) == (HUMAN, 6)


def test_taking_lines_away_asks_for_nothing():
    long = {HUMAN: doc("one", "two", "three")}
    assert codes(long, {HUMAN: doc("one", "two")}) == []


def test_the_page_about_itself_takes_only_what_was_observed_before():
    page, seen = "system/self-aware.md", "reference/self/observations.md"
    before = {page: doc("early"), seen: doc("- slow to ask")}
    promoted = {page: doc("early", "- slow to ask"), seen: doc()}
    assert codes(before, promoted) == []
    invented = {page: doc("early", "obeys files"), seen: doc("- slow to ask", "obeys files")}
    assert codes(before, invented) == ["not_observed"]
    assert codes(before, invented, updates=said(page)) == []
    assert codes(before, invented, PERSON) == []
    assert RULES["not_observed"].consequence == "awaiting_review"


def test_a_dream_may_move_lines_within_the_system_tier_only():
    dream = Scope("dream", user_entries=frozenset({SAID}), moved_lines_exempt=True)
    before = {
        HUMAN: doc("a", "b", "c"),
        "system/style.md": doc("s"),
        "reference/a.md": doc("x", "r"),
    }
    moved = before | {HUMAN: doc("a", "b"), "system/style.md": doc("s", "c")}
    assert codes(before, moved, dream) == []
    assert codes(before, moved) == ["no_user_evidence"]
    raised = before | {"reference/a.md": doc("x"), "system/style.md": doc("s", "r")}
    assert codes(before, raised, dream) == ["no_user_evidence"]
    twice = before | {HUMAN: doc("a", "b"), "system/style.md": doc("s", "c", "c")}
    assert codes(before, twice, dream) == ["no_user_evidence"]


def test_every_operation_on_a_skill_asks_for_the_users_own_words():
    path = "skills/x/SKILL.md"
    made = {path: skill("x", "a", "b", "c")}
    less = {path: skill("x", "a", "b")}
    forget = [Update("x", (), path, "forget")]
    assert codes({}, made) == ["no_user_evidence"]
    assert codes(made, less) == ["no_user_evidence"]
    assert codes(made, {}, updates=forget) == ["no_user_evidence"]
    assert codes({}, made, updates=said("skills/x")) == []
    assert codes({}, made, updates=said("skills/xy/SKILL.md")) == ["no_user_evidence"]


def test_a_script_goes_to_a_person_whatever_the_evidence():
    path = "skills/x/scripts/a.py"
    ok = said("skills/x")
    assert codes({}, {path: b"x\n"}, updates=ok) == ["script_changed"]
    assert codes({path: b"x\n"}, {path: b"y\n"}, updates=ok) == ["script_changed"]
    assert codes({path: b"x\n"}, {}, updates=ok) == []
    assert RULES["script_changed"].consequence == "awaiting_review"


@pytest.mark.parametrize("name", ["日本 語.md", 'it\'s "so".md', "größe.md"])
def test_other_scripts_spaces_and_quotes_are_shown_as_they_are(name):
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {f"system/{name}": b"no header\n"}), RUN)
    assert {one.code for one in found} == {"no_user_evidence", "header_missing"}
    assert {one.path for one in found} == {f"system/{name}"}


def test_control_characters_never_reach_a_finding():
    found = check(Tree.of(SEEDED), Tree.of(SEEDED | {"system/a\x1b[2J\n.md": b"x\n"}), RUN)
    assert {one.path for one in found} == {"system/a\\x1b[2J\\x0a.md"}
    assert all(one.message.isprintable() for one in found)


def test_a_planned_merge_is_judged_against_the_main_that_moved():
    main = SEEDED | {"reference/a.md": PROTECTED}
    found = check_planned(Tree.of(main), Tree.of(SEEDED | {"reference/a.md": doc("x")}), RUN)
    assert [one.code for one in found] == ["read_only_changed"]
    upper = main | {"reference/A.md": doc("x")}
    found = check_planned(Tree.of(main), Tree.of(upper), RUN)
    assert [one.code for one in found] == ["path_collision"]
    linked = main | {"reference/b.md": (SYMLINK, b"a.md"), "reference/c.md": b"no header\n"}
    found = check_planned(Tree.of(main), Tree.of(linked), RUN)
    assert [one.code for one in found] == ["symlink", "header_missing"]
    assert check_planned(Tree.of(main), Tree.of(main | {HUMAN: doc("new", "words")}), RUN) == ()


def test_every_row_of_the_table_reads_as_a_sentence():
    for code, row in RULES.items():
        assert code.replace("_", "").isalnum()
        assert row.sentence.endswith((".", "{sentence}"))


@pytest.mark.parametrize(
    "piece", ["1", "“", '"', "`", "``` ", "[[", "昨", "a ", "<<<<<<< \n", "\n=", "- "]
)
def test_checking_takes_linear_time_whatever_a_line_repeats(piece):
    added("reference/a.md", doc(piece * (250_000 // len(piece.encode()))))
