"""A change of one entry keeps everything else of the file, and never makes it unreadable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError, NotFoundError, UsageError
from reflector.memory.short_memory import Entry, parse
from reflector.memory.short_memory_edit import Add, Put, Remove, edited, new_entry

FILE = "\ufeff# Memory\r\n\r\n- [a] one\r\n\r\n\ttwo  \r\n \r\n- [b] x \n- [c] y"


def done(text, change):
    return edited(text, change, "/h/MEMORY.md", "user")


def test_a_first_entry_comes_with_the_heading():
    assert done("", Add(Entry("tz", "use UTC"))) == "# Memory\n\n- [tz] use UTC\n"


def test_an_added_entry_follows_the_last_and_ends_its_lines_like_the_file():
    assert done(FILE, Add(Entry("d", "p\nq"))) == FILE + "\r\n- [d] p\r\n  q\r\n"
    assert done("- [a] x\r", Add(Entry("d", "p"))) == "- [a] x\r- [d] p\r"


@pytest.mark.parametrize("text", ["\ufeff", "\n", "# Memory", "# Memory\n", " \n\u3000"])
def test_an_entry_can_be_added_to_a_file_without_one(text):
    after = done(text, Add(Entry("d", "p")))
    assert after.startswith(text)
    assert parse(after).entries == (Entry("d", "p"),)


def test_a_change_replaces_the_whole_entry_and_nothing_else():
    changed = done(FILE, Put(Entry("a", "1\n2\n3")))
    assert changed == FILE.replace("one\r\n\r\n\ttwo  ", "1\r\n  2\r\n  3")
    assert done(FILE, Put(Entry("c", "z"))) == FILE[:-1] + "z"


def test_a_removed_entry_takes_its_continuations_and_its_line_end_along():
    assert done(FILE, Remove("a")) == "\ufeff# Memory\r\n\r\n \r\n- [b] x \n- [c] y"
    assert done(FILE, Remove("c")) == FILE.removesuffix("- [c] y")


def test_ids_differ_by_case():
    assert done("- [a] x\n- [A] y\n", Remove("A")) == "- [a] x\n"


@pytest.mark.parametrize("change", [Put(Entry("A", "x")), Remove("z"), Remove("../\x1b")])
def test_an_entry_that_is_not_there_is_named(change):
    with pytest.raises(NotFoundError, match=r"^/h/MEMORY\.md has no entry '"):
        done(FILE, change)


def test_a_second_entry_of_one_id_is_refused_and_the_way_is_named():
    with pytest.raises(UsageError, match="has an entry a already") as caught:
        done(FILE, Add(Entry("a", "x")))
    assert "set --scope user a TEXT" in caught.value.hint


@pytest.mark.parametrize("change", [Add(Entry("n", "x")), Put(Entry("a", "y")), Remove("a")])
@pytest.mark.parametrize("text", ["- [a] x\nbad\n", "- [a] x\n- [a] y\n"])
def test_a_faulty_file_is_not_edited(text, change):
    with pytest.raises(DocumentError, match="is faulty and is not edited: line 2 "):
        done(text, change)


def test_a_full_file_takes_no_more():
    twenty = "".join(f"- [k{number}] v\n" for number in range(20))
    with pytest.raises(DocumentError, match="is full: the change would make 21 entries"):
        done(twenty, Add(Entry("n", "x")))
    with pytest.raises(DocumentError, match="is full: the change would make 2001 characters"):
        done("- [a] x\n", Put(Entry("a", "y" * 2001)))


def test_a_file_does_not_grow_over_what_is_read():
    text = "\n" * 65_527
    assert len(done(text, Add(Entry("n", "xx")))) == 65_536
    with pytest.raises(DocumentError, match="would not be readable"):
        done(text, Add(Entry("n", "xxx")))


@pytest.mark.parametrize("id_", ["", "-a", "_a", "a.b", "é", "a b", "a" * 65, "a\n", "a]"])
def test_what_is_no_id_is_refused(id_):
    with pytest.raises(UsageError, match="is no id"):
        new_entry(id_, "x")


@pytest.mark.parametrize(
    "body", ["", " ", " x", "\u3000x", "x\n\ny", "x\n\u00a0\ny", "x\u2028y", "\ud800", "\nx"]
)
def test_what_would_not_parse_is_no_body(body):
    with pytest.raises(UsageError, match="cannot be the body"):
        new_entry("a", body)


def test_line_ends_and_trailing_spaces_of_a_typed_body_are_made_ours():
    assert new_entry("a", "x \r\n  y\t\rz\n") == Entry("a", "x\n  y\nz")


def test_a_body_cannot_bring_an_entry_or_a_heading_of_its_own():
    entry = new_entry("a", "x\n- [b] y\n# Memory")
    assert parse(done("", Add(entry))).entries == (entry,)


PIECES = st.sampled_from(["- [a] x", "- [b] y", "  z", "\tz ", "", " ", "# Memory"])
FILES = st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\r\n", "\r", ""])), max_size=8).map(
    lambda lines: "".join(map("".join, lines))
)
BODIES = st.lists(st.sampled_from(["p", "  q", "- [c] r", "\u0085", "</short_memory>"]), min_size=1)


@given(FILES, BODIES, st.sampled_from([Add, Put, Remove]), st.sampled_from("abn"))
def test_a_change_is_made_whole_or_refused(text, lines, kind, id_):
    body = "\n".join(["p", *lines])
    change = Remove(id_) if kind is Remove else kind(Entry(id_, body))
    before = parse(text)
    try:
        after = parse(done(text, change))
    except (DocumentError, NotFoundError, UsageError):
        return
    others = [each for each in before.entries if each.id != id_]
    assert after.faults == ()
    assert [each for each in after.entries if each.id != id_] == others
    assert {each.id: each.body for each in after.entries}.get(id_) == (
        None if kind is Remove else body
    )
