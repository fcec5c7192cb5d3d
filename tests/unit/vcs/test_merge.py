"""A branch brought home, judged by the git command line."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import RefMovedError
from reflector.vcs import index_lock, merge
from reflector.vcs.merge import Integrated, Integration, Refused, Step, Undo
from reflector.vcs.reads import Reads
from tests.support.repos import RUN, TOKEN, Repo, bringing, door, fresh

Walk = Generator[Step, None, Integrated | Refused]


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "memory")


def _no_sleep(_seconds: float) -> None:
    raise AssertionError("nothing to wait for")


def _integrate(repo: Repo, job: Integration, **named: Any) -> Integrated | Refused:
    given: dict[str, Any] = {"save_merge": lambda _: None, "sleep": _no_sleep}
    return merge.integrate(door(repo), job, **(given | named))


def _leftovers(repo: Repo) -> list[str]:
    return [
        f.name for f in (repo.path / ".git").iterdir() if "lock" in f.name or "reflector" in f.name
    ]


def _refused(result: Integrated | Refused, kind: str) -> Refused:
    assert isinstance(result, Refused), result
    assert result.kind == kind
    return result


def test_a_clean_merge_has_two_parents_and_the_files_follow(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n", "system/new.md": "n\n"})
    saved: list[str] = []
    result = _integrate(repo, bringing(base, tip), save_merge=saved.append)
    assert isinstance(result, Integrated)
    assert saved == [result.sha] == [repo.sha("main")]
    assert result.changed == ("system/a.md", "system/new.md")
    assert repo.git("log", "-1", "--format=%P") == f"{base} {tip}"
    assert (repo.path / "system/a.md").read_text() == "two\n"
    assert repo.status() == ""
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert _leftovers(repo) == []
    repo.assert_sound()


def test_main_that_moved_without_a_conflict_is_merged_too(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    ours = repo.commit({"system/b.md": "by hand\n"})
    asked: list[tuple[str, ...]] = []

    def judge(*given: str) -> tuple[str, ...]:
        asked.append(given)
        return ()

    result = _integrate(repo, bringing(base, tip), judge=judge)
    assert isinstance(result, Integrated)
    assert asked == [(ours, repo.git("rev-parse", "main^{tree}"))]
    assert repo.git("log", "-1", "--format=%P") == f"{ours} {tip}"
    assert (repo.path / "system/a.md").read_text() == "two\n"
    assert (repo.path / "system/b.md").read_text() == "by hand\n"
    assert repo.status() == ""


def test_the_judge_is_not_asked_when_main_has_not_moved(repo):
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    result = _integrate(repo, bringing(repo.sha(), tip), judge=lambda *_: ["must not be asked"])
    assert isinstance(result, Integrated)


def test_a_merged_tree_that_the_judge_refuses_is_a_conflict(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    repo.commit({"system/b.md": "by hand\n"})
    before = repo.everything()
    result = _integrate(repo, bringing(base, tip), judge=lambda *_: ["a rule is broken"])
    assert "a rule is broken" in _refused(result, "merge_conflict").detail
    assert repo.everything() == before


def test_a_conflict_names_the_files_and_leaves_everything_untouched(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "theirs\n"})
    repo.commit({"system/a.md": "ours\n"})
    before = repo.everything()
    result = _integrate(repo, bringing(base, tip))
    assert _refused(result, "merge_conflict").paths == ("system/a.md",)
    assert repo.everything() == before
    assert _leftovers(repo) == []


def test_main_reset_to_before_the_base_is_a_conflict_that_says_so(repo):
    old = repo.sha()
    base = repo.commit({"system/a.md": "middle\n"})
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    repo.git("reset", "-q", "--hard", old)
    before = repo.everything()
    result = _integrate(repo, bringing(base, tip))
    assert "base" in _refused(result, "merge_conflict").detail
    assert repo.everything() == before


def test_unrelated_staged_unstaged_and_untracked_work_stays_byte_for_byte(repo):
    repo.commit({"system/c.md": "c\n", "notes.txt": "n\n"})
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    repo.write({"system/b.md": "staged\n"})
    repo.git("add", "system/b.md")
    repo.write(
        {"system/b.md": "and edited again\n", "system/c.md": "edited\n", "own.txt": "mine\n"}
    )
    repo.git("rm", "-q", "--cached", "notes.txt")
    before, entries = repo.status(), repo.git("diff", "--cached")
    assert isinstance(_integrate(repo, bringing(base, tip)), Integrated)
    assert repo.status() == before
    assert repo.git("diff", "--cached") == entries
    assert (repo.path / "system/b.md").read_text() == "and edited again\n"
    assert (repo.path / "system/c.md").read_text() == "edited\n"
    assert (repo.path / "own.txt").read_text() == "mine\n"
    assert (repo.path / "system/a.md").read_text() == "two\n"


def _stage(repo: Repo) -> None:
    repo.write({"system/a.md": "mine\n"})
    repo.git("add", "system/a.md")


@pytest.mark.parametrize(
    ("meddle", "path"),
    [
        (lambda repo: repo.write({"system/a.md": "mine\n"}), "system/a.md"),
        (_stage, "system/a.md"),
        (lambda repo: (repo.path / "system/a.md").unlink(), "system/a.md"),
        (lambda repo: repo.git("rm", "-q", "--cached", "system/a.md"), "system/a.md"),
        (lambda repo: repo.write({"system/new.md": "mine\n"}), "system/new.md"),
        (lambda repo: repo.write({"system/new.md": "new\n"}), "system/new.md"),
        (lambda repo: repo.write({"system/new.md/inner": "mine\n"}), "system/new.md"),
        (lambda repo: repo.write({"deep": "a file where a folder must be\n"}), "deep/er/f.md"),
        (lambda repo: (repo.path / "deep").symlink_to("/tmp"), "deep/er/f.md"),
    ],
)
def test_work_on_a_path_that_the_merge_changes_refuses(repo, meddle, path):
    base = repo.sha()
    files = {"system/a.md": "two\n", "system/new.md": "new\n", "deep/er/f.md": "f\n"}
    tip = repo.branch_with("memory/x", files)
    meddle(repo)
    before = repo.everything()
    assert path in _refused(_integrate(repo, bringing(base, tip)), "parent_dirty").paths
    assert repo.everything() == before
    assert _leftovers(repo) == []


def test_an_ignored_file_in_the_way_refuses_and_survives(repo):
    repo.commit({".gitignore": "system/new.md\n"})
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/new.md": "new\n"})
    repo.write({"system/new.md": "ignored but mine\n"})
    assert _refused(_integrate(repo, bringing(base, tip)), "parent_dirty").paths == (
        "system/new.md",
    )
    assert (repo.path / "system/new.md").read_text() == "ignored but mine\n"


def test_a_file_saved_again_without_a_change_is_not_in_the_way(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    os.utime(repo.path / "system/a.md", (1, 1))
    assert isinstance(_integrate(repo, bringing(base, tip)), Integrated)
    assert repo.status() == ""


def test_an_edit_hidden_by_assume_unchanged_is_not_overwritten(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    repo.git("update-index", "--assume-unchanged", "system/a.md")
    repo.write({"system/a.md": "mine\n"})
    _refused(_integrate(repo, bringing(base, tip)), "parent_dirty")
    assert (repo.path / "system/a.md").read_text() == "mine\n"


def test_an_edit_of_the_same_size_and_time_is_not_overwritten(repo):
    """Git trusts a file's times unless they are as young as the index itself."""
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    place = repo.path / "system/a.md"
    stamp = place.stat().st_mtime_ns
    place.write_text("won\n")
    os.utime(place, ns=(stamp, stamp))
    os.utime(repo.path / ".git/index", ns=(stamp, stamp))
    _refused(_integrate(repo, bringing(base, tip)), "parent_dirty")
    assert place.read_text() == "won\n"


def test_names_with_spaces_and_other_letters_and_emptied_folders(repo):
    repo.commit({"system/ein Wort/größe.md": "g\n", "gone/only.md": "o\n", "flip/x.md": "x\n"})
    base = repo.sha()
    changes = {
        "system/ein Wort/größe.md": "größer\n",
        'system/quo"te.md': "q\n",
        "gone/only.md": None,
        "flip/x.md": None,
        "flip": "now a file\n",
    }
    tip = repo.branch_with("memory/x", changes)
    result = _integrate(repo, bringing(base, tip))
    assert isinstance(result, Integrated), result
    assert set(result.changed) == set(changes)
    assert not (repo.path / "gone").exists()
    assert (repo.path / "flip").read_text() == "now a file\n"
    assert (repo.path / "system/ein Wort/größe.md").read_text() == "größer\n"
    assert repo.status() == ""
    repo.assert_sound()


def test_readable_paths_are_named_when_they_are_dirty(repo):
    repo.commit({"system/ein Wort/größe.md": "g\n"})
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/ein Wort/größe.md": "größer\n"})
    repo.write({"system/ein Wort/größe.md": "mine\n"})
    result = _refused(_integrate(repo, bringing(base, tip)), "parent_dirty")
    assert result.paths == ("system/ein Wort/größe.md",)


@pytest.mark.parametrize(
    "meddle",
    [
        lambda repo: repo.git("checkout", "-q", "--detach"),
        lambda repo: repo.git("checkout", "-q", "-b", "other"),
        lambda repo: repo.git("update-ref", "MERGE_HEAD", "HEAD"),
        lambda repo: (repo.path / ".git/rebase-merge").mkdir(),
        lambda repo: repo.git("update-ref", "CHERRY_PICK_HEAD", "HEAD"),
        lambda repo: repo.git("update-ref", "REVERT_HEAD", "HEAD"),
        lambda repo: repo.git("bisect", "start"),
    ],
)
def test_a_parent_in_the_middle_of_something_is_left_alone(repo, meddle):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    meddle(repo)
    before = repo.everything()
    _refused(_integrate(repo, bringing(base, tip)), "parent_dirty")
    assert repo.everything() == before


def test_a_foreign_index_lock_is_waited_for_and_then_respected(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    lock = repo.path / ".git/index.lock"
    lock.write_bytes(b"")
    slept: list[float] = []
    result = _refused(_integrate(repo, bringing(base, tip), sleep=slept.append), "parent_dirty")
    assert "index.lock" in result.detail
    assert 4.9 < sum(slept) < 5.2
    assert lock.read_bytes() == b""
    assert repo.sha("main") == base


def test_a_foreign_index_lock_that_goes_away_delays_only_and_its_commit_counts(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    lock = repo.path / ".git/index.lock"
    lock.write_bytes(b"")

    def the_other_git_finishes(_seconds: float) -> None:
        lock.unlink(missing_ok=True)
        repo.commit({"system/b.md": "meanwhile\n"})

    result = _integrate(repo, bringing(base, tip), sleep=the_other_git_finishes)
    assert isinstance(result, Integrated)
    assert (repo.path / "system/b.md").read_text() == "meanwhile\n"
    assert (repo.path / "system/a.md").read_text() == "two\n"
    assert repo.status() == ""


def test_main_that_moves_at_the_last_moment_is_not_overrun(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    other = repo.branch_with("other", {"system/b.md": "pushed\n"})
    before = repo.everything() | {"<HEAD>": other.encode()}
    with pytest.raises(RefMovedError):
        _integrate(
            repo,
            bringing(base, tip),
            save_merge=lambda _: repo.git("update-ref", "refs/heads/main", other),
        )
    assert repo.everything() == before
    assert _leftovers(repo) == []


def _walk(repo: Repo, job: Integration, until: str) -> Walk:
    walk = merge.steps(door(repo), job, save_merge=lambda _: None, sleep=_no_sleep)
    for step in walk:
        if step == until:
            return walk
    raise AssertionError(f"{until} never came")


@pytest.mark.parametrize("step", ["locked", "checked", "saved", "moved", "followed"])
def test_a_person_cannot_commit_inside_the_window(repo, step):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    walk = _walk(repo, bringing(base, tip), step)
    refused = repo.attempt("commit", "-a", "--allow-empty", "-m", "mine")
    assert refused.returncode != 0
    assert "index.lock" in refused.stderr
    for _ in walk:
        pass
    assert (repo.path / "system/a.md").read_text() == "two\n"
    assert repo.status() == ""
    assert repo.attempt("commit", "--allow-empty", "-m", "mine").returncode == 0


@pytest.mark.parametrize("step", ["planned", "locked", "checked", "saved"])
def test_an_end_before_main_moves_leaves_nothing(repo, step):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    before = repo.everything()
    _walk(repo, bringing(base, tip), step).close()
    assert repo.everything() == before
    assert _leftovers(repo) == []


def test_a_failure_to_save_stops_before_main_moves(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})

    def disk_full(_sha: str) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        _integrate(repo, bringing(base, tip), save_merge=disk_full)
    assert repo.sha("main") == base
    assert _leftovers(repo) == []


def _dead_at(repo: Repo, job: Integration, step: str) -> None:
    """Run to a step in a process of its own that then dies at once."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            held = [_walk(repo, job, step)]  # dropped, it would be closed, and clean up
            code = len(held) - 1
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("step", ["locked", "checked", "saved"])
def test_a_death_before_main_moves_is_cleared_and_done_again(repo, step):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    job = bringing(base, tip)
    _dead_at(repo, job, step)
    assert index_lock.our_index_lock(repo.path / ".git", RUN, TOKEN)
    assert not index_lock.our_index_lock(repo.path / ".git", RUN, "another token")
    assert merge.landed(door(repo), job) is None
    index_lock.release(repo.path / ".git", RUN, "another token")
    assert (repo.path / ".git/index.lock").exists()
    index_lock.release(repo.path / ".git", RUN, TOKEN)
    assert _leftovers(repo) == []
    assert isinstance(_integrate(repo, job), Integrated)


@pytest.mark.parametrize("step", ["moved", "followed"])
def test_a_death_after_main_moved_is_finished(repo, step):
    repo.commit({"system/c.md": "c\n", "gone.md": "g\n"})
    base = repo.sha()
    files = {"system/a.md": "two\n", "system/b.md": "bb\n", "new/n.md": "n\n", "gone.md": None}
    tip = repo.branch_with("memory/x", files)
    repo.write({"system/c.md": "mine\n"})
    job = bringing(base, tip)
    _dead_at(repo, job, step)
    landed = merge.landed(door(repo), job)
    assert landed is not None
    assert landed == repo.sha("main") != base
    assert index_lock.our_index_lock(repo.path / ".git", RUN, TOKEN)
    assert isinstance(merge.finish_follow(door(repo), job, base, landed), Integrated)
    assert repo.status() == " M system/c.md"
    assert (repo.path / "system/c.md").read_text() == "mine\n"
    assert (repo.path / "new/n.md").read_text() == "n\n"
    assert _leftovers(repo) == []
    repo.assert_sound()


def test_files_that_were_written_before_the_death_are_not_taken_for_a_persons(repo):
    base = repo.sha()
    tip = repo.branch_with(
        "memory/x", {"system/a.md": "two\n", "system/b.md": "long\n" * 2000, "n": "n\n"}
    )
    job = bringing(base, tip)
    _dead_at(repo, job, "moved")
    repo.write({"system/a.md": "two\n", "system/b.md": "long\n" * 1000, "n": "n\n"})
    commit = repo.sha("main")
    assert isinstance(merge.finish_follow(door(repo), job, base, commit), Integrated)
    assert repo.status() == ""
    assert (repo.path / "system/b.md").read_text() == "long\n" * 2000


def test_a_persons_edit_after_the_death_moves_main_back_and_is_kept(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n", "system/b.md": "bb\n"})
    job = bringing(base, tip)
    _dead_at(repo, job, "moved")
    repo.write({"system/a.md": "mine\n", "system/b.md": "bb\n"})
    result = merge.finish_follow(door(repo), job, base, repo.sha("main"))
    _refused(result, "parent_dirty")
    assert repo.sha("main") == base
    assert repo.status() == " M system/a.md"
    assert (repo.path / "system/a.md").read_text() == "mine\n"
    assert (repo.path / "system/b.md").read_text() == "b\n"
    assert _leftovers(repo) == []


def test_an_edit_in_the_window_moves_main_back_and_is_kept(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n", "system/b.md": "bb\n"})
    walk = _walk(repo, bringing(base, tip), "moved")
    repo.write({"system/a.md": "mine\n"})
    with pytest.raises(StopIteration) as end:
        next(walk)
    _refused(end.value.value, "parent_dirty")
    assert repo.sha("main") == base
    assert repo.status() == " M system/a.md"
    assert _leftovers(repo) == []


def test_an_edit_in_the_window_that_looks_like_none_is_kept(repo):
    """Git trusts times older than the index: the copy must not look younger than its original."""
    repo.git("config", "core.trustctime", "false")
    repo.git("config", "core.checkStat", "minimal")
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    place = repo.path / "system/a.md"
    stamp = 1_700_000_000_000_000_000
    os.utime(place, ns=(stamp, stamp))
    repo.git("update-index", "--refresh")
    os.utime(repo.path / ".git/index", ns=(stamp, stamp))
    walk = _walk(repo, bringing(base, tip), "moved")
    place.write_text("won\n")
    os.utime(place, ns=(stamp, stamp))
    with pytest.raises(StopIteration) as end:
        next(walk)
    _refused(end.value.value, "parent_dirty")
    assert place.read_text() == "won\n"


def test_files_that_came_in_before_the_disk_was_full_are_taken_back(repo, monkeypatch):
    base = repo.sha()
    files = {"system/a.md": "two\n", "system/b.md": None, "new.md": "n\n", "other.md": "o\n"}
    tip = repo.branch_with("memory/x", files)
    before = repo.everything()
    link, asked = os.link, []

    def full(source: Path, target: Path, **named: Any) -> None:
        asked.append(target)
        if len(asked) == 2:
            raise OSError(28, "No space left on device")
        link(source, target, **named)

    monkeypatch.setattr(os, "link", full)
    result = _integrate(repo, bringing(base, tip))
    assert "No space left" in _refused(result, "parent_dirty").detail
    assert repo.everything() == before
    assert repo.sha("main") == base
    assert repo.status() == ""


def test_a_landed_merge_is_known_by_its_trailer_and_second_parent(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    job = bringing(base, tip)
    assert merge.landed(door(repo), job) is None
    result = _integrate(repo, job)
    assert isinstance(result, Integrated)
    repo.commit({"system/b.md": "later\n"}, f"not a receipt\n\nReflector-Run: {RUN}")
    assert merge.landed(door(repo), job) == result.sha


def test_a_receipt_without_the_tip_counts_for_nothing(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    other = repo.branch_with("memory/y", {"system/a.md": "three\n"})
    assert isinstance(_integrate(repo, bringing(base, other)), Integrated)
    assert merge.landed(door(repo), bringing(base, tip)) is None


def test_a_merge_is_undone_with_later_work_kept(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n", "system/new.md": "n\n"})
    done = _integrate(repo, bringing(base, tip))
    assert isinstance(done, Integrated)
    later = repo.commit({"system/b.md": "later\n"})
    undo = replace(
        bringing(base, tip), change=Undo(done.sha), message=f"undo\n\nReflector-Run: {RUN}"
    )
    result = _integrate(repo, undo)
    assert isinstance(result, Integrated)
    assert repo.git("log", "-1", "--format=%P") == later
    assert (repo.path / "system/a.md").read_text() == "one\n"
    assert (repo.path / "system/b.md").read_text() == "later\n"
    assert not (repo.path / "system/new.md").exists()
    assert merge.landed(door(repo), undo) == result.sha
    assert repo.status() == ""


def test_an_undo_that_later_work_rests_on_is_a_conflict(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    done = _integrate(repo, bringing(base, tip))
    assert isinstance(done, Integrated)
    repo.commit({"system/a.md": "three\n"})
    result = _integrate(repo, replace(bringing(base, tip), change=Undo(done.sha)))
    assert _refused(result, "merge_conflict").paths == ("system/a.md",)


def test_a_repository_without_an_index_is_left_alone(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"n.md": "n\n"})
    (repo.path / ".git/index").unlink()
    _refused(_integrate(repo, bringing(base, tip)), "parent_dirty")
    assert not (repo.path / ".git/index").exists()
    assert repo.sha("main") == base


def test_main_without_a_commit_is_a_conflict(repo):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"n.md": "n\n"})
    repo.git("update-ref", "-d", "refs/heads/main")
    _refused(_integrate(repo, bringing(base, tip)), "merge_conflict")
    with Reads(repo.path) as reads:
        assert reads.head().sha is None
