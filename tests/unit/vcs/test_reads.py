"""What pygit2 says about a repository is what git says."""

from __future__ import annotations

import pytest

from reflector.core.errors import GitError, NotFoundError, RefMovedError
from reflector.vcs.port import Head, Identity, Operation
from reflector.vcs.reads import Reads
from reflector.vcs.writes import Writes
from tests.support.repos import RUN, WHEN, Repo, door, fresh

_WHO = Identity()


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "memory")


@pytest.fixture
def tree(repo, tmp_path) -> Repo:
    door(repo).worktree_add(tmp_path / "tree", "memory/x", repo.sha())
    return Repo(tmp_path / "tree")


def _open(repo: Repo, tree: Repo) -> Writes:
    return Writes(tree.path, repo.path / ".git/worktrees/tree")


def _commit(repo: Repo, tree: Repo, tip: str, **named: bool) -> str:
    with _open(repo, tree) as writes:
        return writes.commit_worktree(
            "memory/x", tip, ["system", "README.md"], "fix: x\n", _WHO, WHEN, **named
        )


@pytest.mark.parametrize(
    ("meddle", "operation"),
    [
        (lambda r: r.git("update-ref", "MERGE_HEAD", "HEAD"), Operation.MERGE),
        (lambda r: (r.path / ".git/rebase-merge").mkdir(), Operation.REBASE),
        (lambda r: (r.path / ".git/rebase-apply").mkdir(), Operation.REBASE),
        (lambda r: r.git("update-ref", "CHERRY_PICK_HEAD", "HEAD"), Operation.CHERRY_PICK),
        (lambda r: r.git("update-ref", "REVERT_HEAD", "HEAD"), Operation.REVERT),
        (lambda r: r.git("bisect", "start"), Operation.BISECT),
        (lambda r: r.sha(), None),
    ],
)
def test_an_operation_in_progress_is_seen_though_the_status_is_clean(repo, meddle, operation):
    meddle(repo)
    assert repo.git("status", "--porcelain") == ""
    with Reads(repo.path) as reads:
        assert reads.head() == Head("main", repo.sha(), operation)


def test_heads_that_are_detached_elsewhere_or_unborn(repo, tmp_path):
    repo.git("checkout", "-q", "-b", "feature/x")
    with Reads(repo.path) as reads:
        assert reads.head() == Head("feature/x", repo.sha())
        repo.git("checkout", "-q", "--detach")
        assert reads.head() == Head(None, repo.sha())
    empty = Repo(tmp_path / "empty")
    empty.path.mkdir()
    empty.git("init", "-q", "-b", "main")
    with Reads(empty.path) as reads:
        assert reads.head() == Head("main", None)
        assert reads.status().clean


def test_a_chain_is_everything_between_oldest_first(repo):
    base = repo.sha()
    made = [repo.commit({"system/a.md": f"{n}\n"}, f"commit {n}") for n in range(5)]
    with Reads(repo.path) as reads:
        chain = reads.chain(base, made[-1])
        assert chain is not None
        assert [c.sha for c in chain] == made
        assert chain[0].parents == (base,)
        assert chain[0].message == "commit 0\n"
        assert reads.chain(base, base) == ()


def test_a_rewritten_history_has_no_chain(repo):
    base = repo.sha()
    repo.git("checkout", "-q", "--orphan", "elsewhere")
    tip = repo.commit({"system/a.md": "other\n"})
    with Reads(repo.path) as reads:
        assert reads.chain(base, tip) is None
        assert reads.chain("0" * 40, tip) is None


def test_merged_in_commits_belong_to_the_chain(repo):
    base = repo.sha()
    side = repo.branch_with("side", {"system/s.md": "s\n"})
    repo.commit({"system/a.md": "two\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "m", "side")
    with Reads(repo.path) as reads:
        chain = reads.chain(base, repo.sha())
        assert chain is not None
        assert side in [c.sha for c in chain]
        assert len(chain[-1].parents) == 2


def test_ancestors_refs_and_revisions(repo):
    old = repo.sha()
    new = repo.commit({"system/a.md": "2\n"})
    with Reads(repo.path) as reads:
        assert reads.is_ancestor(old, new)
        assert reads.is_ancestor(new, new)
        assert not reads.is_ancestor(new, old)
        assert reads.resolve("main") == reads.resolve("HEAD") == reads.resolve(new[:10]) == new
        assert reads.resolve("refs/heads/none") is None
        assert reads.resolve("main^{nonsense") is None
        with pytest.raises(NotFoundError):
            reads.commit("1" * 40)
        with pytest.raises(GitError):
            reads.is_ancestor("1" * 40, new)


def test_untracked_files_are_seen_whatever_the_settings_say(repo):
    repo.git("config", "status.showUntrackedFiles", "no")
    repo.write({".gitignore": "state/\n", "system/größe x.md": "g\n", "state/own.txt": "o\n"})
    repo.write({"system/a.md": "changed\n", "system/b.md": "staged\n"})
    repo.git("add", "system/b.md")
    with Reads(repo.path) as reads:
        status = reads.status()
        assert status.untracked == (".gitignore", "system/größe x.md")
        assert (status.staged, status.unstaged) == (("system/b.md",), ("system/a.md",))
        assert not status.clean
        assert reads.status_and_ignored()[1] == ("state/",)


def test_the_trailer_must_be_exact_on_a_merge_and_in_the_last_paragraph(repo):
    base = repo.sha()
    repo.commit({"system/a.md": "later\n"})

    def merged(message: str) -> str:
        made: str = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", base, "-m", message)
        repo.git("reset", "-q", "--hard", made)
        return made

    wanted = merged(f"m\n\nReflector-Run: {RUN}\nTrigger: manual")
    merged(f"m\n\nReflector-Run: {RUN}9")
    merged(f"Reflector-Run: {RUN}\n\nquoted above the trailers")
    repo.commit({}, f"m\n\nReflector-Run: {RUN}")
    with Reads(repo.path) as reads:
        found = reads.find_trailer(repo.sha(), "Reflector-Run", RUN, since=base)
        assert found is not None
        assert found.sha == wanted
        assert reads.find_trailer(repo.sha(), "Reflector-Run", RUN, since=wanted) is None
        assert [c.sha for c in reads.log(repo.sha(), limit=2)] == repo.git(
            "rev-list", "-2", "HEAD"
        ).split()


def test_a_tree_is_read_through_the_handle(repo):
    repo.commit({"system/ein größer.md": "text\n"})
    with Reads(repo.path) as reads:
        root = {row.name: row for row in reads.listing(reads.commit(repo.sha()).tree)}
        (folder,) = (row for name, row in root.items() if name == "system")
        files = {row.name: row for row in reads.listing(folder.oid)}
        assert set(files) == {"a.md", "b.md", "ein größer.md"}
        row = files["ein größer.md"]
        assert (row.mode, reads.size(row.oid), reads.content(row.oid)) == (0o100644, 5, b"text\n")
        assert reads.file(repo.sha(), "system/none.md") is None
        assert reads.tree(repo.sha()) is not None


def test_the_difference_reads_like_gits(repo):
    old = repo.sha()
    new = repo.commit({"system/a.md": "two\n", "system/c.md": "c\n"})
    with Reads(repo.path) as reads:
        text = reads.diff_text(old, new)
        assert "-one\n+two\n" in text
        assert reads.changed(old, new) == ("system/a.md", "system/c.md")
        assert reads.diff_text(old, old) == ""


def test_everything_below_the_memory_folders_is_committed(repo, tree):
    base = tree.sha()
    (tree.path / "system/b.md").unlink()
    tree.write({"system/a.md": "two\n", "system/deep/größe.md": "g\n", "README.md": "r\n"})
    tree.write({"scratch.txt": "s\n", "systemic/x.md": "x\n"})
    tip = _commit(repo, tree, base)
    assert tree.sha() == tip == repo.sha("memory/x")
    assert tree.git("log", "-1", "--format=%P %s") == f"{base} fix: x"
    listed = tree.git("-c", "core.quotepath=false", "ls-tree", "-r", "--name-only", tip)
    assert listed.split() == ["README.md", "system/a.md", "system/deep/größe.md"]
    assert tree.git("status", "--porcelain", "-uall").split() == [
        "??", "scratch.txt", "??", "systemic/x.md",
    ]  # fmt: skip
    repo.assert_sound()


def test_a_repaired_commit_replaces_the_first_one(repo, tree):
    base = tree.sha()
    tree.write({"system/a.md": "a secret\n"})
    first = _commit(repo, tree, base)
    tree.write({"system/a.md": "no secret\n"})
    tip = _commit(repo, tree, first, amend=True)
    assert tree.git("log", "-1", "--format=%P") == base
    assert repo.git("rev-list", f"{base}..memory/x") == tip


def test_nothing_changed_makes_no_commit(repo, tree):
    tree.write({"scratch.txt": "s\n"})
    assert _commit(repo, tree, tree.sha()) == repo.sha("memory/x")


def test_a_worktree_that_is_elsewhere_is_not_committed(repo, tree):
    base = tree.sha()
    tree.git("checkout", "-q", "-b", "other")
    tree.write({"system/a.md": "two\n"})
    with pytest.raises(RefMovedError, match="other"):
        _commit(repo, tree, base)
    assert repo.sha("memory/x") == repo.sha("other") == base
    assert tree.git("diff", "--cached") == ""


def test_a_branch_that_moved_is_not_committed_over(repo, tree):
    base = tree.sha()
    moved = tree.commit({"system/a.md": "by another\n"})
    tree.write({"system/a.md": "two\n"})
    with pytest.raises(RefMovedError):
        _commit(repo, tree, base)
    assert repo.sha("memory/x") == moved


def test_a_plan_writes_objects_and_nothing_else(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/ein Wort.md": "w\n", "system/a.md": "1\n"})
    ours = repo.commit({"system/b.md": "2\n"})
    before, refs = repo.everything(), repo.git("for-each-ref")
    with Reads(repo.path) as reads:
        plan = reads.plan_merge(ours, tip)
        assert plan.changed == ("system/a.md", "system/ein Wort.md")
        assert plan.tree is not None
        same = reads.plan_merge(base, tip)
        assert same.tree == reads.commit(tip).tree
    assert (repo.everything(), repo.git("for-each-ref")) == (before, refs)
    repo.git("merge", "-q", "--no-ff", "-m", "the judge", "memory/x")
    assert repo.git("rev-parse", "HEAD^{tree}") == plan.tree
