"""The files of a segment are what its tools were given, by rule."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.experiences.rows import Row
from reflector.pipelines.experiences.touched import MOST, touched

ROOT = "/home/me/shop"


def call(arguments: object) -> Row:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Row("e", "tool_call", tool="Any", arguments=text)


def test_paths_are_taken_from_fields_that_name_one_and_from_patches():
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"
    found = touched(
        [
            call({"file_path": f"{ROOT}/src/main.py", "old_string": "see /etc/hosts"}),
            call({"path": "docs/../README.md", "view_range": [1, 2]}),
            call({"filePath": "/etc/fstab"}),
            call({"edits": [{"file": "src/b.py"}]}),
            call({"input": patch}),
            call({"diff": "--- a/src/c.py\n+++ b/src/d.py\n"}),
            call({"command": "cat src/e.py"}),
        ],
        ROOT,
    )
    assert found == (
        *("src/main.py", "README.md", "/etc/fstab", "src/b.py"),
        *("src/a.py", "src/c.py", "src/d.py"),
    )


def test_a_path_comes_once_and_what_is_none_never():
    rows = [call({"path": each}) for each in ("a", "a", "", "x\ny", "https://a/b", ROOT, "z" * 500)]
    assert touched(rows, ROOT) == ("a",)
    assert touched([Row("e", "user", "path: /etc/hosts")]) == ()
    assert len(touched([call({"path": str(number)}) for number in range(MOST * 2)])) == MOST


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda it: st.lists(it) | st.dictionaries(st.text(), it),
        max_leaves=8,
    )
)
def test_arguments_of_any_shape_are_read(arguments):
    assert all(path.strip() for path in touched([call(arguments)], ROOT))


def test_arguments_that_are_no_json_are_searched_for_patches_alone():
    assert touched([call("*** Add File: new.txt\n+hello")]) == ("new.txt",)
