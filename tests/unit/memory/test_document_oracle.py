"""What a header means is what YAML says it means, and nothing of a file is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflector.core.errors import DocumentError
from reflector.memory.document import Document, parse, render

_SIGNS = st.text("-[]{}?:,&*!|>'\"%@`#=<~ \n\tab1.é\u2028", max_size=40)
_LINE = st.one_of(
    _SIGNS,
    st.sampled_from(
        [
            *("a: b", "a: 'it''s'", 'a: "\\u00e9\\n"', "a: >-\n  b\n  c", "a: |\n  b", "a: [b, c]"),
            *("a: {b: c}", "a: 1_000", "a: 0x1F", "a: 1e3", "a: .inf", "a: ~", "a: 2026-11-30"),
            *("a: 2026-11-30T12:00:00Z", "a: 1:30", "a: on", "a: No", "a: =", "a: <<", "? a", "a:"),
            *("<<: {b: c}", "=: x", "'<<': x", "1: x", "true: x", "~: x", "a : b", "# a", "..."),
            *(
                "a: &x b",
                "a: *x",
                "a: !!str b",
                "a: ! b",
                "%YAML 1.1",
                "--- a",
                "a: b: c",
                "\ta: b",
            ),
        ]
    ),
)
_HEADER = st.lists(_LINE, max_size=4).map("\n".join)


def _document(raw: bytes) -> Document | None:
    try:
        return parse("a.md", raw)
    except DocumentError:
        return None


def _same(ours: Any, theirs: Any) -> bool:
    """Compare as YAML writes it, since what is no number equals nothing."""
    return type(ours) is type(theirs) and (ours == theirs or repr(ours) == repr(theirs))


@settings(deadline=None)
@given(_HEADER)
@example("<<: {b: c}")
@example("a: <<")
@example("a: =")
@example("1: x")
def test_a_header_that_is_taken_means_what_yaml_says(header):
    raw = f"---\ndescription: x\n{header}\n---\n".encode()
    document = _document(raw)
    if document is None:
        return
    # What closes the header is its first `---` line, wherever the generator put it.
    try:
        theirs = yaml.safe_load(document.header.removeprefix("---").rsplit("---", 1)[0])
    except yaml.constructor.ConstructorError:  # types of YAML 1.1 for which nobody has a value
        assert "=" in header or "<<" in header
        return
    except yaml.scanner.ScannerError:  # the oracle, which is no C program, takes fewer tabs
        assert "\t" in header
        return
    ours = {key: one.value for key, one in document.fields.items()}
    texts = {key: value for key, value in theirs.items() if isinstance(key, str)}
    assert texts.keys() <= ours.keys()  # a key `1` or `yes` is the text that stands there
    for key, value in texts.items():
        assert _same(ours[key], value)


@settings(deadline=None)
@given(st.binary(max_size=80), st.binary(max_size=40), st.sampled_from([b"\n", b"\r\n"]))
def test_whatever_is_taken_comes_back_byte_for_byte_with_line_feeds(header, body, end):
    for raw in (
        b"---" + end + b"description: x" + end + header + end + b"---" + end + body,
        b"\xef\xbb\xbf---" + end + b"description: x" + end + b"---" + end + body,
    ):
        document = _document(raw)
        if document is not None:
            assert render(document) == raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


@settings(deadline=None)
@given(_HEADER, st.text("-ab \r\n\t\0`[]#é字\u2028\U0001f600", max_size=40))
def test_another_body_leaves_the_header_byte_for_byte(header, body):
    raw = f"---\ndescription: x\n{header}\n---\nold\n".encode()
    document = _document(raw)
    if document is not None:
        written = render(document.with_body(body)).decode()
        assert written == document.header + body.replace("\r\n", "\n")


@settings(deadline=None)
@given(_HEADER, st.sampled_from(["new", "a: b", "it's", "#x", "- x", "[x", "x\\", "yes", "1", "é"]))
def test_another_description_changes_the_description_alone(header, text):
    raw = f"---\n{header}\ndescription: old\nlast:  'x'\n---\nbody\n".encode()
    document = _document(raw)
    if document is None:
        return
    written = document.with_description(text)
    again = parse("a.md", render(written))
    assert again.description == text
    assert again.body == document.body
    others = [key for key in document.fields if key != "description"]
    assert [again.fields[key].source for key in others] == [
        document.fields[key].source for key in others
    ]


@pytest.mark.parametrize("header", ["<<: {b: c}", "'<<': x"])
def test_a_key_that_would_merge_another_mapping_is_not_taken_for_a_plain_one(header):
    document = _document(f"---\ndescription: x\n{header}\n---\n".encode())
    assert (document is None) == header.startswith("<<")
