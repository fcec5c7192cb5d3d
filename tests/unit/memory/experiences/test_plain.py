"""A header as we write it is read without YAML, and never differently from how YAML reads it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError
from reflector.memory.document import parse as parse_by_yaml
from reflector.memory.experiences import plain
from reflector.memory.experiences.form import parse, render
from tests.support.stored import stored

KNOWN = frozenset(
    {"description", "subject", "status", "confidence", "verified", "created", "files", "evidence"}
)
WRITTEN = KNOWN | {"project", "branch", "updated", "boundary_envs", "search_keys", "source"}
ITEM = stored(
    0x11,
    title="Wie man die Sicherung prüft: 备份，检查 (twice)",
    evidence=("claude-code:4f1d:0", "claude-code:4f1d:12"),
    boundary_envs="os: linux\npython: 3.11",
    files=("/etc/fstab", "a/b.py"),
    branch="feature/x-1",
    confidence=0.85,
)
SIGNS = "abyn -:#'\"?!&*|>{}[]%@`,\\/~=.0159_\t\x85\u2028\u2029\ufeff\u00a0备，é\x7f"
WORDS = "no yes null True 0x1f 1.5 1e3 2026-01-01 1:30 .inf << ---"
PIECES = st.sampled_from([*SIGNS, ": ", " #", *WORDS.split()])
SCALARS = st.lists(PIECES, max_size=6).map("".join)


def by_yaml(raw: bytes) -> tuple[dict[str, object], str] | None:
    try:
        document = parse_by_yaml("", raw)
    except DocumentError:
        return None
    return {key: one.value for key, one in document.fields.items()}, document.body


def test_what_is_written_is_read_without_yaml():
    found = plain.read(render(ITEM), WRITTEN)
    assert found is not None
    assert found == by_yaml(render(ITEM))
    assert parse(ITEM.path, render(ITEM)) == ITEM


@given(SCALARS, SCALARS, st.sampled_from(["{}", "'{}'", '"{}"']), st.booleans())
def test_what_is_read_without_yaml_yaml_reads_alike(one, two, quotes, listed):
    key = f"files:\n- {quotes.format(two)}" if listed else f"subject: {quotes.format(two)}"
    raw = f"---\ndescription: {one}\n{key}\nverified: true\n---\nbody\n".encode()
    found = plain.read(raw, KNOWN)
    assert found is None or found == by_yaml(raw)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=20))
def test_any_text_comes_back_whichever_way_it_is_read(title, body, file):
    item = replace(stored(0x12, "fact"), title=title, body=f"x{body}", files=(file,))
    raw = render(item)
    found = plain.read(raw, WRITTEN)
    assert found is None or found == by_yaml(raw)


@pytest.mark.parametrize(
    "header",
    [
        "description: a\nread_only: true",
        "description: a\ndescription: b",
        "description: a\nfiles:",
        "description: a\nfiles: []",
        "description: a\nfiles:\n  - x",
        "description: a\nfiles:\n- 1",
        "description: a\nfiles:\n- true",
        "description: ' '",
        f"description: {'a' * 1025}",
        "description: a # b",
        "description: a: b",
        "description: Yes",
        "description: a\nverified: &x true",
        "subject: a",
        "",
    ],
)
def test_what_is_not_plain_is_left_to_yaml(header):
    assert plain.read(f"---\n{header}\n---\nbody\n".encode(), KNOWN) is None


@pytest.mark.parametrize("raw", [b"", b"---\n", b"---\n---\n", b"\xff", b"x", b"\xef\xbb\xbf---\n"])
def test_what_is_no_document_is_left_to_yaml(raw):
    assert plain.read(raw, KNOWN) is None


def test_a_fault_is_told_with_its_line():
    raw = render(ITEM).replace(b"status: active", b"status: lost")
    with pytest.raises(DocumentError) as refused:
        parse(ITEM.path, raw)
    assert refused.value.facts["line"] == raw.decode().split("\n").index("status: lost") + 1
    assert re.search("neither 'active' nor", str(refused.value))
