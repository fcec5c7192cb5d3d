"""What the tools answer is bounded, and says how to read on."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.surface.api.values import Document, Written
from reflector.surface.mcp import answers
from reflector.surface.mcp.words import MOST_CHARACTERS, MOST_DOCUMENTS


def document(number: int) -> Document:
    return Document(f"reference/{number:04}.md", "d", 1, 1, read_only=False, in_context=False)


def test_a_long_list_is_shown_page_by_page():
    every = [document(number) for number in range(MOST_DOCUMENTS * 2 + 1)]
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = answers.listing(every, after)
        assert len(page.documents) <= MOST_DOCUMENTS
        seen += [each.path for each in page.documents]
        after = page.next
    assert seen == [each.path for each in every]


def test_long_descriptions_make_shorter_pages():
    every = [replace(document(number), description="d" * 900) for number in range(60)]
    page = answers.listing(every, "")
    assert sum(len(each.description) for each in page.documents) <= MOST_CHARACTERS
    assert page.next == page.documents[-1].path
    huge = [replace(document(1), description="d" * 90_000)]
    assert len(answers.listing(huge, "").documents[0].description) < 1100


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(alphabet="ab ", max_size=30), min_size=1, max_size=30), st.integers(1, 3))
def test_all_lines_of_a_document_are_read_in_pages(lines, factor):
    whole = "\n".join(line * factor * 500 for line in lines) + "\n"
    shown: list[str] = []
    at: int | None = 1
    while at is not None:
        page = answers.text("p", whole, at)
        assert len(page.text) <= MOST_CHARACTERS + 60
        assert page.from_line == len(shown) + 1
        shown += page.text.split("\n")
        assert page.to_line == len(shown)
        at = page.next_line
    assert [len(line) for line in shown if "left out" not in line] == [
        len(line) for line in whole[:-1].split("\n") if len(line) <= MOST_CHARACTERS
    ]


def test_a_huge_line_is_cut_and_says_so():
    page = answers.text("p", "x" * (MOST_CHARACTERS + 5) + "\ny\n", 1)
    assert page.text.endswith("… [5 characters left out]")
    assert page.next_line == 2


def test_a_change_of_many_paths_names_the_first_and_counts_the_rest():
    done = answers.change(Written("c", tuple(f"{n}.md" for n in range(120)), ("w" * 5000,)))
    assert (len(done.paths), done.more_paths) == (50, 70)
    assert len(done.warnings[0]) < 1100
