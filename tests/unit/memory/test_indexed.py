"""What of a document is searched, and for whom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.memory.indexed import Passage, indexed, passages
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


def document(body: str = "text\n", **header: str) -> bytes:
    lines = "".join(
        f"{key}: {value}\n" for key, value in {"description": "about", **header}.items()
    )
    return f"---\n{lines}---\n{body}".encode()


def test_a_body_is_cut_at_its_headings_and_not_inside_code():
    body = "intro\n\n# One\na\n```\n# no heading\n```\n## Two\nb\n"
    assert list(passages(body)) == [
        Passage("", "intro"),
        Passage("One", "a\n```\n# no heading\n```"),
        Passage("Two", "b"),
    ]
    assert list(passages("")) == [Passage("", "")]


def test_a_long_passage_ends_at_a_line():
    long = "".join(f"{number} {'word ' * 20}\n" for number in range(200))
    cut = list(passages(f"# Notes\n{long}"))
    assert 8 < len(cut) < 15
    assert {each.heading for each in cut} == {"Notes"}
    assert max(len(each.text) for each in cut) < 2300


@given(st.text("# \n`abc", max_size=200))
@settings(deadline=None)
def test_no_word_of_a_body_is_lost(body):
    cut = list(passages(body))
    kept = "".join(each.heading + each.text for each in cut)
    assert cut
    assert all(kept.count(char) >= (body.count(char) if cut else 0) for char in "abc")


@pytest.mark.parametrize(
    ("path", "header", "bank"),
    [
        ("reference/a.md", {"project": "shop-1"}, ""),
        ("system/a.md", {}, ""),
        ("projects/shop-1/style.md", {}, "shop-1"),
        ("facts/2026-05/a.md", {"project": "shop-1"}, "shop-1"),
        ("experiences/a.md", {"project": "shop-1"}, "shop-1"),
        ("experiences/a.md", {}, ""),
    ],
)
def test_what_is_of_a_project_is_bound_to_it(path, header, bank):
    found = indexed(path, document(**header))
    assert found is not None
    assert found.bank == bank


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("skills/a/scripts/run.md", document()),
        ("reference/a.txt", document()),
        ("elsewhere.md", document()),
        ("reference/a.md", b"no header"),
        ("reference/a.md", b"\xff\xfe"),
        (f"reference/{TOKEN}.md", document()),
        ("facts/a.md", document(superseded_by="facts/b.md")),
        ("facts/a.md", document(status="superseded")),
    ],
)
def test_what_nobody_is_to_find_is_not_indexed(path, raw):
    assert indexed(path, raw) is None


def test_keys_are_searched_details_and_secrets_are_not():
    body = f"It is so.\nThe token {TOKEN} works.\n\n## Details\nverbatim rows\n"
    raw = document(body, search_keys='["how is it", 7]')
    found = indexed("facts/2026-05/a.md", raw)
    assert found is not None
    assert found.keys == "how is it"
    told = str(found)
    assert "verbatim" not in told
    assert TOKEN not in told
    assert "[REDACTED:github]" in told
