"""Nothing that a file or a path says gets out of the element that shows it."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.short_memory import BadLine, DuplicateId, parse
from reflector.memory.short_memory_shown import check_command, element, quoted, trouble

PIECES = st.sampled_from(
    ["<", "</", "short_memory", ">", '"', "&", "&lt;", "'", "\n", " ", "x", "scope=", "<!--", "-->"]
)
TEXT = st.lists(PIECES, max_size=12).map("".join)
OWN = re.compile(r"<short_memory(?!-)|</")


def test_the_user_file_reaches_everywhere():
    shown = element("user", "/h/MEMORY.md", "- [tz] use UTC")
    assert shown == (
        '<short_memory scope="user" path="/h/MEMORY.md">\n'
        "These hold everywhere.\n"
        "- [tz] use UTC\n"
        "</short_memory>\n"
    )


def test_a_project_file_reaches_its_project_alone():
    shown = element("project", "/p/.reflector/MEMORY.md", "- [a] x", root='/p "q"')
    assert 'These hold only in the project at "/p \\"q\\"".\n' in shown


def test_a_file_of_both_scopes_says_so():
    shown = element("project", "/p/.reflector/MEMORY.md", "- [a] x", root="/p", twin="/h/MEMORY.md")
    assert 'at "/p". The user file "/h/MEMORY.md" is this same file.\n' in shown


@given(TEXT, TEXT, TEXT, TEXT)
def test_no_body_and_no_path_closes_its_element(path, body, root, twin):
    shown = element("project", path, body, root=root, twin=twin)
    assert OWN.findall(shown) == ["<short_memory", "</"]
    head, _, rest = shown.partition("\n")
    assert re.fullmatch(r'<short_memory scope="project" path="[^"<>]*">', head)
    assert rest.endswith("\n</short_memory>\n")
    assert len(rest.split("\n")) == 4 + body.count("\n")


def test_entries_can_be_read_out_of_the_element_as_they_are():
    text = "- [a] a < b, List<int> and C:\\dir\n  two"
    shown = element("user", "/h", text)
    assert parse("\n".join(shown.split("\n")[2:-2])).entries == parse(text).entries


def test_a_trouble_is_one_line_with_the_first_fault_and_the_way_to_all():
    line = trouble("/p/.reflector/MEMORY.md", [BadLine(3), DuplicateId(4, "a")])
    assert line.startswith('Short memory "/p/.reflector/MEMORY.md" is not shown: line 3 is neither')
    assert "(2 faults; all of them: `reflector short-memory check /p/.reflector/MEMORY.md`)" in line
    assert line.endswith("The file on disk was not changed.")


@given(TEXT)
def test_a_trouble_stays_on_its_line_and_opens_nothing(path):
    line = trouble(path, [BadLine(1)])
    assert "\n" not in line
    assert not OWN.search(line)
    assert "<!" not in line


def test_a_shell_takes_a_path_as_one_word():
    assert check_command("/p q/$(x)/it's") == r"reflector short-memory check '/p q/$(x)/it'\''s'"
    assert check_command("-x") == "reflector short-memory check -- -x"
    assert check_command("/p\nq") == "reflector short-memory check"


def test_a_path_is_quoted_on_one_line_and_reads_back():
    for path in ("/a b", "/é", '/"', "/\n\t\x1b", "/\x85\u2028\u2029\x7f\x9b"):
        assert json.loads(quoted(path)) == path
        assert len(quoted(path).splitlines()) == 1
        assert not re.search("[\x00-\x1f\x7f-\x9f]", quoted(path))
