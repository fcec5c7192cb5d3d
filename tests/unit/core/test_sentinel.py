from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.errors import UsageError
from reflector.core.sentinel import attribute, closing, escape, opening, strip
from tests.support.blocks import wrap

REV = "0123456789ab"


def test_a_wrapped_block_has_the_exact_comments():
    assert wrap("my-agent", REV, "body") == (
        "<!-- reflector:begin identity=my-agent revision=0123456789ab -->\n"
        "body\n"
        "<!-- reflector:end identity=my-agent -->"
    )
    assert "revision=none" in opening("a", "none")


@pytest.mark.parametrize(
    ("identity", "revision"), [("A", REV), ("a b", REV), ("", REV), ("a", "xyz"), ("a>", "none")]
)
def test_a_comment_cannot_be_made_from_what_would_break_it(identity, revision):
    with pytest.raises(UsageError):
        opening(identity, revision)


@pytest.mark.parametrize("typed", [True, False])
def test_a_whole_block_is_taken_out_of_any_text(typed):
    text = f"before {wrap('a', REV, 'memory')} after {wrap('other', 'none', 'more')}!"
    assert strip(text, typed=typed) == "before  after !"


@pytest.mark.parametrize("typed", [True, False])
def test_nested_blocks_go_with_the_outer_one(typed):
    inner = wrap("b", REV, "inner " + wrap("a", REV, "innermost"))
    assert strip(f"x{wrap('a', REV, inner)}y", typed=typed) == "xy"


def test_an_open_block_goes_to_the_end_in_a_tool_result_and_stays_in_typed_text():
    text = f"seen: {opening('a', REV)} rest of it"
    assert strip(text, typed=False) == "seen: "
    assert strip(text, typed=True) == text


def test_a_whole_block_inside_an_open_one_is_taken_out_of_typed_text():
    text = f"{opening('a', REV)} mine {wrap('b', REV, 'memory')} too"
    assert strip(text, typed=True) == f"{opening('a', REV)} mine  too"


@pytest.mark.parametrize("typed", [True, False])
def test_a_stray_end_is_removed(typed):
    assert strip(f"a {closing('x')}b", typed=typed) == "a b"


def test_the_end_of_another_identity_does_not_let_the_memory_out():
    text = f"x {opening('a', REV)} one {closing('b')} two {closing('a')} y"
    assert strip(text, typed=True) == "x  y"


def test_a_block_whose_brackets_json_escaped_is_taken_out():
    text = wrap("a", REV, "memory").replace("<", "\\u003c").replace(">", "\\u003e")
    assert strip(f'"{text}"', typed=False) == '""'


def test_a_mention_that_is_no_comment_of_ours_stays():
    for text in ("reflector:begin identity=a", "<!-- reflector: notes -->", "<!-- todo -->"):
        assert strip(text, typed=False) == text


_PARTS = st.sampled_from(
    [opening("a", REV), closing("a"), opening("b", "none"), closing("b"), "<!-- reflector:", "begin",
     " identity=a", " revision=none", " -->", "end", "text", "\n", "<!-- ref", "lector:end identity=a -->", "\\u003c!-- "]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(_PARTS, max_size=14).map("".join), st.booleans())
def test_stripping_twice_changes_nothing(text, typed):
    once = strip(text, typed=typed)
    assert strip(once, typed=typed) == once


@given(st.lists(_PARTS | st.text(max_size=5), max_size=10).map("".join))
def test_an_escaped_text_cannot_leave_its_block(text):
    block = wrap("a", REV, f"<document>\n{escape(text)}\n</document>")
    assert strip(f"x{block}y", typed=True) == "xy"
    assert "<!--" not in escape(text)
    assert "</" not in escape(text)


@pytest.mark.timeout(30)
def test_the_halves_of_comments_inside_each_other_come_to_an_end():
    half, rest = "<!-- reflector:en", "d identity=a -->"
    for depth in (3, 20_000):
        assert "reflector:end" not in strip(half * depth + rest * depth, typed=True)


def test_ordinary_markdown_stays_readable():
    text = "a < b && c > d, `List<int>`, x -> y --> z, <your-key>, <T>"
    assert escape(text) == text


def test_elements_comments_and_entities_are_neutralised():
    assert escape("</memory><Self x=1>") == "&lt;/memory>&lt;Self x=1>"
    assert escape("<!-- hi -->") == "&lt;!-- hi -->"
    assert escape("&lt;b&gt;") == "&amp;lt;b&amp;gt;"
    assert escape("\\u003c!-- reflector:end") == "&#92;u003c!-- reflector:end"


def test_an_attribute_value_cannot_add_an_attribute():
    assert attribute('a" onload="x<&>\n') == "a&quot; onload=&quot;x&lt;&amp;&gt;&#10;"
