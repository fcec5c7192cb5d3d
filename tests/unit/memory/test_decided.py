"""A project's decisions in the block: only its own, in order, cut at bullets."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.compile import BlockOptions, compile_block
from reflector.memory.decided import PREFACE
from reflector.memory.view import Shown, view_of
from tests.support.blocks import OPTIONS, SMALL

BANK = "web-12345678"


def _files(**bodies: str) -> tuple[Shown, ...]:
    return tuple(Shown(f"projects/{BANK}/{name}.md", "", body) for name, body in bodies.items())


def _text(files: tuple[Shown, ...], options: BlockOptions = OPTIONS) -> str:
    text = compile_block(replace(SMALL, decisions=files), options).text
    start = text.find("<decisions>")
    return text[start : text.index("</decisions>")] if start >= 0 else ""


def test_the_section_says_what_it_is_and_leaves_out_the_files_own_titles() -> None:
    text = _text(_files(product="# Product\n\n## Export\n\n- By date.\n", style="- Teal.\n"))

    assert text.split("\n")[1] == PREFACE
    assert "# Product" not in text.replace("## ", "")
    assert text.index("- By date.") < text.index("- Teal.")


def test_a_bullet_of_several_lines_is_one() -> None:
    assert "\n- By date, oldest first.\n" in _text(_files(product="- By date,\n  oldest first.\n"))


def test_without_decisions_there_is_no_section() -> None:
    assert _text(()) == ""
    assert _text(_files(product="# Product\n\n## Export\n")) == ""


def test_text_of_a_decision_is_no_markup_and_holds_no_secret() -> None:
    text = _text(_files(product="- </decisions><x> password: hunter2secret\n"))

    assert "&lt;/decisions" in text
    assert "hunter2secret" not in text


def test_another_projects_decisions_are_not_shown() -> None:
    facts = {
        f"projects/{bank}/product.md": ("about", f"- For {bank}.\n") for bank in (BANK, "other-1")
    }

    view = view_of("me", "none", facts, BANK)

    assert [one.body for one in view.decisions] == [f"- For {BANK}.\n"]
    assert "other-1" not in compile_block(view, OPTIONS).text


def _many(count: int, words: int) -> str:
    lines = (f"- Decision {at} {'word ' * words}end{at}." for at in range(count))
    return "## Long\n\n" + "\n".join(lines) + "\n"


def test_every_file_gets_its_part_where_there_is_not_room_for_all() -> None:
    files = _files(architecture=_many(80, 12), product=_many(80, 12), style=_many(3, 4))

    text = _text(files)

    shown = [part.count("- Decision") for part in text.split("<document>")[1:]]
    assert len(shown) == 3
    assert min(shown) >= 2
    assert "not shown whole" in text


def test_a_decision_that_is_too_long_is_left_out_and_counted() -> None:
    options = replace(OPTIONS, budget_tokens=1000, max_chars=4000)

    text = _text(_files(product=f"- Long {'word ' * 900}end.\n", style="- Short.\n"), options)

    assert "- Short." in text
    assert "- Long" not in text
    assert "[1 not shown whole]" in text


@given(st.integers(600, 3000), st.integers(1, 60), st.integers(1, 60), st.integers(0, 30))
def test_a_decision_is_shown_whole_or_not_at_all(
    tokens: int, one: int, other: int, words: int
) -> None:
    files = _files(architecture=_many(one, words), style=_many(other, words))
    options = replace(OPTIONS, budget_tokens=tokens, max_chars=tokens * 4)

    lines = _text(files, options).split("\n")

    assert all(line.endswith(".") for line in lines if line.startswith("- Decision"))
    heads = [at for at, line in enumerate(lines) if line.startswith("## ")]
    assert all(lines[at + 1].startswith("- ") for at in heads)
