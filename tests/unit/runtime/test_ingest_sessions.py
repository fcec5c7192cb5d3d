"""Sessions that share rows are journaled as if each had been read alone, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from tests.support.harness_rows import lines
from tests.support.pi_rows import SLOT, Tree, header, title
from tests.support.scenes import Scene

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def journaled(scene, *paths):
    """Journal these files; return how many entries each one added."""
    return [ingest(scene.context(), path, Quiet()).entries for path in paths]


def fixture(tmp_path, harness, name):
    """Copy a fixture; return the copy."""
    (path,) = (FIXTURES / harness).glob(f"*{name}.jsonl")
    return Path(shutil.copy(path, tmp_path))


def test_a_fork_of_a_tree_adds_only_its_own_rows(scene, tmp_path):
    tree, fork = fixture(tmp_path, "pi", "_tree"), fixture(tmp_path, "pi", "_fork")
    once = journaled(scene, tree, fork)
    assert once[1] == 2
    assert journaled(scene, tree, fork) == [0, 0]


def test_a_session_that_a_later_pi_wrote_anew_adds_nothing(scene, tmp_path):
    old, anew = fixture(tmp_path, "pi", "version-1"), fixture(tmp_path, "pi", "migrated")
    shutil.copy(anew, anew := tmp_path / "anew")
    before = journaled(scene, old)
    shutil.move(anew, old)
    assert journaled(scene, old) == [0]
    assert before[0] > 0


def test_copies_of_a_subagents_rows_and_its_own_file_are_journaled_once(scene, tmp_path):
    main = fixture(tmp_path, "claude-code", "progress-copies")
    own = fixture(tmp_path, "claude-code", "agent-a1b2c3d")
    assert journaled(scene, main, own) == [6, 0]


def test_a_title_that_is_written_over_is_no_reason_to_read_again(scene, tmp_path):
    tree = Tree()
    head = title("First") + lines(header(), tree.user("x" * 5000))
    path = tmp_path / "session.jsonl"
    row = lines(tree.user("hello"))
    path.write_bytes(head + row)
    assert journaled(scene, path) == [2]
    # Were it read from its start again, the second row would be another one.
    written = title("Zweiter, größer") + head[SLOT:] + row.replace(b'"00000002"', b'"0000ffff"')
    path.write_bytes(written + lines(tree.assistant("hi")))
    assert journaled(scene, path) == [1]
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT title FROM conversations")
        assert [row["title"] for row in rows] == ["Zweiter, größer"]
