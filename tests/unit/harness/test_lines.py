from __future__ import annotations

import io
import json

import pytest

from reflector.harness import lines as subject
from reflector.harness.lines import Bad, Row, read_rows


def values(data, start=0):
    return [item.value for item in read_rows(io.BytesIO(data), start) if isinstance(item, Row)]


def bad(data):
    return [item for item in read_rows(io.BytesIO(data), 0) if isinstance(item, Bad)]


def test_objects_glued_on_one_line_are_separated():
    assert values(b'{"a":1}{"b":{}} {"c":"}{"}\n{"d":4}\n') == [
        {"a": 1},
        {"b": {}},
        {"c": "}{"},
        {"d": 4},
    ]


def test_every_piece_says_where_it_lies():
    data = '\ufeff{"ä":"€"}{"b":2}\r\n{"c":3}'.encode()
    for row in read_rows(io.BytesIO(data), 0):
        assert isinstance(row, Row)
        assert json.loads(data[row.start : row.end]) == row.value
        assert json.loads(row.raw) == row.value


def test_a_byte_order_mark_is_no_part_of_the_first_object():
    assert values(b'\xef\xbb\xbf{"a":1}\n{"b":2}\n') == [{"a": 1}, {"b": 2}]


def test_carriage_returns_before_the_line_feed_are_tolerated():
    assert values(b'{"a":1}\r\n\r\n{"b":2}\r\n') == [{"a": 1}, {"b": 2}]
    assert not bad(b'{"a":1}\r\n\r\n{"b":2}\r\n')


def test_only_a_line_feed_ends_a_line():
    text = "a\u2028b\u2029c\u0085d"
    assert values(f'{{"t":"{text}"}}\n'.encode()) == [{"t": text}]


def test_a_bad_line_in_the_middle_is_passed_and_the_rest_is_read():
    data = b'{"a":1}\n{"b":\n{"c":3}\n'
    assert values(data) == [{"a": 1}, {"c": 3}]
    assert bad(data) == [Bad(8, 14)]


def test_an_unterminated_last_line_is_taken_when_it_is_whole():
    assert values(b'{"a":1}\n{"b":2}') == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("tail", [b'{"b":2', b'{"b":"\xe4\xb8', b"12", b"nul"])
def test_a_torn_last_line_is_left_without_a_word(tail):
    assert values(b'{"a":1}\n' + tail) == [{"a": 1}]
    assert not bad(b'{"a":1}\n' + tail)


def test_a_whole_object_before_a_torn_one_on_the_last_line_is_taken():
    (first,) = read_rows(io.BytesIO(b'{"a":1}{"b":"\xe4\xb8'), 0)
    assert first == Row(0, 7, {"a": 1}, b'{"a":1}')


def test_a_line_that_is_no_utf8_is_bad_but_what_stands_before_is_kept():
    data = b'{"a":1}{"b":"\xff"}\n{"c":3}\n'
    assert values(data) == [{"a": 1}, {"c": 3}]
    assert bad(data) == [Bad(7, 17)]


@pytest.mark.parametrize("line", [b"[1]", b"12", b'"text"', b"null", b"[" * 100_000])
def test_a_line_that_is_no_object_is_bad(line):
    assert values(line + b'\n{"a":1}\n') == [{"a": 1}]
    assert len(bad(line + b'\n{"a":1}\n')) == 1


def test_an_escaped_lone_surrogate_passes():
    assert values(b'{"t":"\\ud83d"}\n') == [{"t": "\ud83d"}]


def test_a_line_beyond_all_measure_is_bad_and_is_never_held_whole(monkeypatch):
    monkeypatch.setattr(subject, "LONGEST", 16)
    data = b'{"a":"' + b"x" * 50 + b'"}\n{"b":2}\n'
    assert values(data) == [{"b": 2}]
    assert bad(data) == [Bad(0, 59)]
    assert values(data[:40]) == []
    assert not bad(data[:40])


def test_reading_begins_at_any_object():
    assert values(b'{"a":1}{"b":2}\n{"c":3}\n', 7) == [{"b": 2}, {"c": 3}]


@pytest.mark.parametrize("depth", [150, 400, 10_000])
def test_an_object_that_is_nested_too_deep_is_bad_and_ends_nothing(depth):
    deep = b'{"role":"user","content":' + b"[" * depth + b"]" * depth + b"}\n"
    data = b'{"a":1}\n' + deep + b'{"b":2}\n'
    assert values(data) == [{"a": 1}, {"b": 2}]
    assert bad(data) == [Bad(8, 8 + len(deep))]


def test_an_object_of_many_brackets_is_not_deep():
    wide = {"content": [{"text": "[{" * 500} for _ in range(300)]}
    assert values(json.dumps(wide).encode() + b"\n") == [wide]


def test_the_deepest_object_that_is_read_is_read_glued_to_another_as_well():
    most = subject.DEEPEST - 1  # the object is a level of its own, and what holds nothing is none
    for depth, read_to in ((most, 2), (most + 1, 1)):
        deep = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        assert len(values(b'{"b":1}' + deep + b"\n")) == read_to
