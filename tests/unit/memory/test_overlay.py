"""A tree with other contents over it says exactly what a tree made of them would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import PathError
from reflector.memory.overlay import overlaid
from reflector.memory.tree import EXECUTABLE, FILE, Tree, changes

PATHS = st.sampled_from(["a/x.md", "a/y.md", "b/c/x.md", "b/c/d/y.md", "z.md", "a/b/c.md"])
FILES = st.dictionaries(PATHS, st.binary(max_size=3))


def held(tree: Tree) -> dict[str, bytes]:
    return {leaf.path: tree.reader.content(leaf.oid) for leaf in tree.leaves()}


@given(FILES, st.dictionaries(PATHS, st.none() | st.binary(max_size=3)))
def test_it_holds_what_a_plain_mapping_would_hold(files, edits):
    tree = Tree.of(files)
    wanted = {**files, **edits}
    after = overlaid(tree, edits)
    assert held(after) == {path: raw for path, raw in wanted.items() if raw is not None}
    assert held(tree) == files


@given(FILES)
def test_an_emptied_tree_holds_no_empty_folder(files):
    gone = overlaid(Tree.of(files), dict.fromkeys(files))
    assert list(gone.leaves()) == []
    assert list(gone.reader.listing(gone.oid)) == []


def test_only_what_differs_is_a_change():
    tree = Tree.of({"a/x.md": b"1", "a/y.md": b"2", "b/z.md": b"3"})
    found = changes(tree, overlaid(tree, {"a/x.md": b"new", "b/none.md": None}))
    assert [each.path for each in found] == ["a/x.md"]


def test_a_file_keeps_its_mode_also_when_it_moves_unchanged():
    tree = Tree.of({"s/run.sh": (EXECUTABLE, b"run"), "s/x.md": b"x"})
    stays = overlaid(tree, {"s/run.sh": b"other"})
    moved = overlaid(tree, {"s/run.sh": None, "t/run.sh": b"run", "t/new.md": b"n"})
    assert [leaf.mode for leaf in stays.leaves() if leaf.path == "s/run.sh"] == [EXECUTABLE]
    assert {leaf.path: leaf.mode for leaf in moved.leaves()} == {
        "s/x.md": FILE,
        "t/run.sh": EXECUTABLE,
        "t/new.md": FILE,
    }


def test_a_given_mode_wins():
    tree = Tree.of({"s/run.sh": (EXECUTABLE, b"run")})
    (leaf,) = overlaid(tree, {"s/run.sh": b"run"}, {"s/run.sh": FILE}).leaves()
    assert leaf.mode == FILE


def test_a_file_may_take_the_place_of_a_folder_that_goes_with_the_same_change():
    tree = Tree.of({"a/x.md": b"1", "b": b"2"})
    after = overlaid(tree, {"a/x.md": None, "a": b"file", "b": None, "b/y.md": b"inside"})
    assert held(after) == {"a": b"file", "b/y.md": b"inside"}


@pytest.mark.parametrize("path", ["a", "b/y.md"])
def test_a_path_cannot_be_file_and_folder(path):
    tree = Tree.of({"a/x.md": b"1", "b": b"2"})
    with pytest.raises(PathError) as error:
        overlaid(tree, {path: b"new"})
    assert error.value.facts["code"] == "path_taken"
