"""A cut takes the oldest rows that fit, whole message groups, and skips nothing."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from reflector.core.snapshot import Cut, Row, Snapshot, cut

_KIND = st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 60), st.integers(1, 3))


@st.composite
def waiting(draw: st.DrawFn) -> list[Row]:
    """Rows behind a cursor, their message groups interleaved, with gaps where rows are hidden."""
    parts = draw(st.lists(_KIND, max_size=14))
    sequences = list(accumulate((gap for *_, gap in parts), initial=draw(st.integers(0, 50))))[1:]
    ends = {message: at for (message, *_), at in zip(parts, sequences, strict=True)}
    return [
        Row(at, f"{message}:{at}", ends[message], canonical, size)
        for (message, canonical, size, _), at in zip(parts, sequences, strict=True)
    ]


def _message(row: Row) -> str:
    return row.entry.split(":")[0]


def _ends(rows: list[Row]) -> list[int]:
    """How many rows a cut may have: no message on both sides, something said in it."""
    return [
        count
        for count in range(1, len(rows) + 1)
        if any(row.canonical for row in rows[:count])
        and not {*map(_message, rows[:count])} & {*map(_message, rows[count:])}
    ]


def _size(rows: list[Row]) -> int:
    return sum(row.size for row in rows)


@given(waiting(), st.integers(1, 300))
def test_a_cut_is_the_longest_whole_one_that_fits_or_the_shortest_alone(rows, budget):
    ends = _ends(rows)
    fitting = [count for count in ends if _size(rows[:count]) <= budget]
    taken = cut(rows, budget)
    if not ends:
        assert taken is None
        return
    count = max(fitting) if fitting else min(ends)
    assert taken == Cut(rows[0], rows[count - 1], count, _size(rows[:count]))


@given(waiting(), st.integers(1, 300))
def test_without_a_canonical_row_there_is_no_cut_and_with_one_there_is(rows, budget):
    assert (cut(rows, budget) is None) == (not any(row.canonical for row in rows))


@given(waiting(), st.integers(1, 300))
def test_a_cut_starts_right_behind_the_cursor_and_parts_no_message(rows, budget):
    taken = cut(rows, budget)
    if taken is None:
        return
    assert taken.first == rows[0]
    inside = {_message(row) for row in rows if row.sequence <= taken.last.sequence}
    behind = {_message(row) for row in rows if row.sequence > taken.last.sequence}
    assert not inside & behind


@given(waiting())
def test_what_fits_as_a_whole_is_taken_as_a_whole_with_its_trailing_rows(rows):
    taken = cut(rows, _size(rows))
    if taken is not None:
        assert (taken.last, taken.entries, taken.size) == (rows[-1], len(rows), _size(rows))


@given(waiting(), st.integers(1, 300))
def test_cutting_again_and_again_reads_every_row_once_up_to_a_rest_without_a_word(rows, budget):
    read: list[Row] = []
    while (taken := cut(rows[len(read) :], budget)) is not None:
        read += [row for row in rows if taken.first.sequence <= row.sequence <= taken.last.sequence]
    assert read == rows[: len(read)]
    assert not any(row.canonical for row in rows[len(read) :])


def test_the_public_form_names_ids_sizes_and_what_is_left():
    taken = Snapshot("claude-code/s", 3, 9, "a:1:0", "a:9:0", 7, 4096, 2, "advance")
    assert taken.as_json() == {
        "conversation": "claude-code/s",
        "from": "a:1:0",
        "to": "a:9:0",
        "entries": 7,
        "bytes": 4096,
        "backlog_remaining": 2,
    }
