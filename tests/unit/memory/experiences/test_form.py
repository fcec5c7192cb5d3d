"""An experience or a fact as a document: nothing is lost, and what is none is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError
from reflector.memory import document
from reflector.memory.experiences.form import Stored, id_of, parse, path_for, render
from reflector.memory.rules import Scope, check
from reflector.memory.tree import Tree, parse_path
from tests.support.stored import BANK, NOON, stored

FULL = replace(
    stored(1, "fact", title="nightly backup"),
    body="It runs at 2.\n\nsize: 4 GB",
    updated="2026-12-01T08:00:00.000Z",
    branch="feature/x: y",
    confidence=0.9,
    verified=False,
    status="superseded",
    supersedes=("00000009", "12345678"),
    superseded_by="00000002",
    boundary_envs="node: 20\nPATH: /usr/bin",
    search_keys=("when is the backup", '"quoted": key'),
    evidence=("claude-code:s1:4", "codex:s2:0"),
    files=("src/a b.py", "/etc/cron.d/backup"),
    source="manual",
    details="  row 1 | a\nrow 2 | b",
)


def test_every_key_comes_back_as_it_was_written():
    assert parse(FULL.path, render(FULL)) == FULL
    assert document.parse(FULL.path, render(FULL)).description == (
        "nightly backup: It runs at 2. size: 4 GB"
    )


_TEXT = st.text(max_size=60)
_LINE = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=20)


@given(
    st.builds(
        stored,
        st.integers(0, 2**32 - 1),
        st.sampled_from(["experience", "fact"]),
        title=st.text(min_size=1, max_size=40),
        details=_TEXT,
        boundary_envs=_TEXT,
        branch=_LINE,
        search_keys=st.lists(_TEXT, max_size=3).map(tuple),
        files=st.lists(_TEXT, max_size=3).map(tuple),
        confidence=st.floats(0, 1),
        verified=st.booleans(),
    ),
    st.text(min_size=1),
)
def test_whatever_is_written_reads_back_and_breaks_no_rule_of_form(one: Stored, body: str):
    one = replace(one, body=f"{body}.", title=f"{one.title}.")
    once = render(one)
    read = parse(parse_path(one.path), once)
    assert parse(one.path, render(read)) == read
    assert (read.id, read.verified, read.confidence) == (one.id, one.verified, one.confidence)
    found = check(None, Tree.of({one.path: once}), Scope("experiences"))
    assert {each.code for each in found if each.severity == "error"} <= {"secret"}


def test_what_no_document_may_hold_is_written_so_that_it_may():
    bad = "$AGENT_ID and ${AGENT_ID}\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\r\nend\rof\0it"
    one = replace(
        FULL,
        title=bad,
        body=bad,
        details=bad,
        search_keys=(bad,),
        files=(bad,),
        branch=bad,
        boundary_envs=bad,
        supersedes=(),
        superseded_by="",
        status="active",
    )
    for item in (one, replace(stored(2), title="\u200b", body=bad)):
        assert check(None, Tree.of({item.path: render(item)}), Scope("experiences")) == ()
        assert parse(item.path, render(item)).body.startswith("AGENT_ID and {AGENT_ID}")


def test_details_begin_at_the_hosts_heading_alone():
    one = replace(FULL, body="It runs.\n## Details\nno rows", details="## Details\nrows")
    read = parse(one.path, render(one))
    assert read.body == "It runs.\n### Details\nno rows"
    assert read.details == "## Details\nrows"
    assert parse(one.path, render(read)) == read
    task = replace(stored(1), body="Do it.\n## Details\nof it")
    assert parse(task.path, render(task)).body == "Do it.\n## Details\nof it"


@pytest.mark.parametrize(
    ("layer", "title", "path"),
    [
        ("experience", "Tail a *rotated* log!", "experiences/tail-a-rotated-log-0a1b2c3d.md"),
        ("experience", "日志 nginx 轮转", "experiences/nginx-0a1b2c3d.md"),
        ("experience", "日志轮转", "experiences/0a1b2c3d.md"),
        ("fact", "../../etc/passwd", "facts/2026-11/etc-passwd-0a1b2c3d.md"),
        ("fact", "", "facts/2026-11/0a1b2c3d.md"),
        ("fact", "x" * 300, f"facts/2026-11/{'x' * 48}-0a1b2c3d.md"),
    ],
)
def test_a_name_is_readable_where_it_can_be_and_always_holds_the_id(layer, title, path):
    assert path_for(layer, title, "0a1b2c3d", NOON) == path
    assert id_of(path) == "0a1b2c3d"


HEAD = f"---\ndescription: rotate\ncreated: {NOON}\n"
NAME = "experiences/rotate-0a1b2c3d.md"


def test_a_person_may_write_one_with_two_keys():
    one = parse(NAME, f"{HEAD}---\nUse tail -F.\n".encode())
    assert (one.title, one.created, one.status, one.verified) == ("rotate", NOON, "active", True)
    day = parse(NAME, b"---\ndescription: a\ncreated: 2026-11-30\nsupersedes: [12345678]\n---\nx\n")
    assert (day.created, day.supersedes) == ("2026-11-30T00:00:00.000Z", ("12345678",))


@pytest.mark.parametrize(
    "more",
    [
        "tags: [mine, 'yours']\nnote: >-\n  two\n  lines",
        "aliases:\n- a\n- b",
        'read_only: "true"\nreviewed: 2026-12-01',
    ],
)
def test_keys_that_a_person_added_stay_as_they_are_written(more):
    text = f"---\n{more}\ndescription: rotate\ncreated: {NOON}\n---\nx\n".encode()
    after = render(replace(parse(NAME, text), body="better", status="superseded"))
    assert f"\n{more}\n---\nbetter\n" in after.decode()
    assert parse(NAME, after).read_only == ("read_only" in more)
    found = check(Tree.of({NAME: text}), Tree.of({NAME: after}), Scope("experiences"))
    assert "unknown_key_changed" not in {one.code for one in found}


@pytest.mark.parametrize("more", ["? key\n: 1", "note: |+\n  x\n\n"])
def test_what_cannot_be_kept_as_it_is_written_no_run_changes(more):
    one = parse(NAME, f"---\ndescription: a\ncreated: {NOON}\n{more}\n---\nx\n".encode())
    assert one.read_only == more.startswith("?")


@pytest.mark.parametrize(
    ("path", "text", "line", "about"),
    [
        ("reference/rotate-0a1b2c3d.md", f"{HEAD}---\nx\n", 1, "neither in experiences/"),
        ("experiences/rotate.md", f"{HEAD}---\nx\n", 1, "id of 8 digits"),
        (NAME, "---\ndescription: a\n---\nx\n", 1, "no 'created'"),
        (NAME, f"{HEAD}---\n\n \n", 5, "no text"),
        (NAME, f"{HEAD}status: old\n---\nx\n", 4, "'status'"),
        (NAME, f"{HEAD}confidence: 2\n---\nx\n", 4, "'confidence'"),
        (NAME, f"{HEAD}confidence: .nan\n---\nx\n", 4, "'confidence'"),
        (NAME, f"{HEAD}verified: perhaps\n---\nx\n", 4, "'verified'"),
        (NAME, f"{HEAD}project: [a]\n---\nx\n", 4, "'project'"),
        (NAME, f"{HEAD}files: [[a]]\n---\nx\n", 4, "'files'"),
        (NAME, f"{HEAD}updated: soon\n---\nx\n", 4, "'updated'"),
        (NAME, f"{HEAD}updated: 9999-12-31T23:00:00-02:00\n---\nx\n", 4, "'updated'"),
        (NAME, "no header\n", 1, "'---' header"),
    ],
)
def test_what_is_none_is_named_with_file_and_line(path, text, line, about):
    with pytest.raises(DocumentError, match=about) as refused:
        parse(path, text.encode())
    assert (refused.value.facts["path"], refused.value.facts["line"]) == (path, line)
    assert refused.value.message.startswith(f"{path}:{line}: ")


def test_a_long_task_and_a_long_statement_are_cut_where_they_are_listed():
    long = replace(stored(1), title="why " * 500)
    assert len(document.parse(long.path, render(long)).description) == document.MAX_DESCRIPTION
    fact = replace(stored(1, "fact", title="backup"), body="word " * 200)
    assert len(fact.about) <= 210
    assert parse(fact.path, render(fact)).body == fact.body
    assert BANK in render(fact).decode()
