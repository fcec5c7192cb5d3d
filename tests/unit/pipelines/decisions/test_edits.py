"""Edits of the three files, applied or refused as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.decisions.bullets import (
    BankFiles,
    added,
    bullets,
    read_bank,
    removed,
    replaced,
    written,
)
from reflector.pipelines.decisions.edits import (
    Add,
    Applied,
    Changed,
    Edit,
    Refused,
    Remove,
    Replace,
    apply,
    read_edits,
)

PRODUCT = """# Product

A person's own remark.

## Export

- Exports are sorted by date.
- The file name carries
  the day.

## Status bar

- Solid right edge, no bold.
"""
FILES = BankFiles(product=PRODUCT)


def _codes(files: BankFiles, *edits: Edit, **more: Any) -> list[str]:
    done = apply(files, edits, **more)
    return [each.code for each in done.findings] if isinstance(done, Refused) else []


def _body(files: BankFiles, *edits: Edit) -> str:
    done = apply(files, edits)
    assert isinstance(done, Applied)
    return done.files.product


def test_bullets_are_listed_with_their_sections_and_lines() -> None:
    found = [(one.section, one.text) for one in bullets("product", PRODUCT)]

    assert found == [
        ("Export", "Exports are sorted by date."),
        ("Export", "The file name carries the day."),
        ("Status bar", "Solid right edge, no bold."),
    ]


def test_code_holds_no_bullets() -> None:
    assert bullets("style", "```\n- not one\n```\n- `one`\n")[0].text == "`one`"


def test_a_new_bullet_comes_last_in_its_section_and_nothing_else_changes() -> None:
    body = _body(FILES, Add("product", "export", "One row per order.", (1,)))

    assert body == PRODUCT.replace("  the day.\n", "  the day.\n- One row per order.\n")


def test_a_new_section_and_a_new_file_are_made() -> None:
    done = apply(BankFiles(), [Add("style", "", "- Teal banner.", (1,))])

    assert isinstance(done, Applied)
    assert done.files.style == "# Style\n\n## General\n\n- Teal banner.\n"
    assert done.changes == (Changed("style", "", "Teal banner.", (1,)),)


def test_a_newer_word_takes_the_place_of_an_older_one() -> None:
    edit = Replace("product", "The file name carries the day.", "The file name carries the week.")

    assert _body(FILES, edit) == PRODUCT.replace("carries\n  the day.", "carries the week.")


def test_a_section_goes_with_its_last_bullet() -> None:
    body = _body(FILES, Remove("product", "Solid right edge, no bold.", "superseded"))

    assert body == PRODUCT.partition("\n## Status bar")[0]


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (Replace("product", "No such thing.", "x y z"), "no_such_bullet"),
        (Remove("style", "Solid right edge, no bold."), "no_such_bullet"),
        (Add("product", "Export", "  "), "bullet_empty"),
        (Add("product", "Export", "One.\n- Two."), "bullet_lines"),
        (Add("product", "x" * 81, "One row per order."), "bad_section"),
        (Add("product", "Export", "See src/app/main.py for rows."), "bullet_located"),
        (Add("product", "src/app/main.py", "One row per order."), "bullet_located"),
        (Add("product", "Export", "Exports are always sorted by date"), "bullet_repeated"),
        (Add("style", "Look", "The exports are sorted by date."), "bullet_repeated"),
    ],
)
def test_what_breaks_a_rule_is_refused(edit: Edit, code: str) -> None:
    assert _codes(FILES, edit) == [code]


def test_one_bad_edit_sinks_all_and_every_fault_is_named() -> None:
    good = Add("product", "Export", "One row per order.")
    bad = Replace("product", "Nothing.", "At deadbeef1 it worked.")

    assert _codes(FILES, good, bad) == ["bullet_located", "no_such_bullet"]


def test_a_bullet_may_move_to_its_right_home() -> None:
    text = "Solid right edge, no bold."

    assert not _codes(FILES, Remove("product", text, "is style"), Add("style", "Bar", text))


def test_a_bullet_that_a_later_edit_replaces_is_judged_as_it_ends() -> None:
    text = "Rows are numbered from one."
    edits = (Add("product", "Export", text), Replace("product", text, "Rows are not numbered."))

    assert not _codes(FILES, *edits)


def test_what_the_project_documents_is_not_repeated() -> None:
    digest = "# Rules\n\n- One row per order.\n"
    edit = Add("product", "Export", "There is one row per order")

    assert _codes(FILES, edit) == []
    assert _codes(FILES, edit, digest=digest) == ["already_documented"]


def test_the_opposite_of_what_is_documented_is_no_repetition() -> None:
    digest = "- Exports hold one row per order.\n"

    edit = Add("product", "Export", "Exports never hold one row per order.")

    assert not _codes(FILES, edit, digest=digest)


def test_the_opposite_of_a_bullet_takes_its_place_and_does_not_stand_beside_it() -> None:
    text = "Exports are never sorted by date."

    assert _codes(FILES, Add("product", "Export", text)) == ["bullet_repeated"]
    assert not _codes(FILES, Replace("product", "Exports are sorted by date.", text))


def test_what_differs_by_a_sign_is_not_the_same() -> None:
    edits = [Add("product", "A", f"Use {name}.") for name in ("C", "C++", "C#")]

    assert not _codes(FILES, *edits)


def test_a_sections_name_may_end_with_a_sign() -> None:
    done = apply(BankFiles(), [Add("style", "C#", "One."), Add("style", "## C# ##", "Two words.")])

    assert isinstance(done, Applied)
    assert done.files.style.count("## C#") == 1


def test_a_bullet_rests_on_deltas_that_were_shown() -> None:
    assert _codes(FILES, Add("product", "A", "One row per order."), deltas={1}) == ["no_delta"]
    edit = Add("product", "A", "One row per order.", (1, 2))
    assert _codes(FILES, edit, deltas={1}) == ["unknown_delta"]
    assert not _codes(FILES, edit, deltas={1, 2})


def test_a_file_is_never_emptied_whatever_the_reasons() -> None:
    edits = [Remove("product", one.text, "wrong") for one in FILES.bullets]

    assert _codes(FILES, *edits) == ["file_emptied"]


def test_more_than_a_third_goes_only_with_a_reason_for_each() -> None:
    first, second, _ = FILES.bullets
    reasoned = [Remove("product", one.text, "wrong") for one in (first, second)]

    assert not _codes(FILES, Remove("product", first.text))
    assert not _codes(FILES, *reasoned)
    mixed = (reasoned[0], Remove("product", second.text, " "))
    assert _codes(FILES, *mixed) == ["removal_without_reason"]


@pytest.mark.parametrize(
    ("lines", "text"), [(119, "x y"), (3, "long " * 2400)], ids=["lines", "characters"]
)
def test_a_file_has_its_limits(lines: int, text: str) -> None:
    full = BankFiles(product="## A\n" + "".join(f"- number {at} is kept\n" for at in range(lines)))

    assert _codes(full, Add("product", "A", text.strip())) == ["file_too_long"]
    assert not _codes(full, Replace("product", "number 1 is kept", "another text"))


def test_a_file_over_its_limit_may_become_shorter() -> None:
    full = BankFiles(product="## A\n" + "".join(f"- number {at} is kept\n" for at in range(200)))

    assert not _codes(full, Remove("product", "number 1 is kept", "wrong"))
    assert not _codes(full, Replace("product", "number 1 is kept", "again one"))
    longer = Replace("product", "number 1 is kept", "number one is kept as it was")
    assert _codes(full, longer) == ["file_too_long"]


@pytest.mark.parametrize(
    "text",
    [
        "Edit src/app/main.py only.",
        "Everything under lib/core/ is frozen.",
        "Write to ~/notes or /etc/app/conf.",
        "As in ./build it goes.",
        "Look at line 42.",
        "See main.py:17 for it.",
        "第 12 行不变。",
        "Since a1b2c3d it is so.",
        "Kept in C:\\data for all.",
    ],
)
def test_places_in_code_are_no_decisions(text: str) -> None:
    assert _codes(FILES, Add("product", "A", text)) == ["bullet_located"]


@pytest.mark.parametrize(
    "text",
    [
        "Input/output errors are told and/or logged.",
        "The accent is #1e90ff80 on dark, #1e90ff on light.",
        "Wrap at 100 characters, at most 120 lines.",
        "The command /compact never asks.",
        "Settings live in config.toml, not in YAML.",
        "Timestamps are 20261130 style, RFC 3339 in the API.",
        "Docs live at https://example.com/docs/a/b.html now.",
        "Node.js and TCP/IP only.",
        "The defaced banner is a feedback element.",
    ],
)
def test_words_of_the_product_are_no_places(text: str) -> None:
    assert not _codes(FILES, Add("product", "A", text))


def test_the_arguments_of_the_tool_are_read_as_edits() -> None:
    given = {
        "product": [
            {"action": "add", "section": "Export", "bullet": "One row.", "deltas": [3, 3]},
            {"action": "replace", "old": "a", "bullet": "b", "deltas": [4]},
            {"action": "remove", "old": "c", "reason": "wrong"},
        ],
        "style": [],
    }

    assert read_edits(given) == (
        Add("product", "Export", "One row.", (3,)),
        Replace("product", "a", "b", (4,)),
        Remove("product", "c", "wrong"),
    )


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"notes": []},
        {"product": {}},
        {"product": [None]},
        {"product": [{"action": "add"}]},
        {"product": [{"action": "rename", "old": "a", "bullet": "b"}]},
        {"product": [{"action": "remove", "old": "a", "deltas": ["1"]}]},
        {"product": [{"action": "remove", "old": "a", "reason": 1}]},
    ],
)
def test_malformed_arguments_are_refused(given: object) -> None:
    assert isinstance(read_edits(given), Refused)


def test_headers_stay_and_only_changed_files_are_written() -> None:
    header = b"---\ndescription: mine\nextra: kept\n---\n"
    raw = {"projects/a/product.md": header + PRODUCT.encode()}
    before = read_bank("a", raw.get)

    done = apply(before, [Add("style", "A", "Teal banner."), Add("product", "A", "One row.")])

    assert before.product == PRODUCT
    assert isinstance(done, Applied)
    found = written("a", raw.get, done.files)
    assert set(found) == {"projects/a/product.md", "projects/a/style.md"}
    assert found["projects/a/product.md"].startswith(header)
    assert written("a", raw.get, before) == {}


_LINES = st.lists(
    st.sampled_from(
        ["# Product", "## A", "## B", "- one bullet", "- two words", "  goes on", "A remark.", ""]
    ),
    max_size=12,
)


@given(_LINES, st.sampled_from(["A", "B", "C"]))
def test_adding_keeps_every_line_and_adds_one_bullet(lines: list[str], section: str) -> None:
    body = "\n".join(lines) + "\n"

    after = added("product", body, section, "three words more")

    kept = iter(after.split("\n"))
    assert all(line in kept for line in body.rstrip("\n").split("\n") if line.strip())
    found = bullets("product", after)
    assert len(found) == len(bullets("product", body)) + 1
    (new,) = (one for one in found if one.text == "three words more")
    assert new.section == section


@given(_LINES, st.data())
def test_replacing_and_removing_touch_one_bullet_alone(
    lines: list[str], data: st.DataObject
) -> None:
    body = "\n".join(lines) + "\n"
    before = bullets("product", body)
    if not before:
        return
    at = data.draw(st.integers(0, len(before) - 1))
    texts = [one.text for one in before]

    other = [one.text for one in bullets("product", replaced(body, before[at], "new"))]
    fewer = removed(body, before[at])

    assert other == [*texts[:at], "new", *texts[at + 1 :]]
    assert [one.text for one in bullets("product", fewer)] == [*texts[:at], *texts[at + 1 :]]
    assert fewer.count("A remark.") == body.count("A remark.")


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\u2066", "\U000e0041", "\ud800"])
def test_what_nobody_sees_is_in_no_bullet_and_no_section(hidden: str) -> None:
    body = _body(FILES, Add("product", f"Na{hidden}mes", f"Orders {hidden}have numbers."))
    assert hidden not in body
    assert body.endswith("## Names\n\n- Orders have numbers.\n")


def test_an_old_bullet_with_unseen_signs_can_be_named_without_them() -> None:
    files = BankFiles(product="## Names\n\n- Orders\u200b have numbers.\n- Rows have none.\n")
    body = _body(files, Replace("product", "Orders have numbers.", "Orders have letters."))
    assert "- Orders have letters.\n" in body
