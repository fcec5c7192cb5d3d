"""Rule 6: skills, each for itself, and what one run may do to them."""

from __future__ import annotations

import pytest

from reflector.memory.commit_message import Update
from reflector.memory.edit import Scope
from reflector.memory.finding import Finding
from reflector.memory.rules import check, check_planned
from reflector.memory.skill_rules import words
from reflector.memory.tree import SYMLINK, Tree
from tests.support.memory_trees import PERSON, RUN, SAID, Files, doc, skill

NONE: Files = {".gitignore": b"*~\n"}


def found(before: Files | None, after: Files, scope: Scope = RUN) -> list[Finding]:
    """Return what a change of skills gives; evidence is there for all of them."""
    sides = [NONE | files for files in (before or {}, after)]
    skills = {"/".join(path.split("/")[:2]) for side in sides for path in side}
    said = [Update("x", (SAID,), path, "forget") for path in sorted(skills)]
    tree = None if before is None else Tree.of(sides[0])
    return [
        one
        for one in check(tree, Tree.of(sides[1]), scope, said)
        if one.code not in ("script_changed", "unexplained_deletion")
    ]


def places(before: Files | None, after: Files, scope: Scope = RUN) -> list[tuple[str, str, int]]:
    return [(one.code, one.path, one.line) for one in found(before, after, scope)]


def codes(before: Files | None, after: Files, scope: Scope = RUN) -> list[str]:
    return [one.code for one in found(before, after, scope)]


def one(*lines: str, **header: str) -> Files:
    """Return a memory of one skill, `deploy`."""
    return {"skills/deploy/SKILL.md": skill("deploy", *lines, **header)}


def test_a_sound_skill_has_no_findings():
    files = one(
        "# Deploy", "", "Run `scripts/go.sh`, then read [more](references/more.md#top)."
    ) | {
        "skills/deploy/scripts/go.sh": b"true\n",
        "skills/deploy/references/more.md": b"more\n",
    }
    for scope in (RUN, PERSON):
        assert codes({}, files, scope) == []
    assert codes(None, files, PERSON) == []


def test_a_skill_says_when_it_should_be_used():
    for description in ("Deploys", "this skill should be used when x", "Use when deploying"):
        assert places({}, one("x", description=description)) == [
            ("skill_description", "skills/deploy/SKILL.md", 2)
        ]
    folded = ">-\n  This skill should be\n  used when deploying"
    assert codes({}, one("x", description=folded)) == []


@pytest.mark.parametrize("name", ["Deploy", "de_ploy", "-deploy", "de--ploy", "größe", "a" * 65])
def test_the_folder_of_a_skill_is_kebab_case(name):
    files = {f"skills/{name}/SKILL.md": skill(name, "x")}
    assert places({}, files) == [("skill_folder", f"skills/{name}/SKILL.md", 0)]


def test_the_name_of_a_skill_is_that_of_its_folder():
    files = {"skills/deploy/SKILL.md": skill("release", "x")}
    assert places({}, files) == [("skill_name", "skills/deploy/SKILL.md", 3)]
    assert codes({}, {"skills/a1-b2/SKILL.md": skill("a1-b2", "x")}) == []


def test_a_skill_has_at_most_three_thousand_words():
    assert codes({}, one(*["word " * 100] * 30)) == []
    assert places({}, one(*["word " * 100] * 30, "more")) == [
        ("skill_too_long", "skills/deploy/SKILL.md", 0)
    ]
    assert codes({}, one("字" * 6000)) == []
    assert codes({}, one("字" * 6001)) == ["skill_too_long"]


def test_words_are_counted_in_every_script():
    assert words("two words") == 2
    assert words("四个汉字") == 2
    assert words("ひらがなです。") == 4
    assert words("두 단어") == 2
    assert words("") == 0


@pytest.mark.parametrize(
    "line",
    [
        "Run scripts/go.sh.",
        "Run `scripts/go.sh` now",
        "Run ./scripts/go.sh, then stop",
        "(see references/more.md)",
        "see [more](references/more.md#part)",
        "**references/more.md**",
        "use skills/deploy/scripts/go.sh",
        "in references/deep/ and references/deep",
        "the file references/two words.md is read",
        "先运行scripts/go.sh。然后",
        "读references/more.md一遍",
        "templates in `templates/`, or scripts/, or assets/…",
        "name it references/<topic>.md or scripts/*.sh or assets/{name}.png",
        "name it references/part-<n>.md",
        "cp src/templates/page.html /srv/assets/page.html ../scripts/x.sh ~/scripts/y.sh",
        "https://example.com/assets/logo.png",
        "my-scripts/run.sh and prescripts/run.sh",
    ],
)
def test_paths_that_exist_or_are_somebody_elses_are_no_fault(line):
    companions = {
        "skills/deploy/scripts/go.sh": b"x\n",
        "skills/deploy/references/more.md": b"x\n",
        "skills/deploy/references/deep/one.md": b"x\n",
        "skills/deploy/references/two words.md": b"x\n",
    }
    assert codes({}, one(line) | companions) == []


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Run scripts/no.sh.", "scripts/no.sh"),
        ("`assets/no.png`", "assets/no.png"),
        ("see [x](references/go.md)", "references/go.md"),
        ("run scripts/go.shx", "scripts/go.shx"),
        ("run scripts/go.sh.bak", "scripts/go.sh.bak"),
        ("run scripts/go.sh/x", "scripts/go.sh/x"),
        ("from templates/page.html", "templates/page.html"),
        ("use skills/deploy/scripts/no.sh", "skills/deploy/scripts/no.sh"),
        ("use skills/other/scripts/go.sh", "skills/other/scripts/go.sh"),
    ],
)
def test_a_file_that_a_skill_names_exists(line, named):
    files = one("# Deploy", "```", line, line, "```") | {"skills/deploy/scripts/go.sh": b"x\n"}
    (fault,) = found({}, files)
    assert (fault.code, fault.line) == ("skill_path_missing", 7)
    assert f" {named}," in fault.message


def test_a_file_may_not_be_taken_from_under_a_skill_that_names_it():
    before = one("Run scripts/go.sh") | {"skills/deploy/scripts/go.sh": b"x\n"}
    assert codes(before, one("Run scripts/go.sh")) == ["skill_path_missing"]
    assert codes(before, one("Run it")) == []


def test_a_skill_that_nothing_changed_is_left_alone():
    before = {"skills/old/SKILL.md": skill("other", "Run scripts/no.sh", description="Old")}
    assert codes(before, before | {"reference/a.md": b"---\ndescription: x\n---\n"}) == []


@pytest.mark.parametrize(
    "opening",
    [
        ["Nobody deploys by hand any more; use skills/release instead."],
        ["# Deploy", "", "Nobody deploys by hand any more:", "the pipeline does it instead."],
        ["> **Deprecated.** Nobody deploys by hand any more. Replaced by the pipeline."],
        ["这个流程已经过时，请改用新的发布流程。"],
        ["The server is gone, and there is no alternative."],
    ],
)
def test_a_deprecated_skill_says_why_and_what_instead(opening):
    for value in ("true", '"true"', "yes"):
        assert codes({}, one(*opening, "", "## Steps", extra=f"deprecated: {value}\n")) == []


@pytest.mark.parametrize(
    ("opening", "line"),
    [
        ([], 6),
        (["# Deploy", "", "## Steps", "use x instead of all of this here"], 8),
        (["- use x instead of this, since it is old"], 6),
        (["Deprecated."], 6),
        (["Use x instead."], 6),
        (["This describes how to deploy the server by hand."], 6),
    ],
)
def test_a_deprecated_skill_without_reason_or_alternative_is_refused(opening, line):
    files = one(*opening, extra="deprecated: true\n")
    assert places({}, files) == [("skill_deprecation", "skills/deploy/SKILL.md", line)]
    assert codes({}, one(*opening, extra='deprecated: "false"\n')) == []


def test_what_replaces_a_skill_exists():
    others = {
        "skills/release/SKILL.md": skill("release", "x"),
        "reference/how.md": b"---\ndescription: x\n---\n",
    }
    for named in ("release", "skills/release", "skills/release/SKILL.md", "reference/how", "''"):
        assert codes(others, others | one("x", extra=f"replaced_by: {named}\n")) == []
    for named in ("no", "deploy", "skills/deploy/SKILL.md", "skills/no", "[release, no]", "7"):
        after = others | one("x", extra=f"replaced_by: {named}\n")
        assert places(others, after) == [("skill_replacement", "skills/deploy/SKILL.md", 4)]


def test_a_link_in_the_place_of_a_skill_is_not_read():
    files: Files = {"skills/deploy/SKILL.md": (SYMLINK, b"../other/SKILL.md")}
    assert codes({}, files) == ["symlink"]


A = {"skills/a/SKILL.md": skill("a", "# A", "a one", "a two", "a three", "a four")}
B = {"skills/b/SKILL.md": skill("b", "# B", "b one", "b two", "b three", "b four")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, A),
        (A, {"skills/a/SKILL.md": skill("a", "a one", "a new")}),
        (A | B, B),
        # a rename, with an edit
        (A, {"skills/c/SKILL.md": skill("c", "a one", "a two", "a three", "new")}),
        # a split, with and without what was split
        (
            A,
            {
                "skills/c/SKILL.md": skill("c", "a one", "a two", "new"),
                "skills/d/SKILL.md": skill("d", "a three", "a four", "also new"),
            },
        ),
        (
            A,
            {
                "skills/a/SKILL.md": skill("a", "a one", "a two"),
                "skills/c/SKILL.md": skill("c", "a three", "a four", "new"),
            },
        ),
        # a merger
        (A | B, {"skills/c/SKILL.md": skill("c", "a one", "a two", "b one", "b two")}),
        (A | B, {"skills/a/SKILL.md": skill("a", "a one", "a two", "a three", "a four", "b one")}),
        # a successor
        (
            A,
            {
                "skills/a/SKILL.md": skill(
                    "a",
                    "Nobody does it by hand, use b instead.",
                    extra="deprecated: true\nreplaced_by: b\n",
                )
            }
            | B,
        ),
        # a pointer that follows
        (
            A | {"skills/b/SKILL.md": skill("b", "see skills/a", "b two")},
            {"skills/b/SKILL.md": skill("b", "b two")},
        ),
    ],
)
def test_a_run_may_do_one_thing_to_skills(before, after):
    assert codes(before, after) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, A | B),
        (A, B),
        (A | B, {}),
        (A | B, {"skills/a/SKILL.md": skill("a", "new"), "skills/b/SKILL.md": skill("b", "too")}),
        (A, {"skills/a/SKILL.md": skill("a", "new")} | B),
        (
            {"skills/a/SKILL.md": skill("a", "# T", "## Overview", "## Steps", "one")},
            {"skills/b/SKILL.md": skill("b", "# T", "## Overview", "## Steps", "two")},
        ),
        (B, A | {"skills/c/SKILL.md": skill("c", "b one", "b two", "b three")}),
    ],
)
def test_a_run_may_not_do_two_things_to_skills(before, after):
    (fault,) = places(before, after)
    assert fault in [("skill_operations", f"skills/{name}", 0) for name in "bc"]
    assert codes(before, after, PERSON) == []


def test_mending_what_pointed_to_a_path_that_moved_is_no_operation():
    other = {"reference/old.md": doc("x"), "skills/c/SKILL.md": skill("c", "c one")}

    def pointing(target: str, more: str = "") -> Files:
        line = f"See [[{target}]] first."
        extra = f"version: {more}\n" if more else ""
        return {
            "skills/a/SKILL.md": skill("a", "a one", line, extra=extra),
            "skills/b/SKILL.md": skill("b", "b one", line),
            "skills/b/references/more.md": f"{line}\n".encode(),
        }

    before = other | pointing("reference/old.md")
    moved = {"reference/new.md": doc("x")}
    changed = {"skills/c/SKILL.md": skill("c", "c one", "c two")}
    after = moved | pointing("reference/new.md")
    assert codes(before, after | {"skills/c/SKILL.md": other["skills/c/SKILL.md"]}) == []
    assert codes(before, after | changed) == []
    assert codes(before, changed | moved | pointing("reference/new.md", "2")) == [
        "skill_operations"
    ]
    kept = other | pointing("reference/c.md") | {"reference/c.md": doc("x")}
    assert codes(before | {"reference/c.md": doc("x")}, kept) == ["skill_operations"]


def test_many_skills_at_once_are_refused_in_linear_time():
    files = {f"skills/s{n}/SKILL.md": skill(f"s{n}", f"line {n}") for n in range(500)}
    (fault,) = found({}, files)
    assert (fault.code, fault.path) == ("skill_operations", "skills/s1")
    assert " 500 " in fault.message


@pytest.mark.parametrize(
    "piece",
    ["scripts/a ", "scripts/", "scripts/a.py。", "skills/deploy/", "字", "> ", "use ", "\n- "],
)
def test_judging_takes_linear_time_whatever_a_skill_repeats(piece):
    text = piece * (200_000 // len(piece.encode()))
    files = one(text, extra="deprecated: true\n") | {"skills/deploy/scripts/a.py": b"x\n"}
    assert found({}, files)


def test_of_very_many_missing_files_only_the_first_are_named():
    text = " ".join(f"scripts/{number}.sh" for number in range(2000))
    assert len(found({}, one(text))) == 20


def test_a_planned_merge_keeps_skills_whole():
    main = one("Run it") | {"skills/deploy/scripts/go.sh": b"x\n"}
    planned = one("Run scripts/go.sh")
    assert [each.code for each in check_planned(Tree.of(main), Tree.of(planned), RUN)] == [
        "skill_path_missing"
    ]
