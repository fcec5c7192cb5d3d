"""Trees laid out from an index, and readers that remember, are the trees that they stand for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.laid import laid_out
from reflector.memory.remembering import remembered
from reflector.memory.rules import check_memory
from reflector.memory.tree import FILE, Leaf, Listed, Tree, changes
from tests.support.memory_trees import doc

_PATH = st.lists(st.sampled_from(["a", "b", "C", "é"]), min_size=1, max_size=4).map("/".join)
_FILES = st.dictionaries(_PATH, st.binary(max_size=2), max_size=8).filter(
    lambda files: not any(a.startswith(b + "/") for a in files for b in files)
)


class Counting:
    """A reader that counts the files it gives."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.read = tree, 0
        self.listing, self.size = tree.reader.listing, tree.reader.size

    def content(self, oid: str) -> bytes:
        self.read += 1
        return self.tree.reader.content(oid)


@given(_FILES)
def test_a_tree_that_is_laid_out_has_the_leaves_it_was_made_of(files):
    tree = Tree.of(files)
    laid = laid_out(tree.leaves(), tree.reader)
    assert sorted(laid.leaves(), key=repr) == sorted(tree.leaves(), key=repr)
    assert changes(tree, laid) == ()
    assert {path: laid.read(path) for path in files} == files


def test_any_order_of_leaves_will_do():
    tree = Tree.of({"a/b/c.md": b"1", "a/d.md": b"2", "e.md": b"3"})
    leaves = list(tree.leaves())
    for order in (leaves, leaves[::-1]):
        laid = laid_out(order, tree.reader)
        assert laid.read("a/b/c.md") == b"1"
        assert set(laid.folders("a")) == {"b"}


def test_an_index_with_one_name_for_a_file_and_a_folder_shows_both():
    tree = Tree.of({"a": b"1"})
    oid = tree.reader.listing(tree.oid)[0].oid
    laid = laid_out([Leaf("a", FILE, oid), Leaf("a/b", FILE, oid)], tree.reader)
    assert [one.mode for one in laid.reader.listing(laid.oid)].count(FILE) == 1
    assert Listed("b", FILE, oid) in laid.reader.listing("laid:a")


def test_a_file_is_fetched_once():
    tree = Tree.of({"reference/a.md": doc("x")})
    counting = Counting(tree)
    again = remembered(Tree(tree.oid, counting))
    assert again.read("reference/a.md") == again.read("reference/a.md") == doc("x")
    assert counting.read == 1
    check_memory(Tree(tree.oid, counting))
    assert counting.read == 2


def test_more_than_fits_into_memory_is_fetched_again():
    files = {f"reference/{number}": bytes([number]) * (1 << 20) for number in range(70)}
    counting = Counting(Tree.of(files))
    again = remembered(Tree(counting.tree.oid, counting))
    for _ in range(2):
        assert {path: again.read(path) for path in files} == files
    assert counting.read == 70 + 6


def test_paths_choose_what_is_judged_and_what_is_said():
    tree = Tree.of({"reference/a.md": b"x", "reference/ab.md": b"x", "facts/a/b.md": b"x"})

    def said(*paths: str) -> list[str]:
        return [one.path for one in check_memory(tree, paths)]

    assert said() == ["facts/a/b.md", "reference/a.md", "reference/ab.md"]
    assert said("reference/a.md") == ["reference/a.md"]
    assert said("facts", "reference/ab.md") == ["facts/a/b.md", "reference/ab.md"]
    assert said("facts/a.md", "fact") == []


def test_against_what_was_there_only_what_differs_is_judged():
    before = {
        "reference/a.md": b"x",
        "reference/old.md": doc("x"),
        "facts/a.md": doc("[[reference/old]]"),
    }
    after = {"reference/a.md": b"x", "facts/a.md": before["facts/a.md"], "facts/b.md": b"x"}
    found = check_memory(Tree.of(after), (), Tree.of(before))
    assert [(one.code, one.path) for one in found] == [
        ("points_nowhere", "facts/a.md"),
        ("header_missing", "facts/b.md"),
    ]
    assert check_memory(Tree.of(after), ["reference"], Tree.of(before)) == ()
