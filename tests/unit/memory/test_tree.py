from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import PathError
from reflector.memory.tree import (
    EXECUTABLE,
    FILE,
    SUBMODULE,
    SYMLINK,
    Change,
    Leaf,
    Tree,
    changes,
    companion,
    is_document,
    parse_path,
    readable,
    tier,
)

_PART = st.sampled_from(["a", "b", "C", "é", "x y"])
_FILES = st.dictionaries(
    st.lists(_PART, min_size=1, max_size=4).map("/".join), st.binary(max_size=2), max_size=8
).filter(lambda files: not any(a.startswith(b + "/") for a in files for b in files))


class Counting:
    """A reader that counts what it is asked."""

    def __init__(self, reader) -> None:
        self.reader = reader
        self.listed = 0
        self.read = 0

    def listing(self, oid):
        self.listed += 1
        return self.reader.listing(oid)

    def size(self, oid):
        return self.reader.size(oid)

    def content(self, oid):
        self.read += 1
        return self.reader.content(oid)


@given(_FILES)
def test_a_tree_gives_back_the_files_it_was_made_of(files):
    tree = Tree.of(files)
    assert {leaf.path: tree.reader.content(leaf.oid) for leaf in tree.leaves()} == files
    assert {path: tree.read(path) for path in files} == files


@given(_FILES, _FILES)
def test_changes_are_exactly_the_paths_that_differ(before, after):
    found = changes(Tree.of(before), Tree.of(after))
    expected = sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
    assert [change.path for change in found] == expected
    for change in found:
        assert (change.before is not None) == (change.path in before)
        assert (change.after is not None) == (change.path in after)


def test_everything_is_a_change_from_nothing():
    assert [one.path for one in changes(None, Tree.of({"b": b"", "a/c": b""}))] == ["a/c", "b"]


def test_a_file_that_became_a_folder_is_two_changes():
    found = changes(Tree.of({"a": b"1"}), Tree.of({"a/b": b"1"}))
    assert [(one.path, one.before is None, one.after is None) for one in found] == [
        ("a", False, True),
        ("a/b", True, False),
    ]


def test_another_mode_alone_is_a_change():
    before, after = Tree.of({"a": b"1"}), Tree.of({"a": (EXECUTABLE, b"1")})
    (change,) = changes(before, after)
    assert change.before
    assert change.after
    assert (change.before.mode, change.after.mode) == (FILE, EXECUTABLE)
    assert isinstance(change, Change)


def test_changes_read_only_the_folders_on_the_way_to_a_change():
    files = {f"reference/{n // 100}/{n}.md": b"x" for n in range(2000)}
    before, after = Tree.of(files), Tree.of(files | {"reference/7/720.md": b"y"})
    old, new = Counting(before.reader), Counting(after.reader)
    (change,) = changes(Tree(before.oid, old), Tree(after.oid, new))
    assert change.path == "reference/7/720.md"
    assert (old.listed, new.listed) == (3, 3)
    assert (old.read, new.read) == (0, 0)


def test_equal_trees_are_not_read_at_all():
    tree = Tree.of({"a/b": b"1"})
    counting = Counting(tree.reader)
    assert changes(Tree(tree.oid, counting), Tree(tree.oid, counting)) == ()
    assert counting.listed == 0


def test_finding_a_path_reads_one_listing_per_folder():
    tree = Tree.of({f"a/b/{n}": b"x" for n in range(50)} | {"c/d": b"y"})
    counting = Counting(tree.reader)
    found = Tree(tree.oid, counting).find("a/b/7")
    assert isinstance(found, Leaf)
    assert counting.listed == 3


def test_links_and_submodules_are_found_and_not_read():
    tree = Tree.of({"a": (SYMLINK, b"/etc/passwd"), "b": (SUBMODULE, b"x")})
    assert tree.find("a") is not None
    assert (tree.read("a"), tree.read("b"), tree.read("c"), tree.read("a/c")) == (None,) * 4


def test_names_beside_a_path_are_those_of_its_folder():
    tree = Tree.of({"a/b": b"", "a/c/d": b"", "e": b""})
    assert tree.paths_beside("a/new") == ("a/b", "a/c")
    assert tree.paths_beside("e") == ("a", "e")
    assert tree.paths_beside("none/x") == ()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "path_escapes"),
        ("/a", "path_escapes"),
        ("a/", "path_escapes"),
        ("a//b", "path_escapes"),
        ("./a", "path_escapes"),
        ("a/./b", "path_escapes"),
        ("../a", "path_escapes"),
        ("a/..", "path_escapes"),
        ("a\\b", "path_backslash"),
        ("a\nb", "path_control"),
        ("a\x7f", "path_control"),
        ("a\u202eb", "path_control"),
        ("a\udcffb", "path_control"),
        (unicodedata.normalize("NFD", "é"), "path_not_nfc"),
        (".git/config", "path_git_name"),
        ("a/.GIT/x", "path_git_name"),
        ("a/.gitattributes", "path_git_name"),
        ("a/.g\u200cit/x", "path_git_name"),
        ("GIT~1/config", "path_git_name"),
        ("a" * 256, "path_too_long"),
        ("/".join(["a" * 200] * 6), "path_too_long"),
    ],
)
def test_a_path_that_is_no_place_in_a_memory_is_refused(path, code):
    with pytest.raises(PathError) as caught:
        parse_path(path)
    assert caught.value.facts["code"] == code
    assert caught.value.message == readable(caught.value.message)


@given(st.text(st.sampled_from("./\\ agit~é\u0301\n\0:"), max_size=12) | st.text(max_size=12))
def test_an_accepted_path_never_leaves_its_root(text):
    try:
        path = parse_path(text)
    except PathError:
        return
    assert path == text == posixpath.normpath(path) == unicodedata.normalize("NFC", path)
    assert posixpath.join("/base", path).startswith("/base/")
    assert not {"..", ".", "", ".git"} & set(path.casefold().split("/"))


@pytest.mark.parametrize("path", ["system/é ü.md", "reference/日本/メモ.md", 'facts/it\'s "so".md'])
def test_spaces_quotes_and_other_scripts_are_fine_in_paths(path):
    assert parse_path(path) == path
    assert readable(path) == path


def test_what_cannot_be_seen_in_a_path_is_escaped():
    assert readable("a\n\x1b[1m\udcff\u202e.md") == "a\\x0a\\x1b[1m\\xff\\u202e.md"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("system/a.md", "system"),
        ("skills/x/SKILL.md", "skills"),
        ("ARCHIVE.md", "archive"),
        ("system", None),
        ("README.md", None),
        ("System/a.md", None),
        ("other/ARCHIVE.md", None),
    ],
)
def test_a_tier_is_a_top_folder_or_the_archive(path, expected):
    assert tier(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("system/a.md", True),
        ("ARCHIVE.md", True),
        ("skills/x/SKILL.md", True),
        ("skills/x/more.md", True),
        ("skills/x/references/a.md", False),
        ("skills/x/templates/deep/a.md", False),
        ("reference/references/a.md", True),
        ("system/a.txt", False),
        ("README.md", False),
    ],
)
def test_a_document_is_markdown_in_a_tier_outside_a_skills_companion_folders(path, expected):
    assert is_document(path) is expected


def test_a_companion_folder_is_named():
    assert companion("skills/x/scripts/a.sh") == "scripts"
    assert companion("skills/x/scripts") is None


def test_a_path_cannot_be_a_file_and_a_folder():
    with pytest.raises(ValueError, match="file and a folder"):
        Tree.of({"a": b"", "a/b": b""})


def test_a_folder_of_many_files_is_read_once_however_many_of_them_are_asked_for():
    paths = [f"entries/2026-11/{n}.json" for n in range(40)]
    made = Tree.of({path: path.encode() for path in paths})
    counting = Counting(made.reader)
    tree = Tree(made.oid, counting)
    assert [tree.read(path) for path in paths] == [path.encode() for path in paths]
    assert tree.find("entries/2026-11/none.json") is None
    assert counting.listed == 3
