"""A home is ours, local and a folder, or it is refused; files are replaced whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import HomeError
from reflector.store import disk
from reflector.store.disk import (
    Home,
    make_folder,
    network_file_system,
    open_home,
    read_regular,
    slug,
    write_atomic,
)
from tests.support.journals import ROOT, ended, heard, python, tmpfs

NOBODY = 65_534
ANY = st.text(st.characters(), max_size=80)
_ROOTED = st.sampled_from(["../../x", "/etc", "..", ".", "a/../..", "\0", "\ud800", "~", "-rf", ""])


# Identities


@given(ANY | _ROOTED)
def test_no_identity_leads_out_of_the_folder_of_identities(identity):
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{8}", slug(identity))
    agent = Home(Path("/home/x/.reflector")).agent(identity)
    assert agent.path.parent == Path("/home/x/.reflector/agents")
    assert agent.slug == slug(identity)
    for inside in (agent.repo, agent.state, agent.worktrees, agent.run("r"), agent.log):
        assert inside.is_relative_to(agent.path)


@given(ANY, ANY)
def test_two_identities_never_share_a_folder(one, other):
    assert (slug(one) == slug(other)) == (one == other)


def test_readable_parts_may_be_equal_without_the_folders_being_so():
    alike = ["a b", "a-b", "A B", "a/b", "a_b", "--a--b--"]
    assert {slug(each)[:-9] for each in alike} == {"a-b"}
    assert len({slug(each) for each in alike}) == len(alike)
    foreign = ["\u8a18\u61b6", "\u65e5\u8a18", "\ud800", "\udc00", ""]
    assert {slug(each)[:-9] for each in foreign} == {"agent"}
    assert len({slug(each) for each in foreign}) == len(foreign)


def test_an_identity_has_its_folders_for_its_owner_alone(tmp_path):
    agent = open_home(tmp_path / "home").agent("default")
    agent.create()
    agent.create()
    for folder in ("runs", "worktrees", "locks", "logs"):
        assert (agent.path / folder).stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert agent.lock("state") == agent.path / "locks" / "state.lock"


# Homes


def test_a_home_that_is_a_file_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "home"
    file.write_text("mine", "utf-8")
    for home in (file, file / "below"):
        with pytest.raises(HomeError) as caught:
            open_home(home)
        assert caught.value.exit_code == 3
        assert "REFLECTOR_HOME" in caught.value.hint
    assert file.read_text("utf-8") == "mine"


def test_a_home_behind_a_link_works_and_is_known_by_its_real_path(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    assert open_home(tmp_path / "link").path == real
    assert open_home(tmp_path / "link" / "deep" / "home").path == real / "deep" / "home"
    assert open_home(tmp_path / "dangling").path == tmp_path / "new"
    assert (tmp_path / "new").is_dir()


def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(HomeError, match="cannot be used"):
        open_home(tmp_path / "a")


def test_a_relative_home_below_a_deleted_folder_is_refused(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(HomeError, match="cannot be used"):
        open_home(Path("home"))


def test_a_read_only_home_is_refused_and_says_so(tmp_path):
    with tmpfs(tmp_path / "small", "64k") as mounted:
        subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
        with pytest.raises(HomeError, match="cannot be written"):
            open_home(mounted)
        with pytest.raises(HomeError, match="Read-only file system"):
            open_home(mounted / "new")


# Imports everything first but two large libraries that no command here needs: an interpreter below
# /root is out of reach once it is nobody's.
_AS_NOBODY = """
import contextlib, importlib, os, pkgutil, sys, tomllib, traceback
sys.modules.update(anthropic=None, mcp=None)
import reflector
from reflector.surface.cli.main import main
for module in pkgutil.walk_packages(reflector.__path__, "reflector."):
    if not module.name.endswith("__main__"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
sys.exit(main(sys.argv[2:]))
"""


def as_nobody(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the real command as a user without any right of ours."""
    return subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, str(NOBODY), *map(str, words)],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def foreign() -> Iterator[Path]:
    """A folder that everybody reaches, with a home in it that belongs to nobody."""
    folder = Path(tempfile.mkdtemp(prefix="reflector-home-"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    yield home
    home.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_home_of_another_user_is_refused():
    done = as_nobody("status", "--home", "/usr")
    assert done.returncode == 3, done.stderr
    assert "belongs to another user (uid 0)" in done.stderr


@pytest.mark.slow
def test_a_home_that_its_owner_cannot_write_is_refused(foreign):
    foreign.chmod(0o500)
    done = as_nobody("init", "--home", foreign)
    assert done.returncode == 3, done.stderr
    assert f"The folder {foreign} cannot be written." in done.stderr
    assert list(foreign.iterdir()) == []


@pytest.mark.slow
def test_a_home_that_cannot_be_made_is_refused(foreign):
    foreign.chmod(0o500)
    done = as_nobody("init", "--home", foreign / "new")
    assert done.returncode == 3, done.stderr
    assert "Permission denied" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "init", "reflect"])
def test_a_locked_folder_inside_the_home_is_an_error_in_our_words(foreign, command):
    (foreign / "agents").mkdir()
    (foreign / "agents").chmod(0)
    done = as_nobody(command, "--home", foreign)
    assert done.returncode == 3, done.stderr
    assert "Permission denied" in done.stderr
    assert "bug" not in done.stderr
    (foreign / "agents").chmod(0o700)


# Network file systems

_MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
31 30 8:2 / /net/local rw shared:2 master:3 - xfs /dev/sdb1 rw
30 21 0:40 / /net rw - nfs4 server:/export rw
32 21 0:41 / /mnt/a\\040b rw - cifs //server/share rw
33 21 0:42 / /mnt/ssh rw - fuse.sshfs host:/ rw
34 21 0:43 / /mnt/nine rw - 9p share rw
35 21 0:44 / /tmp rw - tmpfs tmpfs rw
36 21 0:45 / /layers rw - overlay overlay rw
37 21 8:3 / /windows rw - fuseblk /dev/sdc1 rw
38 21 0:46 / /twice rw - nfs server:/x rw
39 38 8:4 / /twice rw - ext4 /dev/sdd1 rw
40 21 0:47 / /back\\134slash rw - smb3 //server/x rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/x", ""),
        ("/net", "nfs4"),
        ("/net/home", "nfs4"),
        ("/network", ""),
        ("/net/local", ""),
        ("/net/local/home", ""),
        ("/net/locality", "nfs4"),
        ("/mnt/a b/home", "cifs"),
        ("/mnt/a", ""),
        ("/mnt/ssh/home", "fuse.sshfs"),
        ("/mnt/nine", "9p"),
        ("/tmp/home", ""),
        ("/layers/home", ""),
        ("/windows/home", ""),
        ("/twice/home", ""),
        ("/back\\slash", "smb3"),
    ],
)
def test_the_longest_mount_point_decides_whether_a_home_is_local(path, kind):
    assert network_file_system(Path(path), _MOUNTS) == kind


def test_without_a_table_of_mounts_every_folder_counts_as_local():
    assert network_file_system(Path("/net/home"), "") == ""


def test_a_home_on_a_network_is_refused_with_the_reason(tmp_path, monkeypatch):
    mounts = f"30 21 0:40 / {tmp_path} rw - nfs4 server:/export rw\n"
    monkeypatch.setattr(disk, "_mounts", lambda: mounts)
    with pytest.raises(HomeError, match=r"network file system \(nfs4\)") as caught:
        open_home(tmp_path / "home")
    assert caught.value.exit_code == 3
    assert not (tmp_path / "home").exists()


def test_this_machines_own_mounts_can_be_read():
    assert network_file_system(Path("/proc/self"), disk._mounts()) == ""


# Files


def test_a_file_is_replaced_for_its_owner_alone_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "result.json"
    write_atomic(path, b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_with_our_pid_left_is_no_obstacle(tmp_path):
    path = tmp_path / "result.json"
    (tmp_path / f".result.json.{os.getpid()}.tmp").write_bytes(b"half a")
    write_atomic(path, b"whole")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"whole"]


def test_a_link_is_replaced_and_never_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"mine")
    (tmp_path / "result.json").symlink_to(secret)
    (tmp_path / f".result.json.{os.getpid()}.tmp").symlink_to(secret)
    write_atomic(tmp_path / "result.json", b"new")
    assert secret.read_bytes() == b"mine"
    assert (tmp_path / "result.json").read_bytes() == b"new"


def test_on_a_full_disk_the_old_content_stays_and_the_cause_is_told(tmp_path):
    with tmpfs(tmp_path / "small", "64k") as mounted:
        path = mounted / "result.json"
        write_atomic(path, b"old")
        with pytest.raises(HomeError, match="No space left") as caught:
            write_atomic(path, b"x" * 200_000)
        assert isinstance(caught.value.__cause__, OSError)
        assert path.read_bytes() == b"old"
        assert list(mounted.iterdir()) == [path]
        write_atomic(path, b"new")
        assert path.read_bytes() == b"new"


_REPLACING = """
import itertools, sys
from pathlib import Path
from reflector.store.disk import write_atomic
path = Path(sys.argv[1])
for number in itertools.count():
    write_atomic(path, b"%d" % (number % 10) * 200_000)
    if number == int(sys.argv[2]):
        print("going", flush=True)
"""


@pytest.mark.crash
@pytest.mark.parametrize("rounds", range(3))
def test_a_file_is_old_or_new_and_never_a_part_when_its_writer_is_killed(tmp_path, rounds):
    path = tmp_path / "result.json"
    process = python(_REPLACING, path, rounds)
    heard(process)
    assert ended(process, kill=True) == -9
    content = path.read_bytes()
    assert len(content) == 200_000
    assert len(set(content)) == 1


def test_a_file_that_cannot_be_written_is_an_unusable_home(tmp_path):
    with pytest.raises(HomeError, match="cannot be used"):
        write_atomic(tmp_path / "missing" / "file", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(HomeError, match="cannot be used"):
        write_atomic(tmp_path / "folder", b"x")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_reading_takes_regular_files_of_a_limited_size_alone(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_regular(file, 5) == b"12345"
    assert read_regular(tmp_path / "none", 5) is None
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    for path, limit in ((file, 4), (tmp_path / "link", 9), (tmp_path / "pipe", 9), (tmp_path, 9)):
        with pytest.raises(HomeError):
            read_regular(path, limit)


def test_a_folder_is_made_with_its_parents_and_twice_is_once(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    with suppress(HomeError):
        (tmp_path / "file").touch()
        make_folder(tmp_path / "file")
        pytest.fail("a file was taken for a folder")
