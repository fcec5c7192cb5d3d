"""`reflector memory lint` on real repositories: what is committed, staged, and on disk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reflector.memory.tree import readable
from tests.support.cli import EXAMPLE, Cli, git
from tests.support.corpus import Case, cases

pytestmark = pytest.mark.slow

SOUND = "---\ndescription: x\n---\ntext\n"
BROKEN = "---\ndescription: a: b\n---\ntext\n"


def write(cli: Cli, path: str, text: str) -> None:
    place = cli.repo / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


def commit(cli: Cli, path: str, text: str) -> None:
    write(cli, path, text)
    git(cli.repo, "add", "-A")
    git(cli.repo, "commit", "-qm", "by hand", "--no-verify")


def plant(repo: Path, wanted: list[Case]) -> None:
    """Commit files as no `git add` would: with any bytes, modes and names."""
    head = git(repo, "rev-parse", "HEAD").strip()
    entries = []
    for case in wanted:
        for path, (mode, content) in case.files.items():
            if mode == 0o160000:
                oid = head
            else:
                made = subprocess.run(
                    ["git", "-C", str(repo), "hash-object", "-w", "--stdin"],
                    input=content,
                    capture_output=True,
                    check=True,
                )
                oid = made.stdout.decode().strip()
            entries.append(f"{mode:06o} {oid}\t{path}\0")
    unguarded = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")
    subprocess.run(
        ["git", "-C", str(repo), *unguarded, "update-index", "--add", "-z", "--index-info"],
        input="".join(entries).encode("utf-8", "surrogateescape"),
        check=True,
    )
    git(repo, *unguarded, "commit", "-qm", "planted")


def test_a_new_memory_has_nothing_to_complain_of(cli):
    for side in ((), ("--staged",), ("--worktree",)):
        done = cli("memory", "lint", *side)
        assert (done.code, done.out, done.err) == (0, "Nothing is wrong.\n", "")
        assert cli("memory", "lint", *side, "--json").json == {"findings": []}


def test_a_memory_after_runs_has_nothing_to_complain_of(cli):
    assert cli("reflect", EXAMPLE).code == 0
    found = cli("memory", "lint", "--json").json["findings"]
    assert [one for one in found if one["severity"] == "error"] == []


def test_every_broken_document_is_named_with_code_and_line_and_nothing_else_is(cli):
    broken = cases("broken")
    plant(cli.repo, broken)
    done = cli("memory", "lint", "--json")
    assert done.code == 1
    found = [
        (one["code"], one["severity"], one["path"], one["line"]) for one in done.json["findings"]
    ]
    wanted = [(each.code, each.severity, readable(each.path), each.line) for each in broken]
    assert sorted(found) == sorted(wanted)
    text = cli("memory", "lint").out.split("\n")
    assert "reference/colon.md:2 header_not_yaml The header is not valid YAML" in "\n".join(text)
    assert "reference/large.md file_too_large" in "\n".join(text)
    warnings = sum(each.severity == "warning" for each in broken)
    assert text[-2] == f"{len(broken) - warnings} errors, {warnings} warnings"
    assert all(line.isprintable() for line in text)


def test_of_sound_documents_nothing_is_said(cli):
    plant(cli.repo, cases("sound"))
    assert cli("memory", "lint").out == "Nothing is wrong.\n"


def test_warnings_alone_are_no_failure(cli):
    commit(cli, "reference/a.md", SOUND + "It broke yesterday.\n")
    done = cli("memory", "lint")
    assert done.code == 0
    assert done.out.startswith("reference/a.md:5 relative_date ")
    assert done.out.endswith("\n0 errors, 1 warning\n")


def test_paths_choose_what_is_looked_at(cli):
    commit(cli, "reference/deep/a.md", BROKEN)
    commit(cli, "reference/deeper.md", SOUND)
    absolute = str(cli.repo / "reference/deep/a.md")
    for path in (
        "reference/deep/a.md",
        "reference/deep/a",
        "reference/",
        "reference/deep",
        absolute,
        ".",
        str(cli.repo),
    ):
        assert cli("memory", "lint", path).code == 1
    for path in ("reference/deeper.md", "system", "ARCHIVE"):
        done = cli("memory", "lint", path)
        assert done.code == (1 if path == "ARCHIVE" else 0)
    missing = cli("memory", "lint", "reference/no.md", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "not_found")


def test_what_is_committed_staged_and_on_disk_are_three_things(cli):
    commit(cli, "reference/old.md", BROKEN)
    write(cli, "reference/staged.md", BROKEN)
    git(cli.repo, "add", "reference/staged.md")
    write(cli, "reference/staged.md", SOUND)
    write(cli, "reference/new.md", BROKEN)
    write(cli, "reference/.new.md.swp", "x")
    (cli.repo / "reference/old.md").unlink()

    def paths(*side: str) -> list[str]:
        return [one["path"] for one in cli("memory", "lint", *side, "--json").json["findings"]]

    before = git(cli.repo, "status", "--porcelain", "-uall")
    assert paths() == ["reference/old.md"]
    assert paths("--staged") == ["reference/staged.md"]
    assert paths("--worktree") == ["reference/new.md"]
    assert git(cli.repo, "status", "--porcelain", "-uall") == before


def test_what_still_points_to_a_deleted_file_is_told(cli):
    commit(cli, "reference/a.md", SOUND)
    commit(cli, "reference/b.md", SOUND + "[[reference/a.md]]\n")
    (cli.repo / "reference/a.md").unlink()
    for side in ("--worktree", "--staged"):
        if side == "--staged":
            git(cli.repo, "add", "-A")
        done = cli("memory", "lint", side)
        assert (done.code, done.out.split(" ")[:2]) == (0, ["reference/b.md:5", "points_nowhere"])


def test_links_on_disk_are_never_followed(cli, tmp_path):
    commit(cli, "facts/secret.md", SOUND)
    (cli.repo / "facts/secret.md").unlink()
    (cli.repo / "facts").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8")
    (cli.repo / "reference/file.md").symlink_to(outside / "secret.md")
    (cli.repo / "facts").symlink_to(outside)
    os.mkfifo(cli.repo / "reference/pipe.md")
    done = cli("memory", "lint", "--worktree", "--json")
    assert done.code == 1
    assert {one["path"] for one in done.json["findings"]} >= {"reference/file.md"}
    assert "secret" not in {one["code"] for one in done.json["findings"]}


def test_a_name_drives_no_terminal(cli):
    plant(cli.repo, [Case("x", "", {"reference/\x1b[2J.md": (0o100644, b"x\n")})])
    done = cli("memory", "lint")
    assert "\x1b" not in done.out
    assert "reference/\\x1b[2J.md" in done.out


def test_a_conflict_in_the_index_is_named(cli):
    commit(cli, "reference/a.md", SOUND)
    git(cli.repo, "checkout", "-qb", "other")
    commit(cli, "reference/a.md", SOUND + "theirs\n")
    git(cli.repo, "checkout", "-q", "main")
    commit(cli, "reference/a.md", SOUND + "ours\n")
    with pytest.raises(subprocess.CalledProcessError):
        git(cli.repo, "merge", "other")
    done = cli("memory", "lint", "--staged")
    assert done.code == 4
    assert "reference/a.md" in done.err


def test_a_check_before_commits_refuses_what_does_not_pass_and_says_how_to_go_on(cli):
    assert cli("memory", "lint", "--install-check").code == 0
    write(cli, "reference/a.md", BROKEN)
    git(cli.repo, "add", "-A")
    head = git(cli.repo, "rev-parse", "HEAD")
    for words in (
        ["commit", "-qm", "x"],
        ["commit", "-qam", "x"],
        ["commit", "-qm", "x", "-o", "--", "reference/a.md"],
    ):
        done = by_hand(cli, *words)
        assert done.returncode == 1
        assert "reference/a.md:2 header_not_yaml" in done.stderr
        assert "git commit --no-verify" in done.stderr
    assert git(cli.repo, "rev-parse", "HEAD") == head
    assert by_hand(cli, "commit", "-qm", "x", "--no-verify").returncode == 0
    # What is broken already holds up no other commit; git's own index for one file is the one read.
    write(cli, "reference/b.md", SOUND)
    write(cli, "reference/c.md", BROKEN)
    git(cli.repo, "add", "-A")
    assert by_hand(cli, "commit", "-qm", "x", "-o", "--", "reference/b.md").returncode == 0
    write(cli, "reference/b.md", BROKEN)
    git(cli.repo, "rm", "-q", "--cached", "reference/c.md")
    assert by_hand(cli, "commit", "-qam", "x").returncode == 1


def by_hand(cli: Cli, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git as a person does; their hooks need the checkout that is tested."""
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "A Person"), ("EMAIL", "person@example.com"))
    }
    root = str(Path(__file__).resolve().parents[2])
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": root} | who
    return subprocess.run(
        ["git", *words], cwd=cli.repo, env=environ, capture_output=True, text=True, check=False
    )


def test_runs_neither_run_the_check_nor_stumble_over_it(cli, tmp_path):
    assert cli("memory", "lint", "--install-check").code == 0
    hook = cli.repo / ".git/hooks/pre-commit"
    ran = tmp_path / "ran"
    # Ours still, and now it tells when it is run.
    hook.write_text(hook.read_text().replace("\npython=", f"\ntouch '{ran}'\npython="))
    done = cli("reflect", EXAMPLE, "--json")
    assert (done.code, done.json["run"]["outcome"]) == (0, "merged")
    assert cli("undo", done.json["run"]["id"]).code == 0
    assert not ran.exists()
    write(cli, "reference/a.md", SOUND)
    git(cli.repo, "add", "-A")
    assert by_hand(cli, "commit", "-qm", "x").returncode == 0
    assert ran.exists()


def test_in_the_worktree_of_a_run_no_hook_runs(cli, tmp_path):
    assert cli("memory", "lint", "--install-check").code == 0
    git(cli.repo, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree/reference/a.md").write_text(BROKEN, "utf-8")
    git(tmp_path / "tree", "add", "-A")
    git(tmp_path / "tree", "commit", "-qm", "x")
    assert cli("memory", "lint").code == 0


def test_the_check_goes_as_it_came(cli):
    config, hooks = cli.repo / ".git/config", cli.repo / ".git/hooks"
    before = git(cli.repo, "config", "--local", "--list")
    assert cli("memory", "lint", "--remove-check").out == "There was no check.\n"
    installed = cli("memory", "lint", "--install-check", "--json").json
    assert installed == {"hook": str(hooks / "pre-commit"), "installed": True, "changed": True}
    assert cli("memory", "lint", "--install-check", "--json").json["changed"] is False
    assert cli("memory", "lint", "--remove-check", "--json").json["changed"] is True
    assert list(hooks.iterdir()) == []
    assert git(cli.repo, "config", "--local", "--list") == before
    assert config.is_file()


def test_somebody_elses_hooks_stay_as_they_are(cli):
    hooks = cli.repo / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-commit"):
        theirs = hooks / name
        theirs.write_text("#!/bin/sh\necho theirs\n")
        done = cli("memory", "lint", "--install-check", "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "foreign_hook")
        assert theirs.read_text() == "#!/bin/sh\necho theirs\n"
        assert git(cli.repo, "config", "core.hooksPath").strip() == "/dev/null"
        if name == "pre-commit":
            assert cli("memory", "lint", "--remove-check").code == 1
            assert theirs.exists()
        theirs.unlink()
    (hooks / "pre-commit").symlink_to("/bin/true")
    assert cli("memory", "lint", "--install-check").code == 1
    (hooks / "pre-commit").unlink()
    git(cli.repo, "config", "core.hooksPath", "/srv/hooks")
    assert cli("memory", "lint", "--install-check").code == 1
    assert git(cli.repo, "config", "core.hooksPath").strip() == "/srv/hooks"


def test_a_check_whose_python_is_gone_holds_nobody_up(cli):
    assert cli("memory", "lint", "--install-check").code == 0
    hook = cli.repo / ".git/hooks/pre-commit"
    lines = hook.read_text().split("\n")
    hook.write_text("\n".join("python=/gone" if x.startswith("python=") else x for x in lines))
    write(cli, "reference/a.md", BROKEN)
    git(cli.repo, "add", "-A")
    done = by_hand(cli, "commit", "-qm", "x")
    assert done.returncode == 0
    assert "/gone" in done.stderr
