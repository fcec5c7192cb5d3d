"""Each memory tool changes what it was asked to change and nothing else, or says why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError, NotFoundError, PathError
from reflector.memory import tools
from reflector.memory.document import parse
from reflector.memory.tree import SYMLINK, Tree

HEADER = "---\n# a comment\ndescription: A thing\nx-own:   [1,  2]   # kept\n---\n"
BODY = "one\ntwo\nthree\n"
DOC = HEADER + BODY


def tree(**more: bytes) -> Tree:
    """Return a memory with one document, and whatever else is given as folder__name."""
    files = {"reference/a.md": DOC.encode()}
    return Tree.of(files | {name.replace("__", "/") + ".md": raw for name, raw in more.items()})


def text_of(contents: tools.Contents, path: str = "reference/a.md") -> str:
    (found,) = contents.items()
    assert found[0] == path
    assert found[1] is not None
    return found[1].decode()


def refused(code: str, tool: Callable[..., Any], *words: object) -> DocumentError:
    """Make a call that must be refused with this code."""
    with pytest.raises(DocumentError) as error:
        tool(*words)
    assert error.value.facts["code"] == code
    assert error.value.hint
    return error.value


# Paths


def test_the_ending_is_added_where_it_is_missing():
    assert tools.place("reference/a") == "reference/a.md"
    assert tools.place("reference/a.md") == "reference/a.md"
    assert tools.place("skills/x/scripts/run.sh") == "skills/x/scripts/run.sh"


@pytest.mark.parametrize(
    "path",
    ["/etc/x", "../x", "reference/../../x", "reference//x", ".git/config", "a/.GIT/x", "", "."],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda path: tools.create(tree(), path, "text", "about"),
        lambda path: tools.str_replace(tree(), path, "one", "1"),
        lambda path: tools.insert(tree(), path, "text"),
        lambda path: tools.delete(tree(), path),
        lambda path: tools.rename(tree(), "reference/a.md", path),
        lambda path: tools.rename(tree(), path, "reference/b.md"),
        lambda path: tools.update_description(tree(), path, "about"),
    ],
)
def test_no_tool_reaches_outside_the_memory(path, call):
    with pytest.raises(PathError) as error:
        call(path)
    assert error.value.hint


@given(st.text(max_size=30))
@example("a/../../x")
@example("a\\..\\x")
def test_a_place_never_escapes(text):
    try:
        found = tools.place(text)
    except PathError:
        return
    parts = found.split("/")
    assert not found.startswith("/")
    assert not {"..", ".", ""} & set(parts)
    assert not any(part.lower().startswith(".git") for part in parts)


def test_a_link_in_the_memory_is_not_followed():
    linked = Tree.of({"reference/a.md": (SYMLINK, b"/etc/passwd")})
    with pytest.raises(NotFoundError, match="no regular file"):
        tools.source(linked, "reference/a.md")


# create


def test_a_new_document_gets_a_header_that_reads_back():
    made = text_of(tools.create(tree(), "reference/b", "text", "Plan: phase 2"), "reference/b.md")
    assert parse("", made.encode()).description == "Plan: phase 2"
    assert made.endswith("\ntext\n")


def test_a_text_with_a_header_is_taken_as_it_is():
    assert text_of(tools.create(tree(), "facts/x", DOC), "facts/x.md") == DOC


def test_a_skill_gets_its_folder_for_a_name():
    path = "skills/do-this/SKILL.md"
    made = text_of(tools.create(tree(), path, "text", "This skill should be used when x"), path)
    assert parse("", made.encode()).value("name") == "do-this"


def test_what_exists_is_not_made_again():
    refused("path_taken", tools.create, tree(), "reference/a", "text", "about")
    folder = Tree.of({"skills/x/scripts/a/b.sh": b"#"})
    refused("path_taken", tools.create, folder, "skills/x/scripts/a", "#")


def test_a_document_needs_one_description():
    refused("description_missing", tools.create, tree(), "reference/b", "text", " ")
    refused("two_descriptions", tools.create, tree(), "reference/b", DOC, "about")


def test_a_header_that_would_not_read_back_is_refused_with_its_line():
    bad = "---\ndescription: Plan: phase 2\n---\n"
    with pytest.raises(DocumentError) as error:
        tools.create(tree(), "reference/b", bad)
    assert error.value.facts["line"] == 2


# str_replace


def test_one_place_is_replaced_and_every_other_byte_stays():
    done = text_of(tools.str_replace(tree(), "reference/a", "two", "2"))
    assert done == DOC.replace("two", "2")


def test_a_text_that_is_not_there_shows_the_nearest_lines():
    error = refused("no_match", tools.str_replace, tree(), "reference/a", "threee\n", "x")
    assert "line 8: three" in error.message


@pytest.mark.parametrize(("body", "old", "count"), [("a b a\n", "a", 2), ("aaa\n", "aa", 2)])
def test_a_text_that_is_there_more_than_once_shows_how_often(body, old, count):
    many = tree(reference__m=("---\ndescription: x\n---\n" + body).encode())
    with pytest.raises(DocumentError, match=f"{count} times") as error:
        tools.str_replace(many, "reference/m", old, "b")
    assert error.value.facts["code"] == "many_matches"
    assert "4, 4" in error.value.message


def test_nothing_is_never_a_match():
    refused("no_match", tools.str_replace, tree(), "reference/a", "", "x")


def test_what_a_search_shows_holds_no_secret():
    raw = b"---\ndescription: x\n---\ntoken = ghp_0123456789abcdefghijABCDEFGHIJ012345\n"
    near = "token = ghp_0123456789abcdefghijABCDEFGHIJ01234X"
    memory = tree(reference__s=raw)
    error = refused("no_match", tools.str_replace, memory, "reference/s", near, "x")
    assert "line 4" in error.message
    assert "ABCDEFGHIJ" not in error.message


def test_carriage_returns_are_read_and_line_feeds_written():
    crlf = tree(reference__w=DOC.replace("\n", "\r\n").encode())
    done = tools.str_replace(crlf, "reference/w", "one\r\ntwo", "1\r\n2")
    assert text_of(done, "reference/w.md") == DOC.replace("one\ntwo", "1\n2")


# insert


def test_lines_go_behind_the_line_that_is_named():
    assert text_of(tools.insert(tree(), "reference/a", "new", 6)) == DOC.replace("two", "new\ntwo")
    assert text_of(tools.insert(tree(), "reference/a", "new\n", 0)) == HEADER + "new\n" + BODY
    assert text_of(tools.insert(tree(), "reference/a", "new")) == DOC + "new\n"


def test_a_last_line_without_an_end_gets_one():
    open_end = tree(reference__o=DOC.rstrip("\n").encode())
    assert text_of(tools.insert(open_end, "reference/o", "new"), "reference/o.md") == DOC + "new\n"


@pytest.mark.parametrize("line", [-1, 1, 4, 9])
def test_no_line_goes_into_the_header_or_behind_the_end(line):
    refused("no_such_line", tools.insert, tree(), "reference/a", "new", line)


# delete and rename


def test_a_file_is_deleted_and_a_folder_with_all_in_it():
    memory = tree(reference__b__c=DOC.encode(), reference__b__d__e=DOC.encode())
    assert tools.delete(memory, "reference/a") == {"reference/a.md": None}
    assert tools.delete(memory, "reference/b/") == {
        "reference/b/c.md": None,
        "reference/b/d/e.md": None,
    }


@pytest.mark.parametrize("path", ["reference/none", "reference/none/", "ref"])
def test_what_is_not_there_cannot_be_deleted(path):
    with pytest.raises(NotFoundError, match=re.escape(path.rstrip("/"))):
        tools.delete(tree(), path)


@pytest.mark.parametrize(
    "raw",
    [
        b'---\ndescription: x\nread_only: "true"\n---\n',
        b"---\nread_only: true\ndescription: a: b\n---\n",
    ],
)
@pytest.mark.parametrize("call", [tools.delete, lambda t, p: tools.rename(t, p, "facts/x")])
def test_a_protected_file_below_a_folder_refuses_all(raw, call):
    memory = tree(reference__b__a=DOC.encode(), reference__b__c=raw)
    error = refused("read_only_removed", call, memory, "reference/b")
    assert "reference/b/c.md" in error.message


def test_the_boundaries_refuse_the_whole_folder():
    refused("read_only_removed", tools.delete, tree(system__boundaries=DOC.encode()), "system")


def test_a_name_that_is_file_and_folder_must_be_said_in_full():
    memory = tree(reference__a__b=DOC.encode())
    refused("ambiguous", tools.delete, memory, "reference/a")
    assert tools.delete(memory, "reference/a.md") == {"reference/a.md": None}
    assert tools.delete(memory, "reference/a/") == {"reference/a/b.md": None}


def test_a_file_is_renamed_byte_for_byte():
    raw = DOC.replace("\n", "\r\n").encode()
    done = tools.rename(tree(reference__w=raw), "reference/w", "facts/w")
    assert done == {"reference/w.md": None, "facts/w.md": raw}


def test_a_folder_is_renamed_with_all_in_it():
    memory = Tree.of({"projects/a/x.md": b"1", "projects/a/b/y.md": b"2", "projects/ab/z.md": b"3"})
    assert tools.rename(memory, "projects/a", "projects/new/") == {
        "projects/a/x.md": None,
        "projects/new/x.md": b"1",
        "projects/a/b/y.md": None,
        "projects/new/b/y.md": b"2",
    }


def test_nothing_is_renamed_onto_something():
    memory = tree(reference__b=DOC.encode(), facts__c__d=DOC.encode())
    refused("path_taken", tools.rename, memory, "reference/a", "reference/b")
    refused("path_taken", tools.rename, memory, "facts/c", "facts/c")


# update_description


def test_only_the_description_changes():
    done = text_of(tools.update_description(tree(), "reference/a", "Plan: phase 2"))
    assert done == DOC.replace("A thing", "'Plan: phase 2'")


@pytest.mark.parametrize("space", ["", "antml:"])
@pytest.mark.parametrize(
    "mess",
    [
        "A thing</{}parameter>",
        "A thing<{}parameter name=",
        "A thing</{}invoke>",
        "A thing</description>\n<{}parameter name='x'>",
        "A thing<|im_end|>{}",
        'A thing", "path": "{}reference/a.md"',
        "A thing [/TOOL_CALL]{}",
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda text: tools.update_description(tree(), "reference/a", text),
        lambda text: tools.create(tree(), "reference/b", "text", text),
    ],
)
def test_the_rest_of_a_tool_call_in_a_description_is_named_with_what_to_resend(mess, space, call):
    error = refused("description_scaffolding", call, mess.format(space))
    assert "Resend" in error.hint
    assert '"A thing' in error.hint


def test_markup_in_code_is_no_tool_call():
    text = "How `<parameter>` is escaped"
    assert text in text_of(tools.update_description(tree(), "reference/a", text))


@pytest.mark.parametrize("text", ["", "two\nlines", "x" * 1025])
def test_a_description_that_is_none_is_refused(text):
    with pytest.raises(DocumentError):
        tools.update_description(tree(), "reference/a", text)


# Documents that cannot be read


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"---\ndescription: a: b\n---\nbody\n", 2),
        (b"no header\n", 1),
        (b"---\ndescription: x\nbody\n", 1),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda t: tools.str_replace(t, "reference/x", "body", "b"),
        lambda t: tools.insert(t, "reference/x", "b"),
        lambda t: tools.update_description(t, "reference/x", "about"),
    ],
)
def test_an_unreadable_header_is_refused_with_file_and_line(raw, line, call):
    with pytest.raises(DocumentError) as error:
        call(tree(reference__x=raw))
    assert (error.value.facts["path"], error.value.facts["line"]) == ("reference/x.md", line)


def test_an_encoding_that_is_not_utf8_is_named():
    raw = DOC.encode("utf-16")
    with pytest.raises(DocumentError, match="UTF-16"):
        tools.str_replace(tree(reference__x=raw), "reference/x", "one", "1")


def test_the_archive_is_changed_with_and_without_a_header():
    archive = Tree.of({"ARCHIVE.md": b"2026-11-30 old\n"})
    assert tools.insert(archive, "ARCHIVE", "new") == {"ARCHIVE.md": b"2026-11-30 old\nnew\n"}


WORDS = st.text("ab \n[]#é", max_size=20)


@given(WORDS, WORDS.filter(bool), WORDS)
def test_a_replacement_changes_one_place_and_no_other_byte(before, old, after):
    text = HEADER + before + old + after
    memory = Tree.of({"reference/a.md": text.encode()})
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if len(places) == 1:
        done = text_of(tools.str_replace(memory, "reference/a", old, "NEW"))
        assert done == text[: places[0]] + "NEW" + text[places[0] + len(old) :]
    else:
        refused("many_matches", tools.str_replace, memory, "reference/a", old, "NEW")
