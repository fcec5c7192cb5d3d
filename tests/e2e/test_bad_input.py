"""Whatever is wrong: a sentence that names it and the next step, and nothing lost once it is gone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.auditor import audit, picture
from tests.support.cli import GENERIC, ROOT, Cli, Done, git
from tests.support.transcripts import conversation
from tests.support.weak import fill, powerless, remount, small_disk

pytestmark = pytest.mark.slow

DEEP = "REFLECTOR_TEST_DEEP" in os.environ
WEAK = {"preexec_fn": powerless}


@pytest.fixture(scope="session")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which one run was merged; to be copied."""
    home = tmp_path_factory.mktemp("worked") / "home"
    made = Cli(home, HOME=str(home.parent))
    assert made("init").code == 0
    talk = conversation(home.parent / "first.jsonl", "Always use tabs.", "Yes.", session="first")
    assert made("reflect", talk).code == 0
    return home


@pytest.fixture
def used(worked: Path, tmp_path: Path) -> Cli:
    """A home of its own in which one run was merged."""
    shutil.copytree(worked, tmp_path / "home", symlinks=True)
    return Cli(tmp_path / "home")


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return conversation(tmp_path / "talk.jsonl", "Never push to main directly.", "Understood.")


def refused(done: Done, code: int, *parts: str) -> None:
    """A person reads what is wrong and what to do; nobody sees a traceback."""
    assert done.code == code, done
    assert "Traceback" not in done.err
    assert done.err.startswith("error: "), done.err
    assert len(done.err.splitlines()) > 1, f"no next step: {done.err}"
    for part in parts:
        assert part in done.err


def works_again(cli: Cli, talk: Path) -> None:
    """Run the same command again: the lesson is learned now, and everything is in order."""
    done = cli("reflect", talk, "--json")
    assert done.code == 0, done.err + done.out
    assert "Never push to main directly" in git(cli.repo, "log", "-p", "-3")
    audit(cli.home)


# Transcripts


def line(number: int, role: str, text: str) -> str:
    row = {"role": role, "content": text, "id": f"id-{number}", "session_id": "s"}
    return json.dumps(row, ensure_ascii=False) + "\n"


GOOD = line(1, "user", "Always use tabs.") + line(2, "assistant", "Yes.")

REFUSED = {
    "empty.jsonl": (b"", "is empty"),
    "blank.jsonl": (b"\n \r\n\n", "is empty"),
    "binary.jsonl": (bytes(range(256)) * 20, "is a binary file"),
    "utf-16.jsonl": (GOOD.encode("utf-16"), "is a binary file"),
    "torn.jsonl": (b'{"role": "us', "has no complete line yet"),
    "array.json": (b'[{"role": "user"}]', "is no transcript that Reflector reads"),
    "notes.txt": (b"Dear diary\n", "is no transcript that Reflector reads: it looks like plain"),
    "other.jsonl": (b'{"hello": "world"}\n', "is no transcript that Reflector reads"),
}


def test_a_file_that_is_no_transcript_is_named_whole_with_the_next_step(cli, tmp_path):
    files = [tmp_path / name for name in REFUSED]
    for file, (content, _) in zip(files, REFUSED.values(), strict=True):
        file.write_bytes(content)
    refused(cli("ingest", *files), 1, *(f"{tmp_path / n} {w}" for n, (_, w) in REFUSED.items()))
    # The very same files, once they hold a conversation.
    for file in files:
        named = GOOD.replace('"s"', f'"{file.name}"').replace("id-", f"{file.name}-")
        file.write_text(named, "utf-8")
    done = cli("ingest", *files, "--json")
    assert (done.code, [each["entries"] for each in done.json["files"]]) == (0, [2] * len(files))


TAKEN: dict[str, tuple[str | bytes, int, int]] = {
    "a torn last line": (GOOD + '{"role": "assis', 2, 0),
    "a byte order mark": ("\ufeff" + GOOD, 2, 0),
    "CRLF": (GOOD.replace("\n", "\r\n"), 2, 0),
    "line separators": (line(1, "user", "a\u2028b\u2029c\x85d\x0b"), 1, 0),
    "lone surrogates": (GOOD + line(3, "user", "a").replace('"a"', '"a \\ud800 b"'), 3, 0),
    "a NUL in a text": (GOOD + line(3, "user", "a").replace('"a"', '"a \\u0000 b"'), 3, 0),
    "bytes that are no UTF-8": (
        GOOD.encode() + b'{"role":"user","content":"\xff"}\n' + line(3, "user", "after").encode(),
        3,
        1,
    ),
    "a bad line": (GOOD + "oops\n" + line(3, "user", "after"), 3, 1),
    "nesting without end": (GOOD + "[" * 100_000 + "\n" + line(3, "user", "after"), 3, 1),
    "a number without end": (GOOD + '{"id": ' + "9" * 9000 + "}\n" + line(3, "user", "x"), 3, 1),
    "times that never were": (
        line(1, "user", "a").replace("}", ', "timestamp": 1e400}')
        + line(2, "user", "b").replace("}", ', "timestamp": -1e18}'),
        2,
        0,
    ),
    "rows of other formats": (
        GOOD + '{"type":"event_msg","payload":5}\n{"type":7}\n' + line(3, "user", "after"),
        3,
        0,
    ),
    "fields of other types": (
        GOOD + '{"role":["user"],"content":{"a":1}}\n'
        '{"role":"assistant","content":[1,null,{"type":5}],"tool_calls":[{"function":7},3]}\n',
        2,
        0,
    ),
    "a folder that is no path": (
        '{"role":"user","content":"x","cwd":"/a\\u0000b\\ud800","title":"t\\n\\u001b[31m"}\n',
        1,
        0,
    ),
}


def test_what_can_be_read_of_a_difficult_file_is_read_and_the_rest_counted(cli, tmp_path):
    files = [tmp_path / f"{number}.jsonl" for number in range(len(TAKEN))]
    for number, (content, _, _) in enumerate(TAKEN.values()):
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        own = data.replace(b'"s"', b'"s%d"' % number).replace(b"id-", b"i%d-" % number)
        files[number].write_bytes(own)
    done = cli("ingest", *files, "--json")
    assert done.code == 0, done.err + done.out
    for found, (name, (_, entries, bad)) in zip(done.json["files"], TAKEN.items(), strict=True):
        assert found["bad_lines"] == bad, name
        assert found["entries"] >= entries, name
    again = cli("reflect", *files, "--json")
    assert (again.code, again.json["ingested"]["entries"]) == (0, 0)
    for words in (["status"], ["status", "--json"], ["runs"], ["prompt"], ["doctor"]):
        assert cli(*words).code == 0
    audit(cli.home)


def test_a_line_of_50_mb_is_read_and_a_longer_one_is_counted_as_bad(cli, tmp_path):
    file = tmp_path / "long.jsonl"
    for size, bad in ((50_000_000 if DEEP else 5_000_000, 0), (70_000_000, 1)):
        row = line(9, "assistant", "").replace('""', json.dumps("y" * size))
        text = GOOD.replace('"s"', f'"{size}"').replace("id-", f"{size}-")
        file.write_text(text + row + line(size, "user", "after"), "utf-8")
        done = cli("reflect", file, "--json")
        assert done.code == 0, done.err
        assert cli("ingest", file, "--json").json["files"][0]["bad_lines"] == bad


def test_what_is_no_regular_file_is_refused_at_once(cli, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for folder in (str(tmp_path), ""):  # `ingest` reads what lies in a folder
        refused(cli("reflect", folder), 1, "is a folder")
    refused(cli("ingest", ""), 2, "names no file")
    reasons = {
        str(tmp_path / "fifo"): "not a regular file",
        "/dev/zero": "not a regular file",
        "/proc/self/mem": "Input/output error",
        str(tmp_path / "loop"): "symbolic links",
        str(tmp_path / "nowhere"): "No such file",
        str(tmp_path / "missing.jsonl"): "No such file",
        str(tmp_path / "talk.jsonl" / "below"): "No such file",
        "x" * 100_000: "File name too long",
    }
    for path, why in reasons.items():
        refused(cli("ingest", path), 1, why)
    (tmp_path / "link.jsonl").symlink_to(GENERIC)
    assert cli("ingest", tmp_path / "link.jsonl").code == 0


def test_a_transcript_that_may_not_be_read_is_read_once_it_may(cli, talk):
    talk.chmod(0)
    refused(cli("ingest", talk, **WEAK), 1, str(talk), "Permission denied")
    refused(cli("reflect", talk, **WEAK), 1, str(talk), "Permission denied")
    talk.chmod(0o600)
    works_again(cli, talk)


def test_a_transcript_that_vanishes_or_shrinks_between_two_commands_loses_nothing(cli, talk):
    content = talk.read_bytes()
    assert cli("ingest", talk).code == 0
    talk.unlink()
    refused(cli("ingest", talk), 1, "No such file")
    told = cli("status", "--json").json
    assert [each["code"] for each in told["problems"]] == ["source_degraded"]
    assert str(talk) in told["problems"][0]["message"]
    talk.write_bytes(content[:-40])
    assert cli("ingest", talk, "--json").json["files"][0]["entries"] == 0
    talk.write_bytes(content)
    assert cli("ingest", talk, "--json").json["files"][0]["entries"] == 0
    assert cli("status", "--json").json["problems"] == []
    works_again(cli, talk)


NAMES = (b"with space.jsonl", b"-dash.jsonl", b"--home.jsonl", b"new\nline.jsonl", b"\xff.jsonl")


def test_files_of_any_name_are_read(cli, tmp_path):
    for number, name in enumerate((*NAMES, b"\x1b[31m.jsonl", b"...", b"quote'\".jsonl")):
        file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        file.write_text(GOOD.replace('"s"', f'"{number}"').replace("id-", f"{number}-"), "utf-8")
        done = cli("ingest", file)
        assert done.code == 0, done.err
        assert "2 new entries" in done.out
        assert "\x1b" not in done.out
    assert cli("reflect").code == 0
    # A leading dash needs no path in front of it behind `--`.
    command = [sys.executable, "-m", "reflector", "ingest", "--home", cli.home, "--", "-dash.jsonl"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


# The home


def test_a_home_that_is_no_folder_of_ours_is_refused_and_left_alone(tmp_path, talk):
    file = tmp_path / "file"
    file.write_text("mine\n", "utf-8")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    odd = tmp_path / "odd\nname"
    cases = {file: "is not a folder", file / "x": "Not a directory", loop: "symbolic links"}
    for home, why in {**cases, odd: "no text"}.items():
        cli = Cli(home)
        for words in (["init"], ["ingest", talk], ["pause"]):
            refused(cli(*words, cwd=tmp_path), 3, why)
    assert file.read_text("utf-8") == "mine\n"
    assert not odd.exists()
    file.unlink()
    cli = Cli(file)
    assert cli("init").code == 0
    works_again(cli, talk)


def test_a_home_of_another_user_is_refused(cli, talk):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(cli.home, 12_345, 12_345)
    refused(cli("reflect", talk), 3, "belongs to another user", str(cli.home))
    os.chown(cli.home, 0, 0)
    works_again(cli, talk)


def test_a_home_behind_a_link_is_the_same_home(tmp_path, cli, talk):
    (tmp_path / "link").symlink_to(cli.home)
    works_again(Cli(tmp_path / "link"), talk)
    assert cli("reflect", talk, "--json").json["ingested"]["entries"] == 0


def test_where_no_home_can_be_found_none_is_made_elsewhere(tmp_path):
    for home in ("", "relative"):
        done = _bare(tmp_path, "status", HOME=home)
        refused(done, 3, "HOME")
    refused(_bare(tmp_path, "init", "--home", "~nobody-of-that-name/x"), 3, "home directory")
    assert list(tmp_path.iterdir()) == []
    assert not Path("/.reflector").exists()
    # Without the variable the password database knows where a person lives.
    assert _bare(tmp_path, "status").code == 3


def _bare(cwd: Path, *words: str, **environ: str) -> Done:
    """Run the command with nothing of the test's environment."""
    done = subprocess.run(
        [sys.executable, "-m", "reflector", *words],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        cwd=cwd,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


PLACES = {
    ".": 0o500,
    "agents": 0,
    "agents/*/locks": 0,
    "agents/*/runs": 0o500,
    "agents/*/worktrees": 0,
    "agents/*/logs": 0,
    "agents/*/logs/reflector.log": 0o400,
    "agents/*/state.db": 0o400,
    "agents/*/repo": 0,
    "agents/*/repo/.git": 0o500,
    "agents/*/repo/.git/HEAD": 0,
    "agents/*/repo/.git/objects": 0o500,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_in_the_home_that_may_not_be_used_is_named_by_every_command(used, talk, place):
    (path,) = used.home.glob(place) if place != "." else (used.home,)
    before = path.stat().st_mode
    path.chmod(PLACES[place])
    try:
        done = used("reflect", talk, **WEAK)
        said = done.err + done.out
        assert done.code in (1, 3, 4), said
        assert "Traceback" not in said
        assert path.name in said, said
        for words in (["status"], ["prompt"], ["doctor"]):
            other = used(*words, **WEAK)
            assert other.code in (0, 1, 3), (words, other)
            assert "Traceback" not in other.err
    finally:
        path.chmod(before)
    works_again(used, talk)


def test_a_file_where_a_folder_should_be_is_named(used, talk):
    for name in ("worktrees", "logs", "runs"):
        place = used.repo.parent / name
        kept = place.rename(place.with_name("kept"))
        place.write_text("in the way\n", "utf-8")
        done = used("reflect", talk)
        assert done.code in (1, 3), done
        assert str(place) in done.err + done.out
        assert "Traceback" not in done.err
        place.unlink()
        kept.rename(place)
    works_again(used, talk)


@pytest.mark.parametrize("leave", [0, 65_536, 131_072, 229_376])
def test_a_full_disk_loses_nothing(tmp_path, talk, leave):
    with small_disk(tmp_path / "disk", "4m") as disk:
        cli = Cli(disk / "home")
        assert cli("init").code == 0
        filler = fill(disk, leave)
        for words in (["ingest", talk], ["reflect", talk], ["status"], ["prompt"], ["doctor"]):
            done = cli(*words)
            said = done.err + done.out
            assert done.code in (0, 1, 3), (words, said)
            assert "Traceback" not in said
            if done.code and words[0] != "doctor":
                assert "full" in said or "No space left" in said or "space" in said, said
        filler.unlink()
        works_again(cli, talk)


def test_a_disk_that_fills_while_a_memory_is_made_leaves_no_half_memory(tmp_path, talk):
    with small_disk(tmp_path / "disk", "2m") as disk:
        cli = Cli(disk / "home")
        for leave in range(0, 260_000, 32_768):
            filler = fill(disk, leave)
            done = cli("init")
            filler.unlink()
            if done.code == 0:
                break
            assert "Traceback" not in done.err
            assert "Free some space" in done.err
        assert cli("init").code == 0
        works_again(cli, talk)


def test_a_read_only_disk_is_named(tmp_path, talk):
    with small_disk(tmp_path / "disk", "8m") as disk:
        cli = Cli(disk / "home")
        assert cli("init").code == 0
        remount(disk, "ro")
        for words in (["init"], ["status"], ["reflect", talk], ["ingest", talk], ["pause"]):
            refused(cli(*words), 3, str(cli.home), "cannot be written")
        remount(disk, "rw")
        works_again(cli, talk)


def test_a_home_deleted_while_it_is_used_is_never_called_a_success(cli, tmp_path):
    texts = ["Always use tabs. " + "words " * 300] * 15_000
    long = conversation(tmp_path / "long.jsonl", *texts)
    process = cli.start("ingest", long)
    wal = cli.repo.parent / "state.db-wal"
    deadline = time.monotonic() + 30
    while not (wal.exists() and wal.stat().st_size > 100_000) and time.monotonic() < deadline:
        time.sleep(0.005)
    shutil.rmtree(cli.home)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert b"Traceback" not in err
    assert b"reflector init" in err


# The memory


def in_use(talk: Path, cli: Cli, code: int, *parts: str) -> None:
    """Reflecting does not get through, says why, and leaves the person's repository as it was."""
    before = picture(cli.repo, leave_out=(".git/objects", ".git/refs/reflector", ".git/worktrees"))
    done = cli("reflect", talk)
    said = done.out + done.err
    assert done.code == code, said
    assert "Traceback" not in said
    for part in parts:
        assert part in said, said
    after = picture(cli.repo, leave_out=(".git/objects", ".git/refs/reflector", ".git/worktrees"))
    assert after == before


def edit(cli: Cli) -> Path:
    human = cli.repo / "system" / "human.md"
    human.write_text(human.read_text("utf-8") + "\nMine.\n", "utf-8")
    return human


def test_uncommitted_and_staged_edits_wait_and_are_kept(used, talk):
    human = edit(used)
    in_use(talk, used, 4, "system/human.md", "Uncommitted")
    assert human.read_text("utf-8").endswith("Mine.\n")
    git(used.repo, "add", "-A")
    in_use(talk, used, 4, "system/human.md", "Uncommitted")
    git(used.repo, "commit", "-qm", "mine")
    done = used("reflect", talk)
    assert done.code in (0, 1), done.err  # merged, or both wrote at the end of one file
    assert human.read_text("utf-8").count("Mine.") == 1


def test_a_merge_in_progress_a_branch_and_a_detached_head_are_left_alone(used, talk):
    repo = used.repo
    git(repo, "checkout", "-qb", "other")
    in_use(talk, used, 4, "other", "not on main")
    git(repo, "checkout", "-q", "--detach")
    in_use(talk, used, 4, "no branch")
    git(repo, "checkout", "-q", "other")
    (repo / "README.md").write_text("one\n", "utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "--no-commit", "other")
    in_use(talk, used, 4, "in the middle of a merge")
    git(repo, "merge", "--abort")
    works_again(used, talk)


@pytest.mark.parametrize(
    ("name", "code"),
    [("index.lock", 4), ("refs/heads/main.lock", 1), ("config.lock", 0), ("HEAD.lock", 0)],
)
def test_a_lock_that_another_git_left_is_named_and_never_removed(used, talk, name, code):
    lock = used.repo / ".git" / name
    lock.touch()
    os.utime(lock, (1, 1))
    done = used("reflect", talk)
    assert done.code == code, done.out + done.err
    assert lock.exists()
    if code:
        assert name.rpartition("/")[2] in done.out + done.err
    lock.unlink()
    works_again(used, talk)


def test_a_repository_without_a_commit_or_without_git_is_named(used, talk):
    repo = used.repo
    kept = repo.rename(repo.with_name("kept"))
    repo.mkdir()
    refused(used("status"), 1, str(repo))
    refused(used("init"), 3, str(repo), "no git repository")
    refused(used("reflect", talk), 1, str(repo))
    git(repo, "init", "-q", "-b", "main")
    refused(used("init"), 3, str(repo), "no commit on main")
    refused(used("prompt"), 1, str(repo), "no commit on main")
    done = used("reflect", talk)
    assert done.code == 1
    assert "no commit on main" in done.out
    for path in (repo / ".git" / "HEAD", repo / ".git" / "config"):
        path.write_bytes(b"\xff\xfegarbage")
        refused(used("status"), 1, str(repo))
        refused(used("prompt"), 1, str(repo))
    shutil.rmtree(repo)
    kept.rename(repo)
    works_again(used, talk)


@pytest.mark.parametrize("what", ["HEAD", "HEAD^{tree}", "HEAD:system/human.md"])
def test_a_damaged_object_is_named_and_fsck_pointed_at(used, talk, what):
    sha = git(used.repo, "rev-parse", what).strip()
    file = used.repo / ".git" / "objects" / sha[:2] / sha[2:]
    whole = file.read_bytes()
    file.chmod(0o600)
    file.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    refused(used("status"), 1, str(used.repo), "git fsck")
    assert used("prompt").code == 0  # what was read of this commit before is still known
    next((used.home / "agents").glob("*/blocks/view")).unlink()
    refused(used("prompt"), 1, "git fsck")
    done = used("reflect", talk)
    assert done.code == 1
    assert "git_failed" in done.out
    assert "Traceback" not in done.err
    assert used("doctor").code == 1
    file.write_bytes(whole)
    works_again(used, talk)


DOCUMENTS = {
    "no front matter": b"hello\n",
    "broken front matter": b"---\ndescription: [\n---\nhello\n",
    "binary": b"\xff\xfe\0bin",
    "empty": b"",
    "nested without end": b"---\ndescription: " + b"[" * 20_000 + b"\n---\nx\n",
    "anchors that multiply": b"---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
    b"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ndescription: x\n---\nx\n",
}


def test_documents_that_a_person_committed_broken_are_named_and_stop_nothing(used, talk):
    for number, content in enumerate(DOCUMENTS.values()):
        (used.repo / "system" / f"broken-{number}.md").write_bytes(content)
    odd = os.fsencode(used.repo) + b"/system/\xff \n.md"
    Path(os.fsdecode(odd)).write_text("---\ndescription: x\n---\nx\n", "utf-8")
    (used.repo / "system" / "link.md").symlink_to("/etc/hostname")
    git(used.repo, "add", "-A")
    git(used.repo, "commit", "-qm", "mine")
    for words in (["prompt"], ["status"], ["status", "--json"]):
        assert used(*words).code == 0
    told = used("doctor")
    assert told.code == 1
    for number in range(5):
        assert f"broken-{number}.md" in told.out
    works_again(used, talk)


# The database


def damage_start(path: Path) -> None:
    path.write_bytes(b"garbage " * 20 + path.read_bytes()[160:])


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 2000] = b"\xaa" * 2000
    path.write_bytes(bytes(content))


def newer(path: Path) -> None:
    _script(path, "PRAGMA user_version = 99")


def odd_version(path: Path) -> None:
    _script(path, "PRAGMA user_version = -5")


def _script(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "newer": (newer, "newer Reflector"),
    "garbage at the start": (damage_start, "doctor --fix"),
    "garbage in the middle": (damage_middle, "doctor --fix"),
    "cut off": (lambda path: os.truncate(path, 5000), "doctor --fix"),
    "emptied": (lambda path: os.truncate(path, 0), "doctor --fix"),
    "deleted": (Path.unlink, "doctor --fix"),
    "of another version": (odd_version, "doctor --fix"),
    "text": (lambda path: path.write_text("hello " * 999, "utf-8"), "doctor --fix"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_named_and_never_taken_for_a_new_one(used, talk, damage):
    path = used.repo.parent / "state.db"
    whole = path.read_bytes()
    hurt, step = DAMAGES[damage]
    hurt(path)
    after = path.read_bytes() if path.exists() else None
    for words in (["status"], ["reflect", talk]):
        refused(used(*words), 3, str(path), step)
    assert used("doctor").code == 1
    assert used("prompt").code == 0  # the memory itself is sound
    assert (path.read_bytes() if path.exists() else None) == after
    path.write_bytes(whole)
    works_again(used, talk)


def test_a_run_that_ended_as_none_can_is_named(used, talk):
    path = used.repo.parent / "state.db"
    _script(path, "UPDATE runs SET phase = 'asleep'")
    for words in (["status"], ["runs"]):
        refused(used(*words), 3, "damaged", "asleep", "doctor --fix")
    assert used("doctor").code == 1
    _script(path, "UPDATE runs SET phase = 'completed'")
    works_again(used, talk)


def test_doctor_brings_an_emptied_database_back(used, talk):
    path = used.repo.parent / "state.db"
    os.truncate(path, 0)
    fixed = used("doctor", "--fix")
    assert "aside" in fixed.out, fixed.err
    assert used("ingest", talk).code == 0


def test_a_leftover_write_ahead_log_is_harmless_and_a_folder_in_its_place_is_named(used, talk):
    wal = used.repo.parent / "state.db-wal"
    wal.write_bytes(os.urandom(8000))
    assert used("status").code == 0
    wal.unlink(missing_ok=True)
    wal.mkdir()
    refused(used("ingest", talk), 3, "state.db")
    wal.rmdir()
    works_again(used, talk)


def test_a_database_that_another_writes_to_is_busy(used, talk):
    path = used.repo.parent / "state.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    refused(used("ingest", talk), 4, "busy", "try again")
    connection.execute("ROLLBACK")
    connection.close()
    works_again(used, talk)


# The settings

SETTINGS = {
    b"trigger = 5\n": "'trigger'",
    b"[journal]\nexclud = []\n": "journal.exclude",
    b'[run]\nmax_bytes = "x"\n': "run.max_bytes must be a whole number",
    b"[run]\nmax_bytes = -1\n": "at least 1",
    b"[run]\nmax_bytes = 1.5\n": "whole number",
    b"[engine]\nname = 2020-01-01\n": "engine.name",
    b"[run\n": "not valid TOML",
    b"[run]\nmax_bytes = 1\nmax_bytes = 2\n": "not valid TOML",
    b"\xff\xfe": "not valid TOML",
    b"a = " + b"[" * 5000: "not valid TOML",
    b"[identity]\npaths = 1\n": "identity.paths",
    b'"a\\nb\\u001b[31m" = 1\n': "unknown key",
}


def test_settings_that_say_something_else_are_named_with_file_and_key(cli, talk):
    file = cli.home / "config.toml"
    for content, why in SETTINGS.items():
        file.write_bytes(content)
        done = cli("ingest", talk)
        refused(done, 3, str(file), why)
        assert "\x1b" not in done.err
    assert cli("status", "--json").json["error"]["code"] == "settings"
    file.unlink()
    file.mkdir()
    refused(cli("status"), 3, str(file), "Is a directory")
    file.rmdir()
    works_again(cli, talk)


def test_variables_that_mean_nothing_are_named(cli, tmp_path):
    for name, value, why in (
        ("REFLECTOR_RUN_MAX_BYTE", "1", "REFLECTOR_RUN_MAX_BYTES"),
        ("REFLECTOR_RUN_MAX_BYTES", "many", "whole number"),
        ("REFLECTOR_RUN_MAX_BYTES", "9" * 100_000, "whole number"),
        ("REFLECTOR_RUN_MAX_BYTES", os.fsdecode(b"\xff"), "whole number"),
        ("REFLECTOR_JOURNAL_HEADLESS", "maybe", "true or false"),
    ):
        done = Cli(cli.home, **{name: value})("status", cwd=tmp_path)
        refused(done, 3, name, why)
        assert len(done.err) < 5000


# Commands


def test_what_is_typed_wrong_is_a_usage_error_in_both_forms(cli):
    for words in (
        ["reflekt"],
        ["ingest"],
        ["show"],
        ["runs", "--limit", "0"],
        ["status", "--wrong"],
        ["config", "hide"],
        ["runs", "x" * 100_000],
        ["status", "--identity", "a\nb"],
        ["status", "--identity", "x" * 100_000],
        ["init", "--identity", os.fsdecode(b"\xff")],
    ):
        done = cli(*words)
        refused(done, 2)
        assert len(done.err) < 5000
        if words[0] != "reflekt":
            assert cli(*words, "--json").json["error"]["code"] == "usage"


def test_arguments_of_100_kb_travel(used, talk):
    done = used("reflect", talk, "--focus", "tabs " * 20_000, "--json")
    assert done.code == 0, done.err
    long = used("reflect", "--conversation", "x" * 100_000)
    assert long.code == 1
    assert len(long.err) < 5000


ENDS = (">&-", "2>&-", ">&- 2>&- <&-", "| head -c 1", "2>&1 | head -c 1", "2>/dev/full")


def test_a_reader_that_leaves_is_no_error(used, talk):
    assert _shell(used, f"reflect {talk}", "| head -c 1").code == 0
    for words in ("status", "config show --json", "--help"):
        for end in ENDS:
            done = _shell(used, words, end)
            assert done.code == 0, (words, end, done)
            assert done.err == "", (words, end)


def test_output_that_cannot_be_written_is_said(used, talk):
    for words in ("status", "status --json", "prompt", f"reflect {talk}"):
        done = _shell(used, words, ">/dev/full")
        assert done.code == 1
        assert "output could not be written: No space left" in done.err
        assert "Traceback" not in done.err
    assert _shell(used, "status", ">/dev/full 2>/dev/full").code == 1
    works_again(used, talk)


def _shell(cli: Cli, words: str, end: str) -> Done:
    home = "" if words.startswith("-") else f"--home {cli.home}"
    command = f"set -o pipefail; {sys.executable} -m reflector {words} {home} {end}"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], env=environ, capture_output=True, check=False, timeout=60
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_text_that_the_terminal_cannot_show_never_stops_a_command(tmp_path):
    talk = conversation(tmp_path / "ünï 表.jsonl", "Always use tabs in the Größe folder.", "Ja.")
    for number, environ in enumerate(
        (
            {"LC_ALL": "C"},
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "ascii", "TERM": "dumb"},
        )
    ):
        cli = Cli(tmp_path / f"home-{number}", **environ)
        assert cli("init").code == 0
        done = cli("reflect", talk)
        assert done.code == 0, done.err
        assert "merged" in done.out
        for words in (["prompt"], ["status"]):
            assert cli(*words).code == 0
        missing = cli("ingest", tmp_path / "größe missing")
        refused(missing, 1, "missing")


def test_a_working_directory_that_was_deleted_is_no_obstacle(used, talk, tmp_path):
    gone = tmp_path / "gone"
    for words, code in (("status", 0), (f"reflect {talk}", 0), ("prompt", 0), ("ingest x", 1)):
        command = f"mkdir {gone} && cd {gone} && rmdir {gone} && exec {sys.executable} "
        command += f"-m reflector {words} --home {used.home}"
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["sh", "-c", command], env=environ, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr


def test_two_commands_at_once_wait_for_each_other(used, talk, tmp_path):
    other = conversation(tmp_path / "other.jsonl", "Always sign tags.", "Yes.", session="other")
    both = [used.start("reflect", each, "--json") for each in (talk, other)]
    ends = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    works_again(used, talk)
    assert "Always sign tags" in git(used.repo, "log", "-p", "-6")


def test_an_interrupted_command_says_so_and_goes_on_the_next_time(used, tmp_path):
    long = conversation(tmp_path / "long.jsonl", *(["Never push to main directly."] * 20_000))
    process = used.start("ingest", long)
    wal = used.repo.parent / "state.db-wal"
    deadline = time.monotonic() + 30
    while not (wal.exists() and wal.stat().st_size > 50_000) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    done = used("ingest", long, "--json")
    assert done.code == 0
    assert 0 < done.json["files"][0]["entries"] < 20_000


@pytest.mark.parametrize(
    "words", [("status",), ("recall", "x"), ("memory", "ls"), ("doctor",), ("event", "settled")]
)
def test_a_home_that_is_not_there_is_named_and_not_made(tmp_path: Path, words: tuple[str, ...]):
    done = Cli(tmp_path / "no home")(*words)
    assert done.code != 0
    assert "reflector init" in done.err + done.out
    assert not (tmp_path / "no home").exists()
