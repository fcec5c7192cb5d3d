from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError
from reflector.memory.document import Link, links, new, parse, protects, render

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=80)
_DESCRIPTION = _TEXT.filter(lambda text: bool(text.strip()))
_KEY = st.from_regex(r"[a-z][a-z_-]{0,12}", fullmatch=True).filter(
    lambda key: key not in ("description", "read_only")
)
_VALUE = st.recursive(
    st.booleans() | st.integers() | st.none() | _TEXT | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=6,
)
_BODY = st.text(st.characters(exclude_categories=["Cs"])).map(
    lambda text: text.replace("\r\n", "\n")
)


def _code(raw: bytes) -> tuple[object, object]:
    with pytest.raises(DocumentError) as caught:
        parse("system/a.md", raw)
    facts = caught.value.facts
    assert facts["path"] == "system/a.md"
    assert f"system/a.md:{facts['line']}: " in caught.value.message
    return facts["code"], facts["line"]


@given(_DESCRIPTION, _BODY, st.dictionaries(_KEY, _VALUE, max_size=4))
def test_what_yaml_wrote_is_read_as_yaml_reads_it_and_written_back_byte_for_byte(
    description, body, extra
):
    header = yaml.safe_dump({"description": description} | extra, allow_unicode=True)
    if "&" in header and "*" in header:  # anchors, which we refuse
        return
    raw = f"---\n{header}---\n{body}".encode()
    document = parse("a.md", raw)
    oracle = yaml.safe_load(header)
    assert {key: document.value(key) for key in document.fields} == oracle
    assert document.description == description
    assert document.body == body
    assert render(document) == raw


@given(_DESCRIPTION, _BODY, st.dictionaries(_KEY, _VALUE, max_size=4))
def test_a_new_document_says_what_it_was_given(description, body, extra):
    document = parse("a.md", render(new(description, body, **extra)))
    assert document.description == description
    assert document.body == body
    assert {key: document.value(key) for key in extra} == extra


@given(_DESCRIPTION, _DESCRIPTION, st.dictionaries(_KEY, _VALUE, max_size=4), st.booleans())
def test_another_description_changes_nothing_else(before, after, extra, flow):
    header = yaml.safe_dump(
        {"description": before} | extra, default_flow_style=flow, width=30, sort_keys=False
    )
    if "&" in header and "*" in header:
        return
    document = parse("a.md", f"---\n{header}---\nbody\n".encode()).with_description(after)
    again = parse("a.md", render(document))
    assert again.description == after
    assert again.body == "body\n"
    assert {key: again.value(key) for key in extra} == extra
    old = parse("a.md", f"---\n{header}---\n".encode()).fields
    assert {key: again.fields[key].source for key in extra} == {
        key: old[key].source for key in extra
    }


@given(
    st.binary(max_size=200) | st.binary(max_size=200).map(lambda raw: b"---\n" + raw + b"\n---\n")
)
def test_arbitrary_bytes_are_read_or_refused_with_a_reason(raw):
    protects(raw)
    try:
        document = parse("a.md", raw)
    except DocumentError as error:
        assert error.facts["code"]
    else:
        assert parse("a.md", render(document)) == document


@given(st.text("-[]{}?:,&*!|>'\"%@`# \n\tab1", max_size=60))
def test_no_header_of_yaml_signs_crashes_the_reader(header):
    try:
        parse("a.md", f"---\n{header}\n---\n".encode())
    except DocumentError as error:
        assert error.facts["code"]


@pytest.mark.parametrize("nest", ["[", "- ", "? ", "{a: "])
def test_a_deeply_nested_header_is_refused(nest):
    code, _ = _code(f"---\na:\n  {nest * 50_000}\n---\n".encode())
    assert code in ("header_not_yaml", "header_not_plain", "header_key")


@pytest.mark.parametrize(
    ("raw", "code", "line"),
    [
        (b"", "header_missing", 1),
        (b"just text\n", "header_missing", 1),
        (b"---\ndescription: x\n", "header_unclosed", 1),
        (b"---\n---\n", "description_missing", 1),
        (b"---\nname: x\n---\n", "description_missing", 1),
        (b"---\nname: y\ndescription: Plan: phase 2\n---\n", "header_not_yaml", 3),
        (b"---\n- x\n---\n", "header_not_mapping", 2),
        (b"---\ndescription: x\n[a]: b\n---\n", "header_key", 3),
        (b"---\ndescription: x\ndescription: y\n---\n", "header_duplicate_key", 3),
        (b"---\ndescription: x\na: {b: 1, b: 2}\n---\n", "header_duplicate_key", 3),
        (b"---\ndescription: &a x\n---\n", "header_not_plain", 2),
        (b"---\ndescription: !!str x\n---\n", "header_not_plain", 2),
        (b"---\ndescription: x\nwhen: 2026-02-31\n---\n", "header_value", 3),
        (b"---\ndescription:\n---\n", "description_empty", 2),
        (b"---\ndescription: '  '\n---\n", "description_empty", 2),
        (b"---\ndescription: 2026-02-01\n---\n", "description_not_text", 2),
        (b"---\ndescription: true\n---\n", "description_not_text", 2),
        (b"---\ndescription: 7\n---\n", "description_not_text", 2),
        (b"---\ndescription: [a]\n---\n", "description_not_text", 2),
        (b'---\ndescription: "a\\nb"\n---\n', "description_lines", 2),
        (b"---\ndescription: |\n  a\n  b\n---\n", "description_lines", 2),
        (b"---\ndescription: " + b"x" * 1025 + b"\n---\n", "description_too_long", 2),
        (b"---\ndescription: x\nread_only: perhaps\n---\n", "read_only_value", 3),
        ("---\ndescription: grün\n---\n".encode("latin-1"), "not_utf8", 2),
        ("---\ndescription: x\n---\n".encode("utf-16"), "not_utf8", 1),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_reason(raw, code, line):
    assert _code(raw) == (code, line)


def test_a_description_of_exactly_the_limit_is_taken():
    assert len(parse("a.md", b"---\ndescription: " + b"x" * 1024 + b"\n---\n").description) == 1024


def test_the_encoding_that_was_found_is_named():
    with pytest.raises(DocumentError, match="UTF-16"):
        parse("a.md", "---\ndescription: x\n---\n".encode("utf-16"))


def test_carriage_returns_are_read_and_line_feeds_are_written():
    document = parse("a.md", b"---\r\ndescription: x\r\nother:  [1]\r\n---\r\nbody\r\n")
    assert render(document) == b"---\ndescription: x\nother:  [1]\n---\nbody\n"


def test_unknown_keys_survive_another_description_byte_for_byte():
    raw = b"---\n# mine\nodd :   'q'   # why\ndescription: >-\n  one\n  two\n\nlast: 0x1F\n---\n\nbody\n"
    document = parse("a.md", raw).with_description("Plan: phase 2 # all").with_body("\nnew\n")
    assert render(document) == (
        b"---\n# mine\nodd :   'q'   # why\ndescription: 'Plan: phase 2 # all'\n\nlast: 0x1F\n---\n\nnew\n"
    )


def test_a_header_of_one_flow_mapping_takes_a_description_with_commas():
    document = parse("a.md", b"---\n{description: x, a: b}\n---\n").with_description("one, two]")
    assert parse("a.md", render(document)).description == "one, two]"
    assert document.value("a") == "b"


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 1025, "a\u2028b"])
def test_an_impossible_description_is_refused_when_it_is_written(text):
    with pytest.raises(DocumentError):
        parse("a.md", b"---\ndescription: x\n---\n").with_description(text)
    with pytest.raises(DocumentError):
        new(text, "")


def test_lone_surrogates_are_refused_when_they_are_written():
    with pytest.raises(DocumentError):
        render(new("x", "\ud800"))
    with pytest.raises(DocumentError):
        new("\ud800", "")


def test_a_body_set_on_a_file_that_ends_at_its_header_starts_on_a_line_of_its_own():
    document = parse("a.md", b"---\ndescription: x\n---").with_body("text\n")
    assert render(document) == b"---\ndescription: x\n---\ntext\n"


@pytest.mark.parametrize("value", ['"true"', "'True'", "true", "yes"])
def test_every_way_to_say_read_only_protects(value):
    assert parse("a.md", f"---\ndescription: x\nread_only: {value}\n---\n".encode()).read_only


def test_a_header_that_cannot_be_read_still_protects_when_it_says_so():
    assert protects(b'---\ndescription: a: b\nread_only: "true"\n---\nbody\n')
    assert not protects(b"---\ndescription: a: b\n---\nread_only: true\n")
    assert not protects(b'---\ndescription: x\nread_only: "false"\n---\n')


def test_links_are_found_outside_code():
    body = (
        "see [[reference/a.md]] and [[b.md|the b]]\n"
        "`[[no.md]]` ``a ` [[no.md]]`` [[c.md#part]]\n"
        "```\n[[no.md]]\n~~~\n```\n"
        "~~~ text\n[[no.md]]\n~~~\n"
        "a span `over\n[[no.md]] lines` [[d.md]]\n"
        "\n`alone [[e.md]]\n\n[[ ]] [[|x]]\n"
    )
    assert links(body) == (
        Link("reference/a.md", 1),
        Link("b.md", 1),
        Link("c.md", 2),
        Link("d.md", 11),
        Link("e.md", 13),
    )


def test_an_unclosed_fence_runs_to_the_end():
    assert links("````\n```\n[[a.md]]\n") == ()
