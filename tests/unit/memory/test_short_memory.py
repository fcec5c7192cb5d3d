"""A MEMORY.md is read exactly: every golden case, every white space, every limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reflector.memory.short_memory import (
    MOST_CHARACTERS,
    MOST_ENTRIES,
    SPACE,
    BadLine,
    DuplicateId,
    Entry,
    TooManyCharacters,
    TooManyEntries,
    diagnostics,
    parse,
    render,
    sentence,
)

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "short-memory.jsonl"
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "golden" / "short-memory.jsonl"
CASES = [json.loads(line) for line in FIXTURE.read_text("utf-8").splitlines()]

# What files are made of, and what other readers take for white space or line ends.
PIECES = st.sampled_from(
    [
        *("- [", "] ", "a", "B-9", "# Memory", "\n", "\r\n", "\r", "  ", "\t", " ", "x", "<", "</"),
        *(
            "\u2028",
            "\u2029",
            "\u0085",
            "\v",
            "\f",
            "\x1c",
            "\u180e",
            "\ufeff",
            "\u3000",
            "\0",
            "é",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\u2028\u2029"))
FULL_LINE = LINE.map(lambda line: line.rstrip(SPACE)).filter(lambda line: line)
FIRST_LINE = FULL_LINE.map(lambda line: line.strip(SPACE)).filter(lambda line: line)
BODY = st.tuples(FIRST_LINE, st.lists(FULL_LINE, max_size=3)).map(
    lambda both: "\n".join([both[0], *both[1]])
)
ID = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)
ENTRIES = st.dictionaries(ID, BODY, max_size=20).map(
    lambda found: [Entry(id_, body) for id_, body in found.items()]
)


def as_golden(text: str) -> dict[str, object]:
    found = parse(text)
    return {
        "characters": found.characters,
        "diagnostics": diagnostics(found.faults),
        "entries": [{"body": each.body, "id": each.id} for each in found.entries],
        "injected": found.injected,
    }


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_golden_case_is_read_as_written(case):
    assert {"case": case["case"], "text": case["text"]} | as_golden(case["text"]) == case


def test_the_golden_cases_are_those_that_everybody_shares():
    if not SHARED.exists():
        pytest.skip("the shared data is not here")
    assert FIXTURE.read_bytes() == SHARED.read_bytes()


@pytest.mark.parametrize("char", SPACE.replace("\n", "").replace("\r", ""))
def test_white_space_of_ecmascript_makes_a_blank_line_and_starts_no_body(char):
    assert parse(f"{char}\n- [a] x").faults == ()
    assert parse(f"- [a] {char}x").faults == (BadLine(1),)


@pytest.mark.parametrize("char", "\x1c\x1d\x1e\x1f\u0085\u180e\u200b\u2060\0")
def test_what_only_other_readers_take_for_white_space_is_text(char):
    assert parse(f"- [a] {char}x{char}").entries == (Entry("a", f"{char}x{char}"),)
    assert parse(f"- [a] x\n{char}").faults == (BadLine(2),)


@pytest.mark.parametrize("char", "\u2028\u2029")
@pytest.mark.parametrize("text", ["- [a] x{}", "- [a] x{}y", "- [a] {}"])
def test_a_line_separator_is_in_no_body_not_even_at_its_end(text, char):
    assert parse(text.format(char)).faults == (BadLine(1),)
    assert parse(f"- [a] x\n  y{char}").faults == (BadLine(2),)


@pytest.mark.parametrize("char", SPACE.translate(dict.fromkeys(map(ord, "\n\r\u2028\u2029"))))
def test_a_body_is_trimmed_at_its_end_only(char):
    assert parse(f"- [a] x{char}\n  {char}y{char}").entries == (Entry("a", f"x\n{char}y"),)


@pytest.mark.parametrize("char", "\v\f\u0085\x1c\x1d\x1e")
def test_only_cr_and_lf_end_a_line(char):
    assert len(parse(f"- [a] x{char}- [b] y").entries) == 1
    assert parse(f"- [a] x{char}y\nbad").faults == (BadLine(2),)


def test_lines_are_counted_alike_for_all_line_ends():
    assert parse("\r\n\r\n\n\rbad").faults == (BadLine(5),)


def test_a_bad_line_closes_the_entry_before_it():
    assert parse("- [a] x\nbad\n  more").faults == (BadLine(2), BadLine(3))


def test_a_second_heading_is_a_fault():
    assert parse("# Memory\n# Memory\n- [a] x").faults == (BadLine(2),)


def test_a_heading_after_a_fault_is_still_before_the_first_entry():
    assert parse("bad\n# Memory\n- [a] x").faults == (BadLine(1),)


def test_the_continuation_of_a_repeated_id_belongs_to_the_second_entry():
    found = parse("- [a] x\n- [a] y\n  z")
    assert found.faults == (DuplicateId(2, "a"),)
    assert found.entries == (Entry("a", "x"), Entry("a", "y\nz"))


@pytest.mark.parametrize("length", [1, 64])
def test_an_id_has_at_most_64_characters(length):
    assert parse(f"- [{'a' * length}] x").faults == ()
    assert parse(f"- [{'a' * (64 + length)}] x").faults == (BadLine(1),)


def test_digits_and_letters_of_other_alphabets_are_in_no_id():
    for char in "éßı٣²𝐚":
        assert parse(f"- [a{char}] x").faults == (BadLine(1),)


def test_twenty_entries_are_allowed_and_one_more_is_not():
    text = "\n".join(f"- [k{number}] v" for number in range(MOST_ENTRIES))
    assert parse(text).faults == ()
    assert parse(f"{text}\n- [more] v").faults == (TooManyEntries(21),)


@pytest.mark.parametrize("char", ["x", "é", "🐟"])
def test_code_points_are_counted_and_newlines_that_join_are_too(char):
    lines = f"- [a] {char * 999}\n  {char * 999}"
    assert parse(f"{lines}\n- [b] x").faults == ()
    assert parse(f"{lines}\n- [b] xx").faults == (TooManyCharacters(MOST_CHARACTERS + 1),)


def test_each_limit_is_one_fault_and_the_rest_is_still_told():
    text = "\n".join(f"- [k{number}] {'v' * 100}" for number in range(21))
    found = parse(text)
    assert found.faults == (TooManyEntries(21), TooManyCharacters(2100))
    assert [each["code"] for each in diagnostics(found.faults)] == [
        *("too_many_entries", "too_many_characters", "not_injected")
    ]
    assert (len(found.entries), found.injected) == (21, "")


@given(TEXTS)
@example("\ufeff")
@example("- [a] x\r")
def test_no_text_is_too_odd_to_be_read(text):
    found = parse(text)
    assert [text[start:end][:3] for start, end in found.spans] == ["- ["] * len(found.entries)
    assert all(sentence(fault) for fault in found.faults)
    again = parse(found.injected)
    assert found.faults or (again.entries, again.faults) == (found.entries, ())


@given(st.text())
def test_any_text_at_all_is_read(text):
    parse(text)


@given(ENTRIES)
def test_what_is_rendered_is_read_back_as_the_same_entries(entries):
    found = parse(render(entries))
    assert found.entries == tuple(entries)
    assert [fault for fault in found.faults if not isinstance(fault, TooManyCharacters)] == []


def test_a_message_repeats_no_word_of_a_bad_line():
    (fault,) = parse("root:x:0:0").faults
    assert "root" not in sentence(fault)
