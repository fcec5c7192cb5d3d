"""A patch is applied to every file that it names, or to none."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import DocumentError, NotFoundError, PathError
from reflector.memory.patch import apply_patch
from reflector.memory.tree import Tree
from tests.support.repos import Repo, fresh

HEAD = "---\ndescription: A thing\nx-own: [1,  2] # kept\n---\n"
A, B = HEAD + "one\ntwo\nthree\nfour\n", HEAD + "b\n"
MEMORY = Tree.of({"reference/a.md": A.encode(), "reference/b.md": B.encode()})


def envelope(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))


def refused(patch: str, code: str, tree: Tree = MEMORY) -> DocumentError:
    with pytest.raises(DocumentError) as error:
        apply_patch(tree, patch)
    assert error.value.facts["code"] == code
    assert error.value.hint
    return error.value


# Unified diffs

LINES = st.lists(st.sampled_from(["one", "two", "", "-- x", "++ y", "@@ z", " s"]), max_size=8)


@given(LINES, LINES, st.integers(0, 4))
def test_what_a_diff_says_comes_out(before, after, around):
    was, now = ([f"{line}\n" for line in (*HEAD.splitlines(), *body)] for body in (before, after))
    tree = Tree.of({"reference/x.md": "".join(was).encode()})
    patch = "".join(
        difflib.unified_diff(was, now, "a/reference/x.md", "b/reference/x.md", n=around)
    )
    if not patch:
        return
    assert apply_patch(tree, patch) == {"reference/x.md": "".join(now).encode()}


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "memory", {"reference/a.md": A, "reference/b.md": B, "facts/ä b.md": B})


def test_a_diff_by_git_over_several_files_is_taken(repo):
    repo.write({"reference/a.md": A.replace("two", "2"), "facts/new.md": B})
    (repo.path / "reference/b.md").unlink()
    (repo.path / "facts/ä b.md").rename(repo.path / "facts/ö.md")
    repo.git("add", "-A")
    patch = repo.git("diff", "--cached", "-M") + "\n"
    files = {"reference/a.md": A, "reference/b.md": B, "facts/ä b.md": B}
    tree = Tree.of({path: text.encode() for path, text in files.items()})
    done = apply_patch(tree, patch)
    after = {path: text for path, text in files.items() if done.get(path, b"") is not None}
    after |= {path: raw.decode() for path, raw in done.items() if raw is not None}
    assert after == {
        name: (repo.path / name).read_text() for name in repo.git("ls-files", "-z").split("\0")[:-1]
    }


def test_a_missing_end_of_line_is_kept_and_made_as_the_diff_says(repo):
    repo.write({"reference/a.md": A.rstrip("\n")})
    patch = repo.git("diff") + "\n"
    assert apply_patch(MEMORY, patch) == {"reference/a.md": A.rstrip("\n").encode()}
    back = repo.git("diff", "-R") + "\n"
    tree = Tree.of({"reference/a.md": A.rstrip("\n").encode()})
    assert apply_patch(tree, back) == {"reference/a.md": A.encode()}


def test_wrong_line_numbers_do_not_matter_where_the_lines_are_there_once():
    patch = "--- a/reference/a.md\n+++ b/reference/a.md\n@@ -90,2 +90,2 @@\n-two\n+2\n three\n"
    assert apply_patch(MEMORY, patch) == {"reference/a.md": A.replace("two", "2").encode()}


def test_lines_that_are_there_twice_need_the_right_number():
    twice = Tree.of({"reference/a.md": (HEAD + "x\ny\nx\n").encode()})
    patch = "--- a/reference/a.md\n+++ b/reference/a.md\n@@ -{0},1 +{0},1 @@\n-x\n+z\n"
    done = apply_patch(twice, patch.format(7))
    assert done == {"reference/a.md": (HEAD + "x\ny\nz\n").encode()}
    assert "2 times" in refused(patch.format(90), "many_matches", twice).message


# The envelope


def test_an_envelope_adds_changes_moves_and_deletes():
    patch = envelope(
        "*** Add File: facts/new",
        *(f"+{line}" for line in (HEAD + "n").splitlines()),
        "*** Update File: reference/a.md",
        "*** Move to: reference/moved.md",
        "@@",
        " one",
        "-two",
        "+2",
        "@@ three",
        "+3.5",
        "*** Delete File: reference/b.md",
    )
    assert apply_patch(MEMORY, patch) == {
        "facts/new.md": (HEAD + "n\n").encode(),
        "reference/a.md": None,
        "reference/moved.md": A.replace("two", "2").replace("four", "3.5\nfour").encode(),
        "reference/b.md": None,
    }


def test_two_sections_on_one_file_follow_each_other():
    patch = envelope(
        *("*** Update File: reference/a.md", "-one", "+1"),
        *("*** Update File: reference/a.md", "-1", "+first"),
    )
    assert apply_patch(MEMORY, patch) == {"reference/a.md": A.replace("one", "first").encode()}


# All or nothing


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("*** Update File: reference/b.md", "-not there", "+x"), "no_match"),
        (("*** Update File: reference/b.md", "@@ no such line", "+x"), "no_match"),
        (("*** Add File: reference/b.md", "+x"), "path_taken"),
        (("*** Update File: reference/b.md", "*** Move to: reference/a.md"), "path_taken"),
        (
            ("*** Update File: reference/b.md", "-description: A thing", "+description: a: b"),
            "header_not_yaml",
        ),
        (("*** Rename File: reference/b.md",), "bad_patch"),
        (("*** Add File: reference/c.md", "no mark"), "bad_patch"),
    ],
)
def test_one_section_that_does_not_fit_refuses_the_whole_patch(lines, code):
    good = ("*** Update File: reference/a.md", "-one", "+1")
    refused(envelope(*good, *lines), code)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(NotFoundError, match=r"reference/none\.md"):
        apply_patch(MEMORY, envelope("*** Delete File: reference/none"))


@pytest.mark.parametrize("path", ["../x.md", "/etc/x", ".git/config", "a/../../x"])
@pytest.mark.parametrize("form", ["*** Add File: {}\n+x", "*** Delete File: {}"])
def test_no_patch_reaches_outside_the_memory(path, form):
    with pytest.raises(PathError):
        apply_patch(MEMORY, envelope(form.format(path)))
    diff = f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,1 @@\n+x\n"
    with pytest.raises(PathError):
        apply_patch(MEMORY, diff)


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "hello\n",
        "*** Begin Patch\n*** Delete File: reference/b.md\n",
        "--- a/reference/a.md\n+++ b/reference/a.md\n@@ -5,2 +5,2 @@\n one\n",
        "diff --git a/x b/x\nGIT binary patch\n",
        "diff --git a/x b/x\n",
    ],
)
def test_what_is_no_patch_is_refused_with_its_line(patch):
    assert "line" in refused(patch, "bad_patch").message


@given(st.text("*@-+ ab/.\n", max_size=60))
def test_any_text_is_a_patch_or_a_clear_error(text):
    for patch in (text, envelope(text), f"--- a/reference/a.md\n+++ b/reference/a.md\n{text}"):
        try:
            apply_patch(MEMORY, patch)
        except (DocumentError, NotFoundError):
            continue
