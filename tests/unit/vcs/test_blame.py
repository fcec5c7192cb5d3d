"""Who wrote a line, asked of git: renames followed, odd names too."""

from __future__ import annotations

import pytest

from reflector.core.errors import NotFoundError
from reflector.vcs.blame import blame, touches
from tests.support.repos import fresh, scrubbed

NAME = 'reference/ä "b" 文.md'
BODY = "one\ntwo\nthree\nfour\nfive\n"


@pytest.mark.parametrize("name", ["system/a.md", NAME, "reference/:(top)x.md"])
def test_a_line_is_traced_to_the_commit_that_brought_it(tmp_path, name):
    repo = fresh(tmp_path / "memory", {name: BODY})
    first = repo.sha()
    second = repo.commit({name: BODY + "six\n"})
    found = blame(scrubbed(), repo.path, "main", name, 6)
    assert (found.commit, found.path, found.line, found.text) == (second, name, 6, "six")
    assert blame(scrubbed(), repo.path, "main", name, 1).commit == first


def test_renames_are_followed_to_the_older_name(tmp_path):
    repo = fresh(tmp_path / "memory", {"system/a.md": BODY})
    first = repo.sha()
    repo.git("mv", "system/a.md", "system/b.md")
    moved = repo.commit({"other.md": "x\n"}, "moved")
    last = repo.commit({"system/b.md": "zero\n" + BODY})
    found = touches(scrubbed(), repo.path, "main", "system/b.md")
    assert [(t.commit, t.path) for t in found] == [
        (last, "system/b.md"),
        (moved, "system/b.md"),
        (first, "system/a.md"),
    ]
    origin = blame(scrubbed(), repo.path, "main", "system/b.md", 3)
    assert (origin.commit, origin.path, origin.line) == (first, "system/a.md", 2)


def test_a_deleted_file_has_its_history(tmp_path):
    repo = fresh(tmp_path / "memory", {"a.md": BODY, NAME: "x\n"})
    first = repo.sha()
    repo.git("rm", "-q", NAME)
    gone = repo.commit({}, "gone")
    found = touches(scrubbed(), repo.path, "main", NAME)
    assert [(t.commit, t.path) for t in found] == [(gone, NAME), (first, NAME)]
    assert touches(scrubbed(), repo.path, "main", "never.md") == []


@pytest.mark.parametrize(("path", "line"), [("a.md", 6), ("never.md", 1)])
def test_a_line_that_is_not_there_is_said_to_be_missing(tmp_path, path, line):
    repo = fresh(tmp_path / "memory", {"a.md": BODY})
    with pytest.raises(NotFoundError, match=f"line {line} of {path}"):
        blame(scrubbed(), repo.path, "main", path, line)


@pytest.mark.parametrize("moment", ["2026-11-30T10:00:00Z", "2026-11-30T09:00:00Z"])
def test_a_clock_that_stands_or_goes_back_changes_no_order(tmp_path, monkeypatch, moment):
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-30T10:00:00Z")
    repo = fresh(tmp_path / "memory", {"system/a.md": BODY})
    first = repo.sha()
    monkeypatch.setenv("GIT_COMMITTER_DATE", moment)
    learned = repo.branch_with("lesson", {"system/a.md": BODY + "six\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "a lesson", "lesson")
    found = touches(scrubbed(), repo.path, "main", "system/a.md")
    assert [each.commit for each in found] == [learned, first]
