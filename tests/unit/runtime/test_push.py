"""The push mirror: real bare repositories, two memories, a remote that hangs; never by force."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.errors import GitError
from reflector.runtime import push
from reflector.runtime.status import status
from reflector.runtime.wiring import Context
from reflector.vcs.remote import Remote, remote, shown
from tests.support.cli import Cli
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow


def git(place: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(place), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    place = tmp_path / "mirror.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(place)], check=True)
    return place


def memory(folder: Path, url: str | Path) -> Scene:
    folder.mkdir()
    return Scene(folder, f'[push]\nenabled = true\nremote = "{url}"\n')


def mirror(context: Context, seconds: float = push.SECONDS) -> push.Mirrored:
    done = push.mirror(context, seconds)
    assert done is not None
    return done


def commit(scene: Scene, name: str) -> str:
    (scene.repo / "reference").mkdir(exist_ok=True)
    place = scene.repo / "reference" / f"{name}.md"
    place.write_text(f"---\ndescription: about {name}\n---\n\n{name}\n", "utf-8")
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", f"by hand: {name}")
    return scene.git("rev-parse", "main").strip()


def refs(place: Path) -> dict[str, str]:
    listed = git(place, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in listed)


def state(scene: Scene):
    found = status(scene.context())
    return found.push, [(each.code, each.message, each.hint) for each in found.problems]


def test_main_and_nothing_else_goes_to_the_remote(tmp_path, bare):
    scene = memory(tmp_path / "one", f"file://{bare}")
    scene.git("branch", "private")
    scene.git("update-ref", "refs/reflector/review/x", "main")
    before, files = scene.git("for-each-ref"), scene.git("config", "--list", "--local")
    assert mirror(scene.context()).failure == ""
    head = scene.git("rev-parse", "main").strip()
    assert refs(bare) == {"refs/heads/main": head}
    assert (scene.git("for-each-ref"), scene.git("config", "--list", "--local")) == (before, files)
    known, problems = state(scene)
    assert problems == []
    assert known == {
        "enabled": True,
        "remote": f"file://{bare}",
        "branch": "main",
        "ahead": 0,
        "behind": 0,
        "last_push_at": scene.context().ambient.now(),
        "last_error": None,
    }
    commit(scene, "more")
    assert state(scene)[0]["ahead"] == 1


def test_two_machines_never_overwrite_each_other(tmp_path, bare, monkeypatch):
    one, two = memory(tmp_path / "one", bare), memory(tmp_path / "two", bare)
    shutil.rmtree(two.repo)
    shutil.copytree(one.repo, two.repo, symlinks=True)
    first = commit(one, "first")
    assert mirror(one.context()).branch == "main"
    second = commit(two, "second")
    monkeypatch.setattr(push, "host", lambda: "Büro Rechner.local")
    done = mirror(two.context())
    assert (done.branch, done.failure, done.diverged) == ("reflector/b-ro-rechner-local", "", True)
    assert refs(bare) == {
        "refs/heads/main": first,
        "refs/heads/reflector/b-ro-rechner-local": second,
    }
    assert two.git("rev-parse", "main").strip() == second
    known, ((code, message, hint),) = state(two)
    assert (known["ahead"], known["behind"], code) == (0, None, "push_diverged")
    assert "reflector/b-ro-rechner-local" in message
    assert "nothing is forced" in hint
    third = commit(two, "third")
    mirror(two.context())
    assert refs(bare)["refs/heads/reflector/b-ro-rechner-local"] == third
    assert refs(bare)["refs/heads/main"] == first


def test_a_rewritten_history_is_not_forced_anywhere(tmp_path, bare, monkeypatch):
    monkeypatch.setattr(push, "host", lambda: "host")
    scene = memory(tmp_path / "one", bare)
    commit(scene, "one")
    mirror(scene.context())
    scene.git("commit", "-q", "--amend", "-m", "rewritten")
    mirror(scene.context())
    scene.git("commit", "-q", "--amend", "-m", "rewritten again")
    before = refs(bare)
    done = mirror(scene.context())
    assert done.failure == "diverged"
    assert refs(bare) == before
    assert state(scene)[1][0][0] == "push_failed"


def test_a_memory_that_has_lost_main_deletes_nothing_at_the_remote(tmp_path, bare):
    scene = memory(tmp_path / "one", bare)
    pushed = mirror(scene.context()).sha
    git(bare, "symbolic-ref", "HEAD", "refs/heads/another")  # a current branch is never deleted
    scene.git("update-ref", "-d", "refs/heads/main")
    told = mirror(scene.context())
    assert git(bare, "rev-parse", "main") == pushed == told.sha
    assert told.failure == "failed"
    assert "no commit on main" in told.detail


def test_a_remote_that_refuses_says_why(tmp_path, bare):
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'main is protected here' >&2\nexit 1\n", "utf-8")
    hook.chmod(0o755)
    scene = memory(tmp_path / "one", bare)
    done = mirror(scene.context())
    assert done.failure == "rejected"
    assert "main is protected here" in done.detail
    _, ((code, message, hint),) = state(scene)
    assert code == "push_failed"
    assert "protected" in message
    assert "own rules" in hint


@pytest.mark.parametrize("url", ["/nowhere/at/all.git", "file:///nowhere.git"])
def test_a_remote_that_is_not_there_is_unreachable(tmp_path, url):
    scene = memory(tmp_path / "one", url)
    assert mirror(scene.context()).failure == "unreachable"
    assert "push.remote" in state(scene)[1][0][2]


def ssh(folder: Path, script: str) -> dict[str, str]:
    """Put a program in the place of ssh."""
    place = folder / "bin" / "ssh"
    place.parent.mkdir()
    place.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    place.chmod(0o755)
    return {**os.environ, "PATH": f"{place.parent}:{os.environ['PATH']}"}


def test_a_key_that_is_refused_is_told_apart(tmp_path):
    scene = memory(tmp_path / "one", "ssh://git@example.invalid/m.git")
    environ = ssh(
        tmp_path, "echo 'git@example.invalid: Permission denied (publickey).' >&2; exit 255"
    )
    done = mirror(replace(scene.context(), environ=environ))
    assert done.failure == "auth"


def test_ssh_asks_nobody_and_gets_the_agent_but_not_the_persons_git_settings(tmp_path):
    scene = memory(tmp_path / "one", "git@example.invalid:m.git")
    note = tmp_path / "note"
    environ = ssh(tmp_path, f'echo "$@" > {note}; env >> {note}; exit 1')
    more = {"SSH_AUTH_SOCK": "/run/agent", "GIT_SSH_COMMAND": "never", "SECRET_THING": "x"}
    mirror(replace(scene.context(), environ={**environ, **more}))
    told = note.read_text("utf-8")
    assert "BatchMode=yes" in told.splitlines()[0]
    assert "SSH_AUTH_SOCK=/run/agent" in told
    assert f"HOME={os.environ['HOME']}" in told
    assert "GIT_TERMINAL_PROMPT=0" in told
    assert "GIT_CONFIG_GLOBAL=/dev/null" in told
    assert "SECRET_THING" not in told


def alive(pid: int) -> bool:
    try:
        line = Path(f"/proc/{pid}/stat").read_text("ascii")
    except OSError:
        return False
    return line.rpartition(")")[2].split()[0] != "Z"  # nobody may have waited for it yet


def test_a_remote_that_hangs_is_given_up_with_all_it_started(tmp_path):
    scene = memory(tmp_path / "one", "ssh://git@example.invalid/m.git")
    note = tmp_path / "pid"
    # It would end by itself, and the push would have failed: nobody waits for that.
    environ = ssh(tmp_path, f"echo $$ > {note}; exec sleep 15")
    for seconds in (0.5, 2, 8):  # a busy machine may not even have begun
        done = mirror(replace(scene.context(), environ=environ), seconds=seconds)
        assert done.failure == "timed_out"
        if note.exists() and note.read_text("ascii").endswith("\n"):
            break
    # A killed process closes its files before it is gone.
    deadline = time.monotonic() + 20
    while alive(int(note.read_text("ascii"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_another_program_is_never_run_as_a_remote(tmp_path):
    for url in (f"ext::sh -c touch% {tmp_path}/ran", "--upload-pack=x", "a\nb", ""):
        with pytest.raises(GitError):
            remote(url)
    scene = memory(tmp_path / "one", f"ext::sh -c touch% {tmp_path}/ran")
    assert mirror(scene.context()).failure == "failed"
    assert not (tmp_path / "ran").exists()


def test_a_password_is_in_no_word_and_no_message():
    word = "pw" + "3"
    given = remote(f"https://me:{word}@host.invalid:8443/m.git")
    assert given.url == "https://host.invalid:8443/m.git"
    assert given.header == "Authorization: Basic bWU6cHcz"
    assert shown(f"https://me:{word}@host.invalid/m.git") == "https://host.invalid/m.git"
    assert shown(f"fatal: unable to access 'https://me:{word}@h/x/': no") == (
        "fatal: unable to access 'https://h/x/': no"
    )
    assert remote("git@host:m.git") == Remote("git@host:m.git")
    assert shown("git@host:m.git") == "git@host:m.git"


def test_a_password_in_the_remote_is_shown_nowhere(tmp_path):
    word = "s3" + "cr3t"
    scene = memory(tmp_path / "one", f"https://me:{word}@127.0.0.1:9/m.git")
    done = mirror(scene.context())
    assert done.failure == "unreachable"
    assert word not in done.detail
    cli = Cli(scene.home)
    for words in (("status",), ("status", "--json"), ("config", "show")):
        told = cli(*words)
        assert word not in told.out + told.err


def test_a_push_in_progress_is_not_doubled_and_sees_what_came_meanwhile(tmp_path, bare):
    scene = memory(tmp_path / "one", bare)
    from reflector.store.locks import Lock

    lock = Lock(scene.context().agent.lock("push"))
    assert lock.take()
    assert push.mirror(scene.context()) is None
    lock.release()
    assert mirror(scene.context()).branch == "main"


def test_the_daemon_pushes_what_is_behind_and_waits_after_a_failure(tmp_path, bare, monkeypatch):
    scene = memory(tmp_path / "one", bare)
    started: list[str] = []
    found = scene.context()

    def begin() -> list[str]:
        started.clear()
        push.begin_when_behind(found)
        return started

    monkeypatch.setattr(push, "begin", lambda _context: started.append("began"))
    assert begin() == ["began"]
    mirror(found)
    assert begin() == []
    commit(scene, "more")
    assert begin() == ["began"]
    bare.rename(bare.with_name("away"))
    assert mirror(found).failure == "unreachable"
    assert begin() == []
    scene.clock.sleep(601)
    assert begin() == ["began"]


def test_every_change_is_pushed_in_the_background_and_a_broken_remote_changes_no_outcome(
    tmp_path, bare
):
    from tests.support.detached import rest
    from tests.support.transcripts import conversation

    cli = Cli(tmp_path / "home")
    assert cli("init").code == 0
    settings = cli.home / "config.toml"
    settings.write_text(f'[push]\nenabled = true\nremote = "{bare}"\n', "utf-8")
    talk = conversation(tmp_path / "talk.jsonl", "Always use tabs in Makefiles.", "Noted.")
    assert cli("reflect", talk).code == 0
    rest(cli.home)
    assert refs(bare) == {"refs/heads/main": git(cli.repo, "rev-parse", "main")}
    note = tmp_path / "note.md"
    note.write_text("a note\n", "utf-8")
    words = ("--description", "a note", "--reason", "add a note", "--file", note)
    assert cli("memory", "create", "reference/note.md", *words).code == 0
    rest(cli.home)
    here = git(cli.repo, "rev-parse", "main")
    assert refs(bare)["refs/heads/main"] == here, cli("status", "--json").json["push"]
    assert cli("undo", cli("runs", "--json").json["runs"][0]["id"]).code == 0
    rest(cli.home)
    here = git(cli.repo, "rev-parse", "main")
    assert refs(bare)["refs/heads/main"] == here, cli("status", "--json").json["push"]
    settings.write_text('[push]\nenabled = true\nremote = "/nowhere.git"\n', "utf-8")
    more = conversation(
        tmp_path / "more.jsonl", "Never push to main directly.", "Noted.", session="b"
    )
    assert cli("reflect", more, "--json").json["run"]["outcome"] == "merged"
    rest(cli.home)
    told = cli("status", "--json").json
    assert told["push"]["last_error"]["code"] == "unreachable"
    assert told["push"]["ahead"] > 0
    assert "push_failed" in json.dumps(told["problems"])
