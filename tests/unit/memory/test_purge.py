"""Documents and messages lose what is forgotten, and nothing else."""

from __future__ import annotations

import pytest

from reflector.core.needle import passages
from reflector.memory.purge import Purge

HEAD = b"---\ndescription: What is known.\n---\n"
FALCON = Purge(passages(["Falcon"]))


def test_the_lines_that_hold_it_go():
    old = HEAD + b"# Facts\n\n- one\n- Falcon is secret\n- two\n"
    assert FALCON.file("reference/a.md", old) == HEAD + b"# Facts\n\n- one\n- two\n"


@pytest.mark.parametrize("content", [HEAD + b"- one\n", b"\xff\xfe", b"", b"\0"])
def test_what_does_not_hold_it_stays_byte_for_byte(content):
    assert FALCON.file("reference/a.md", content) == content


@pytest.mark.parametrize("content", [b"\xffFalcon", b"a\0Falcon"])
def test_a_file_that_is_no_text_goes_as_a_whole(content):
    assert FALCON.file("skills/x/assets/a.bin", content) is None


def test_a_document_of_which_nothing_is_left_goes_but_the_system_ones_stay():
    old = HEAD + b"- Falcon\n"
    assert FALCON.file("reference/a.md", old) is None
    assert FALCON.file("system/human.md", old) == HEAD


def test_a_description_that_holds_it_is_replaced():
    old = b'---\ndescription: On Falcon\nread_only: "true"\n---\n- one\n'
    new = FALCON.file("reference/a.md", old)
    assert new == b'---\ndescription: "(forgotten)"\nread_only: "true"\n---\n- one\n'


@pytest.mark.parametrize(
    "header", [b"description: x\nowner: Falcon\n", b"description: >\n  on\n  Falcon\n"]
)
def test_a_document_whose_header_holds_it_elsewhere_goes(header):
    assert FALCON.file("reference/a.md", b"---\n" + header + b"---\n- one\n") is None


def test_a_file_whose_name_holds_it_goes():
    assert FALCON.file("reference/Falcon.md", HEAD + b"- one\n") is None


def test_a_line_that_holds_it_in_another_form_goes_too():
    quoted = Purge(passages(['say "x"']))
    assert quoted.file("reference/a.json", b'{"a": "say \\"x\\""}\nrest\n') == b"rest\n"


def test_a_document_that_is_named_goes_and_so_does_a_folder():
    gone = Purge(passages([]), "reference/a.md")
    assert gone.file("reference/a.md", b"x") is None
    assert gone.file("reference/a.md.md", b"x") == b"x"
    assert Purge(passages([]), "reference").file("reference/deep/a.md", b"x") is None
    assert Purge(passages([]), "reference").file("references/a.md", b"x") == b"x"


def test_a_message_keeps_its_kind_and_its_trailers():
    old = (
        "feat(reflection): remember Falcon\n\nUpdates:\n- reference/a.md: Falcon [entry a:b:0]\n"
        "- reference/b.md: two\n\nGenerated-By: agent memory\nReflector-Run: r\n"
    )
    assert FALCON.message(old) == (
        "feat(reflection): (forgotten)\n\nUpdates:\n- reference/b.md: two\n\n"
        "Generated-By: agent memory\nReflector-Run: r\n"
    )
    assert FALCON.message("a person's Falcon") == "(forgotten)\n"
    assert FALCON.message("nothing\n\nof it\n") == "nothing\n\nof it\n"


def test_a_message_about_a_document_that_is_named_says_no_more_of_it():
    old = "fix(reflection): two things\n\nUpdates:\n- reference/a.md: one\n- system/b.md: two\n"
    gone = Purge(passages([]), "reference/a.md").message(old)
    assert gone == "fix(reflection): two things\n\nUpdates:\n- system/b.md: two\n"


def test_a_message_about_a_folder_loses_only_lines_about_paths_in_it():
    old = "fix(reflection): the system is slow\n\nUpdates:\n- system/a.md: one\n- x.md: system\n"
    gone = Purge(passages([]), "system").message(old)
    assert gone == "fix(reflection): the system is slow\n\nUpdates:\n- x.md: system\n"
