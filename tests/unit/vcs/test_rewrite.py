"""A history written anew is the same history without what was taken out, as git itself tells."""

from __future__ import annotations

import pytest

from reflector.core.needle import passages
from reflector.memory.purge import Purge
from reflector.vcs.objects import Objects
from reflector.vcs.rewrite import Rewriter
from tests.support.repos import Repo, fresh

SECRET = "Falcon"
PURGE = Purge(passages([SECRET]))


@pytest.fixture
def repo(tmp_path) -> Repo:
    """A clean commit, one that brings it, a merge of a branch that has it, one that drops it."""
    made = fresh(tmp_path / "memory", {"a.md": "one\n", "folder/deep/b.md": "b\n"})
    made.commit({"a.md": f"one\n{SECRET} two\nthree\n"}, f"fix(x): say {SECRET}\n\nkept\n")
    made.git("checkout", "-q", "-b", "side")
    made.commit({"only.md": f"{SECRET}\n", "c.md": "c\n"}, "on the side")
    made.git("checkout", "-q", "main")
    made.commit({"folder/deep/b.md": "b\nmore\n"}, "on main")
    made.git("merge", "-q", "--no-ff", "-m", "merge(x): y\n\nReflector-Run: r\n", "side")
    made.commit({"a.md": "one\nthree\n"}, "dropped again")
    return made


def _rewrite(repo: Repo, purge: Purge = PURGE) -> tuple[str, dict[str, str]]:
    with Objects(repo.path) as objects, objects.in_bulk():
        rewriter = Rewriter(objects, purge)
        new = rewriter.target(repo.sha())
    return new, rewriter.commits


def test_no_object_of_the_new_history_holds_it(repo):
    new, _ = _rewrite(repo)
    for line in repo.git("rev-list", "--objects", new).splitlines():
        oid, _, name = line.partition(" ")
        assert SECRET not in repo.git("cat-file", "-p", oid) + name
    repo.git("update-ref", "refs/heads/new", new)
    repo.assert_sound()


def test_shape_dates_authors_and_the_rest_of_every_message_stay(repo):
    new, commits = _rewrite(repo)
    old_log = repo.git("log", "--topo-order", "--format=%an|%at|%cn|%ct|%b", "HEAD")
    assert repo.git("log", "--topo-order", "--format=%an|%at|%cn|%ct|%b", new) == old_log
    old_shape = [line.split() for line in repo.git("rev-list", "--parents", "HEAD").splitlines()]
    new_shape = set(repo.git("rev-list", "--parents", new).splitlines())
    assert {" ".join(commits[sha] for sha in row) for row in old_shape} == new_shape
    assert "Reflector-Run: r" in repo.git("log", "--merges", "-1", "--format=%B", new)


def test_commits_before_it_keep_their_ids(repo):
    _, commits = _rewrite(repo)
    root = repo.git("rev-list", "--max-parents=0", "HEAD")
    assert commits[root] == root
    assert len({old for old, new in commits.items() if old != new}) == 5


def test_the_same_history_gives_the_same_ids_and_a_clean_one_its_own(repo):
    new, _ = _rewrite(repo)
    assert _rewrite(repo)[0] == new
    repo.git("update-ref", "refs/heads/main", new)
    assert _rewrite(repo)[0] == new


def test_only_files_that_held_it_differ(repo):
    _, commits = _rewrite(repo)
    for old, new in commits.items():
        if old != new:
            assert set(repo.git("diff", "--name-only", old, new).splitlines()) <= {
                "a.md",
                "only.md",
            }


def test_a_folder_that_loses_its_last_file_goes_with_it(repo):
    new, _ = _rewrite(repo, Purge(passages([]), "folder/deep/b.md"))
    assert "folder" not in repo.git("ls-tree", "-r", "-t", "--name-only", new)


def test_an_annotated_tag_names_the_new_commit_and_loses_its_text(repo):
    repo.git("tag", "-a", "v1", "-m", f"{SECRET}\nnext\n")
    with Objects(repo.path) as objects, objects.in_bulk():
        rewriter = Rewriter(objects, PURGE)
        tag = rewriter.target(repo.sha("v1"))
        assert rewriter.target(tag) == tag
    assert SECRET not in repo.git("cat-file", "-p", tag)
    assert repo.git("rev-parse", f"{tag}^{{commit}}") == rewriter.commits[repo.sha()]


def test_a_signature_over_the_old_bytes_goes(repo):
    raw = repo.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN-----\n more\n -----END-----\n\n", 1
    )
    place = repo.path / ".git" / "raw"
    place.write_text(raw + "\n", "utf-8")
    signed = repo.git("hash-object", "-t", "commit", "-w", str(place))
    with Objects(repo.path) as objects:
        new = Rewriter(objects, PURGE).target(signed)
    assert "gpgsig" not in repo.git("cat-file", "commit", new)
    assert "dropped again" in repo.git("cat-file", "commit", new)


def test_a_long_history_needs_no_recursion(tmp_path):
    repo = fresh(tmp_path / "memory", {"a.md": f"{SECRET}\n"})
    feed = b"".join(
        b"commit refs/heads/long\ncommitter A <a@b> %d +0000\ndata 1\nx\n%s\n" % (n, start)
        for n, start in ((n, b"from refs/heads/main" if n == 1 else b"") for n in range(1, 1201))
    )
    place = tmp_path / "feed"
    place.write_bytes(feed)
    import subprocess

    with place.open("rb") as stream:
        subprocess.run(["git", "fast-import", "--quiet"], cwd=repo.path, stdin=stream, check=True)
    with Objects(repo.path) as objects, objects.in_bulk():
        rewriter = Rewriter(objects, PURGE)
        new = rewriter.target(repo.sha("long"))
    assert repo.git("rev-list", "--count", new) == "1201"


def test_every_object_is_seen_packed_and_loose(repo):
    repo.git("repack", "-q", "-a", "-d")
    repo.commit({"late.md": "late\n"})
    wanted = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    with Objects(repo.path) as objects:
        assert sorted(objects) == sorted(wanted)
        kind, content = objects.read(repo.sha())
    assert kind == "commit"
    assert content.decode().rstrip("\n") == repo.git("cat-file", "commit", "HEAD")


def test_a_link_that_points_to_it_goes_as_a_whole(repo):
    (repo.path / "system").mkdir()
    (repo.path / "system/link.md").symlink_to(f"{SECRET}/x")
    (repo.path / "system/fine.md").symlink_to("x")
    repo.commit({})
    new, _ = _rewrite(repo)
    assert repo.git("ls-tree", "--name-only", new, "system/") == "system/fine.md"
