"""Real MEMORY.md files: found, read whatever lies there, and replaced without loss."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.errors import BusyError, DocumentError
from reflector.memory.short_memory import Unread
from reflector.store import short_memory
from reflector.store.short_memory import (
    Candidate,
    Reading,
    candidates,
    project_root,
    read,
    save,
    stamp,
)
from tests.support.cli import ROOT, git
from tests.support.ticks import ticked

NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "MEMORY.md"
    made.write_bytes(b"- [a] x\n")
    return made


def code(path: Path) -> str:
    content = read(str(path)).content
    assert isinstance(content, Unread), content
    return content.code


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# Where the files lie


def test_the_top_of_the_working_tree_is_the_project(tmp_path):
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    git(tmp_path / "repo", "init", "--quiet")
    assert project_root(str(inner)) == git(inner, "rev-parse", "--show-toplevel").strip()
    assert project_root(str(tmp_path)) == str(tmp_path)


def test_a_linked_worktree_is_a_project_of_its_own(tmp_path):
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet")
    git(repo, "commit", "--allow-empty", "--quiet", "-m", "first")
    git(repo, "worktree", "add", "--quiet", str(repo / "inside"))
    assert project_root(str(repo / "inside")) == str(repo / "inside")


def test_a_folder_that_is_only_called_git_is_no_top(tmp_path):
    (tmp_path / "repo" / "a" / ".git").mkdir(parents=True)
    git(tmp_path / "repo", "init", "--quiet")
    assert project_root(str(tmp_path / "repo" / "a")) == str(tmp_path / "repo")


def test_a_session_that_starts_behind_a_link_has_the_real_project(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    git(real, "init", "--quiet")
    (tmp_path / "link").symlink_to(real)
    assert project_root(str(tmp_path / "link")) == str(real)


@pytest.mark.parametrize("start", ["relative", "/a\0b", ".", "/" + "x" * 5000])
def test_an_odd_starting_directory_does_no_harm(tmp_path, start):
    found = candidates(tmp_path, str(tmp_path), start)
    assert found[0] == Candidate("user", f"{tmp_path}/MEMORY.md")


def test_a_starting_directory_that_is_gone_is_its_own_project(tmp_path):
    assert project_root(str(tmp_path / "gone")) == str(tmp_path / "gone")


def test_the_root_of_the_file_system_is_a_project_too(tmp_path):
    assert candidates(tmp_path, str(tmp_path), "/")[1].path == "/.reflector/MEMORY.md"


def test_a_session_without_a_directory_has_the_user_file_alone(tmp_path):
    assert candidates(tmp_path, str(tmp_path), None) == candidates(tmp_path, str(tmp_path), "")
    assert len(candidates(tmp_path, str(tmp_path), None)) == 1


def test_a_session_in_the_folder_of_the_home_has_the_user_file_alone(tmp_path):
    home = tmp_path / ".reflector"
    home.mkdir()
    assert [one.scope for one in candidates(home, str(home), str(tmp_path))] == ["user"]
    moved = tmp_path / "elsewhere"
    home.rename(moved)
    home.symlink_to(moved)
    found = candidates(moved, str(home), str(tmp_path))
    assert found == (Candidate("user", f"{moved}/MEMORY.md"),)


def test_the_folder_of_another_home_is_a_project_like_any_other(tmp_path):
    home = tmp_path / "chosen"
    found = candidates(home, str(tmp_path / ".reflector"), str(tmp_path))
    assert [one.scope for one in found] == ["user", "project"]


def test_a_project_of_another_place_with_the_same_folder_name_has_both(tmp_path):
    project = tmp_path / "p"
    project.mkdir()
    home = tmp_path / ".reflector"
    found = candidates(home, str(home), str(project))
    assert found[1] == Candidate("project", f"{project}/.reflector/MEMORY.md", str(project))


# What is read


def test_a_file_is_read_and_known_by_its_inode(file):
    found = file.stat()
    assert read(str(file)) == Reading("- [a] x\n", (found.st_dev, found.st_ino))


@pytest.mark.parametrize("name", ["MEMORY.md", "gone/MEMORY.md"])
def test_what_is_missing_anywhere_is_absent_without_a_word(tmp_path, name):
    assert read(str(tmp_path / name)) == Reading(None)


def test_a_link_to_nowhere_is_absent(tmp_path):
    link = tmp_path / "MEMORY.md"
    link.symlink_to(tmp_path / "gone")
    assert read(str(link)) == Reading(None)


def test_links_are_followed_to_the_file_and_two_names_are_one(tmp_path, file):
    folder = tmp_path / "link"
    folder.symlink_to(tmp_path)
    (tmp_path / "other").symlink_to("link/MEMORY.md")
    (tmp_path / "hard").hardlink_to(file)
    assert read(str(tmp_path / "other")) == read(str(file)) == read(str(tmp_path / "hard"))


def test_links_in_a_circle_are_told(tmp_path):
    link = tmp_path / "MEMORY.md"
    link.symlink_to(link)
    assert code(link) == "unreadable"


def test_a_file_where_a_folder_should_be_is_told(file):
    assert code(file / "MEMORY.md") == "unreadable"


def test_a_folder_is_no_file(tmp_path):
    assert code(tmp_path) == "not_a_file"


def test_a_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "MEMORY.md"
    os.mkfifo(pipe)
    assert code(pipe) == "not_a_file"


@pytest.mark.timeout(30)
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, file, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    real = os.open

    def swapping(path, flags, *rest, **options):
        pipe.replace(file)
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", swapping)
    assert code(file) == "not_a_file"


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(tmp_path, file, monkeypatch):
    real = os.open
    (tmp_path / "secret").write_text("secret")

    def swapping(path, flags, *rest, **options):
        file.unlink()
        file.symlink_to(tmp_path / "secret")
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", swapping)
    assert code(file) == "unreadable"


def test_a_socket_and_a_device_are_no_files(monkeypatch):
    folder = Path(tempfile.mkdtemp(prefix="rs-", dir="/tmp"))
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("MEMORY.md")
        assert code(folder / "MEMORY.md") == "not_a_file"
    shutil.rmtree(folder)
    assert code(Path("/dev/null")) == "not_a_file"


def test_64_kib_are_read_and_one_byte_more_is_not(file):
    file.write_bytes(b"\n" * 65_536)
    assert read(str(file)).content == "\n" * 65_536
    file.write_bytes(b"\n" * 65_537)
    assert code(file) == "file_too_large"


def test_a_file_that_hides_its_size_is_stopped_at_the_limit(file, monkeypatch):
    real = os.fstat
    file.write_bytes(b"\n" * 65_537)

    def hiding(descriptor):
        found = list(real(descriptor))
        found[stat.ST_SIZE] = 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", hiding)
    assert code(file) == "file_too_large"


@pytest.mark.parametrize("sort", ["grows", "shrinks", "same size"])
def test_a_file_that_changes_while_it_is_read_is_told(file, monkeypatch, sort):
    real = short_memory._at_most
    new = {"grows": b"- [a] x\n- [b] y\n", "shrinks": b"", "same size": b"- [a] y\n"}[sort]
    before = file.stat()

    def changing(descriptor, limit):
        raw = real(descriptor, limit)
        ticked(file)
        file.write_bytes(new)
        # An mtime can be set back by anybody, a ctime by nobody.
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return raw

    monkeypatch.setattr(short_memory, "_at_most", changing)
    assert code(file) == "changed_while_reading"


@pytest.mark.parametrize(
    ("raw", "byte"),
    [(b"- [a] \xff", 7), (b"\xed\xa0\x80", 1), (b"- [a] x\xc3", 8), (b"\xc0\x80", 1)],
)
def test_what_is_not_utf8_is_told_with_its_place(file, raw, byte):
    file.write_bytes(raw)
    assert read(str(file)).content == Unread("not_utf8", f"byte {byte} is no UTF-8")


def test_nothing_about_the_text_is_changed_by_reading(file):
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\x00")
    assert read(str(file)).content == "\ufeffa\r\nb\rc\0"


@pytest.fixture
def reachable() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="reflector-short-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(code_: str, *words: str) -> str:
    """Run code as a user without any right; the module is imported before the rights go."""
    start = "import os, sys\nfrom reflector.store import short_memory as it\n"
    drop = f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    if os.geteuid() != 0:
        drop = ""
    done = subprocess.run(
        [sys.executable, "-c", start + drop + code_, *words],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_file_without_permission_is_told_and_not_taken_for_absent(reachable, closed):
    folder = reachable / ".reflector"
    folder.mkdir()
    file = folder / "MEMORY.md"
    file.write_text("- [a] x")
    (file if closed == "file" else folder).chmod(0)
    told = as_nobody("print(it.read(sys.argv[1]).content)", str(file))
    folder.chmod(0o700)
    assert told == "Unread(code='unreadable', detail='permission denied')"


# The stamp


def test_a_stamp_is_one_line_of_path_device_inode_size_and_times(file):
    found = file.stat()
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
    line = f"{json.dumps(str(file))} {found.st_dev} {found.st_ino} 8 {times}"
    assert stamp(Candidate("user", str(file))) == line
    odd = str(file.parent / "a\n\x1b é")
    assert stamp(Candidate("user", odd)) == f"{json.dumps(odd)} absent"


def test_a_stamp_changes_with_the_file_the_link_and_the_permission(tmp_path, file):
    link = tmp_path / "link"
    link.symlink_to(file)
    seen = [stamp(Candidate("user", str(link)))]

    def look():
        seen.append(stamp(Candidate("user", str(link))))
        assert len(set(seen)) == len(seen)

    ticked(file)
    file.write_bytes(b"- [a] y\n")
    look()
    ticked(file)
    file.chmod(0o600)
    look()
    other = tmp_path / "other"
    shutil.copy2(file, other)
    link.unlink()
    link.symlink_to(other)
    look()
    other.unlink()
    look()
    link.unlink()
    link.symlink_to(link)
    look()


# What is written


def test_a_folder_that_a_link_leads_to_is_not_made(tmp_path):
    (tmp_path / "MEMORY.md").symlink_to(tmp_path / "unmounted" / "MEMORY.md")
    (tmp_path / ".reflector").symlink_to(tmp_path / "unmounted")
    for path in (tmp_path / "MEMORY.md", tmp_path / ".reflector" / "MEMORY.md"):
        with pytest.raises(DocumentError, match="cannot be written: no such file"):
            save(str(path), b"new", read(str(path)))
    assert names(tmp_path) == [".reflector", "MEMORY.md"]


def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it(file):
    file.chmod(0o640)
    save(str(file), b"new", read(str(file)))
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(file.parent) == ["MEMORY.md"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "notes").mkdir()
    target = tmp_path / "notes" / "mine.md"
    target.write_bytes(b"old")
    link = tmp_path / "MEMORY.md"
    link.symlink_to("notes/mine.md")
    save(str(link), b"new", read(str(link)))
    assert (link.readlink(), target.read_bytes()) == (Path("notes/mine.md"), b"new")
    target.unlink()
    save(str(link), b"again", read(str(link)))
    assert (link.readlink(), target.read_bytes()) == (Path("notes/mine.md"), b"again")


def test_a_new_file_is_the_persons_alone_and_gets_its_folder(tmp_path):
    path = tmp_path / ".reflector" / "MEMORY.md"
    save(str(path), b"new", read(str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(path.parent) == ["MEMORY.md"]


@pytest.mark.parametrize("was", ["absent", "there"])
def test_what_somebody_else_wrote_meanwhile_stays(tmp_path, was):
    path = tmp_path / "MEMORY.md"
    if was == "there":
        path.write_bytes(b"first")
    found = read(str(path))
    path.write_bytes(b"other")
    with pytest.raises(BusyError, match="somebody else"):
        save(str(path), b"new", found)
    assert path.read_bytes() == b"other"
    assert names(tmp_path) == ["MEMORY.md"]


def test_hard_links_are_not_parted(file):
    other = file.with_name("other")
    other.hardlink_to(file)
    with pytest.raises(DocumentError, match="2 hard links"):
        save(str(file), b"new", read(str(file)))
    assert other.samefile(file)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "gone" / ".reflector" / "MEMORY.md"
    with pytest.raises(DocumentError, match="cannot be written: no such file or directory"):
        save(str(path), b"new", read(str(path)))
    assert not path.parent.parent.exists()


def test_a_process_that_died_while_writing_does_not_stop_the_next(file):
    file.with_name(f".MEMORY.md.{os.getpid()}.tmp").write_bytes(b"half")
    save(str(file), b"new", read(str(file)))
    assert names(file.parent) == ["MEMORY.md"]


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_changes_nothing(tmp_path, file, monkeypatch, there):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = file if there else tmp_path / "other" / "MEMORY.md"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DocumentError, match="cannot be written: no space left on device"):
        save(str(path), b"new", read(str(path)))
    assert names(path.parent) == (["MEMORY.md"] if there else [])
    assert file.read_bytes() == b"- [a] x\n"


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_what_may_not_be_written_is_refused_and_stays(reachable, closed):
    file = reachable / "MEMORY.md"
    file.write_text("old")
    owner = os.geteuid() or NOBODY
    for each in (reachable, file):
        os.chown(each, owner, -1)
    file.chmod(0o444 if closed == "file" else 0o644)
    reachable.chmod(0o555 if closed == "folder" else 0o755)
    code_ = """
try:
    it.save(sys.argv[1], b'new', it.read(sys.argv[1]))
except it.DocumentError as error:
    print(error.message)
"""
    assert as_nobody(code_, str(file)).endswith("cannot be written: permission denied.")
    assert names(reachable) == ["MEMORY.md"]
    assert file.read_text() == "old"
