"""A call that changes a file is told from one that only looks, whatever harness made it."""

from __future__ import annotations

import pytest

from reflector.pipelines.experiences.editing import edits
from reflector.pipelines.experiences.rows import Row


def _call(tool: str, arguments: str) -> Row:
    return Row("t", "tool_call", "", tool, arguments, "")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", "{}"),
        ("apply_patch", "*** Begin Patch"),
        ("mcp__fs__write_file", "{}"),
        ("str_replace_editor", '{"command": "str_replace"}'),
        ("shell", '{"command": ["apply_patch", "x"]}'),
        ("Bash", '{"command": "sed -i s/a/b/ a.py"}'),
        ("Bash", '{"command": "cat > src/a.py <<EOF"}'),
        ("exec_command", '{"cmd": "git apply x.diff"}'),
    ],
)
def test_a_call_that_changes_a_file_is_an_edit(tool: str, arguments: str) -> None:
    assert edits(_call(tool, arguments))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", "{}"),
        ("str_replace_editor", '{"command": "view"}'),
        ("Bash", '{"command": "ls -l 2>&1 > /dev/null"}'),
        ("Bash", '{"command": "git log --format=%h -> x"}'),
        ("Grep", '{"pattern": "> a.py"}'),
    ],
)
def test_a_call_that_only_looks_is_none(tool: str, arguments: str) -> None:
    assert not edits(_call(tool, arguments))


def test_what_is_only_said_changes_no_file() -> None:
    assert not edits(Row("u", "user", "*** Begin Patch"))
