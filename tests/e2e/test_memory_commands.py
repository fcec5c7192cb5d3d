"""The memory commands as a person types them: what they print, what they change, how they end."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import ROOT, Cli, Done
from tests.support.repos import Repo
from tests.support.scenes import Scene

HEAD = "---\ndescription: by hand\n---\n"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(Scene(tmp_path).home)


@pytest.fixture
def repo(cli: Cli) -> Repo:
    return Repo(cli.repo)


def fed(cli: Cli, text: bytes, *words: str) -> Done:
    """Run a command with something on stdin."""
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "reflector", *words, "--home", str(cli.home)]
    done = subprocess.run(command, env=environ, input=text, capture_output=True, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_document_lives_from_create_to_delete_with_one_commit_each(cli, repo):
    def does(*words: str) -> str:
        done = cli("memory", *words, "--reason", f"the {words[0]}", "--json")
        assert done.code == 0, done.out + done.err
        assert set(done.json) == {"commit", "paths", "warnings"}
        assert done.json["commit"] == repo.sha("main")
        assert done.json["paths"]
        assert repo.status() == ""
        said: str = repo.git("log", "-1", "--format=%s%n%(trailers:key=Memory-Writer,valueonly)")
        return said

    base = repo.sha()
    assert does("create", "reference/a", "one", "--description", "Plan: 2") == "the create\nperson"
    does("replace", "reference/a.md", "--old", "one", "--new", "1")
    does("insert", "reference/a", "0", "--after", "0")
    does("describe", "reference/a", "Plan: 3")
    does("rename", "reference/a", "facts/b")
    assert (repo.path / "facts/b.md").read_text() == "---\ndescription: 'Plan: 3'\n---\n0\n1\n"
    patch = "*** Begin Patch\n*** Update File: facts/b.md\n-0\n+zero\n*** Add File: facts/c.md\n"
    place = cli.home.parent / "a.patch"
    place.write_text(
        patch + "".join(f"+{line}\n" for line in HEAD.splitlines()) + "*** End Patch\n"
    )
    does("apply-patch", "--file", str(place))
    does("delete", "facts")
    assert repo.git("rev-list", "--count", f"{base}..main") == "7"
    assert not (repo.path / "facts").exists()
    repo.assert_sound()


def test_a_text_comes_from_stdin_too(cli, repo):
    words = ("memory", "create", "reference/a", "-", "--description", "x", "--reason", "r")
    assert fed(cli, "from stdin ✓\n".encode(), *words).code == 0
    assert (repo.path / "reference/a.md").read_text().endswith("from stdin ✓\n")
    bad = fed(
        cli, "text".encode("utf-16"), *("memory", "insert", "reference/a", "-", "--reason", "r")
    )
    assert (bad.code, "UTF-16" in bad.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("create", "../x", "t", "--description", "d", "--reason", "r"), "path_escapes", 1),
        (("create", "/etc/x", "t", "--description", "d", "--reason", "r"), "path_escapes", 1),
        (("create", "reference/x", "--description", "d", "--reason", "r"), "usage", 2),
        (("create", "reference/x", "t", "--description", "d"), "usage", 2),
        (
            ("replace", "system/human", "--old", "not there", "--new", "x", "--reason", "r"),
            "no_match",
            1,
        ),
        (("replace", "system/human", "--old", "-", "--new", "-", "--reason", "r"), "usage", 2),
        (("insert", "system/human", "--file", "/none", "--reason", "r"), "usage", 2),
        (("delete", "system", "--reason", "r"), "read_only_removed", 1),
        (("delete", "reference/none", "--reason", "r"), "not_found", 1),
        (("rename", "system/human", "system/human", "--reason", "r"), "path_taken", 1),
        (("apply-patch", "no patch", "--reason", "r"), "bad_patch", 1),
        (("cat", "reference/none"), "not_found", 1),
        (("ls", "nowhere"), "not_found", 1),
    ],
)
def test_what_cannot_be_done_says_why_and_what_to_do(cli, repo, words, code, exit_code):
    before = repo.everything()
    done = cli("memory", *words, "--json")
    assert done.code == exit_code
    error = done.json["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["hint"]
    assert repo.everything() == before


def test_ls_cat_and_tokens_have_stable_keys(cli, repo):
    listed = cli("memory", "ls", "--json").json
    assert listed["revision"] == repo.sha()
    keys = {"path", "description", "tokens", "bytes", "read_only", "problem"}
    assert all(set(each) == keys for each in listed["documents"])
    below = cli("memory", "ls", "system", "--json").json["documents"]
    assert below == [each for each in listed["documents"] if each["path"].startswith("system/")]
    shown = cli("memory", "cat", "system/human", "--json").json
    assert set(shown) == {"path", "revision", "text", "tokens"}
    assert shown["text"] == (repo.path / "system/human.md").read_text()
    told = cli("memory", "tokens", "--json").json
    assert set(told) == {"revision", "documents", "total", "system_tokens", "budget_tokens"}
    assert told["total"] == sum(each["tokens"] for each in listed["documents"])
    assert told["system_tokens"] == sum(each["tokens"] for each in below)


def test_cat_takes_a_full_path_also_through_a_link(cli, repo, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(repo.path)
    assert (
        cli("memory", "cat", f"{link}/system/human.md").out
        == cli("memory", "cat", "system/human").out
    )
    outside = cli("memory", "cat", str(tmp_path / "x.md"), "--json")
    assert outside.json["error"]["code"] == "path_escapes"


def test_no_read_and_no_prompt_adopts_an_edit(cli, repo):
    repo.write({"reference/x.md": HEAD})
    os.utime(repo.path / "reference/x.md", (0, 0))
    before = repo.everything()
    for words in (("memory", "ls"), ("memory", "cat", "system/human"), ("prompt",), ("status",)):
        assert cli(*words).code == 0
    assert repo.everything() == before


def test_commit_takes_in_what_passes_and_names_what_does_not(cli, repo):
    repo.write({"reference/x.md": HEAD, "reference/bad.md": "no header\n"})
    done = cli("memory", "commit", "--json")
    assert (done.code, done.json["paths"]) == (1, ["reference/x.md"])
    assert [(each["path"], each["line"]) for each in done.json["left"]] == [("reference/bad.md", 1)]
    assert "reference/bad.md:1" in cli("memory", "commit").out
    assert "reference/bad.md:1" in cli("status").out
    (repo.path / "reference/bad.md").unlink()
    again = cli("memory", "commit")
    assert (again.code, again.out) == (0, "Nothing was edited.\n")


def test_two_commands_at_once_both_land(cli, repo):
    words = ("--description", "d", "--reason", "at once")
    started = [cli.start("memory", "create", f"facts/{n}", "t", *words) for n in range(4)]
    for process in started:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert sorted(file.name for file in (repo.path / "facts").iterdir()) == [
        f"{n}.md" for n in range(4)
    ]
    assert repo.status() == ""
    assert repo.git("log", "--format=%s").split("\n").count("at once") == 4
    repo.assert_sound()


def test_a_command_that_is_killed_leaves_all_or_nothing_and_the_next_one_works(cli, repo):
    words = ("--description", "d", "--reason", "killed")
    lock = repo.path / ".git" / "index.lock"
    for number in range(3):
        process = cli.start("memory", "create", f"facts/{number}", "t", *words)
        # As soon as it holds git's own lock: at one of the steps behind that.
        while process.poll() is None and not lock.exists():
            pass
        process.kill()
        process.communicate()
    assert cli("memory", "create", "facts/last", "t", *words).code == 0
    listed = {f"facts/{file.name}" for file in (repo.path / "facts").iterdir()}
    assert listed == set(repo.git("ls-tree", "-r", "--name-only", "main", "facts").split("\n"))
    assert repo.status() == ""
    assert [file.name for file in (repo.path / ".git").iterdir() if "reflector" in file.name] == []
    assert not lock.exists()
    repo.assert_sound()


def test_a_document_cannot_drive_a_terminal(cli, repo):
    repo.commit({"reference/x.md": '---\ndescription: "a\\e[31mb"\n---\nred \x1b[31m text\n'})
    assert "\x1b" not in cli("memory", "ls").out
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "reflector",
            "memory",
            "cat",
            "reference/x",
            "--home",
            str(cli.home),
        ],
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        stdout=slave,
    )
    assert process.wait(timeout=60) == 0
    os.close(slave)
    assert b"red \\x1b[31m text" in os.read(master, 4096)
    os.close(master)
    assert json.loads(cli("memory", "cat", "reference/x", "--json").out)["text"].endswith(
        "\x1b[31m text\n"
    )
