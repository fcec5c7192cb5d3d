"""`reflector short-memory` as people and agents use it: the real command on real files."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from reflector.surface.cli.main import main
from tests.support.cli import ROOT, Cli, git

pytestmark = pytest.mark.slow

CASES = (ROOT / "tests" / "fixtures" / "short-memory.jsonl").read_text("utf-8").splitlines()


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Cli(home)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet")
    return folder


def short(cli: Cli, *words: str | Path, **options):
    return cli("short-memory", *words, **options)


def test_every_golden_case_is_told_by_the_command(tmp_path, capsys):
    file = tmp_path / "MEMORY.md"
    for line in CASES:
        case = json.loads(line)
        file.write_bytes(case["text"].encode())
        code = main(["short-memory", "check", str(file), "--json"])
        told = json.loads(capsys.readouterr().out)
        assert {"case": case["case"], "text": case["text"], **told} == case
        assert code == (1 if case["diagnostics"] else 0)
    assert not Path(os.environ["HOME"], ".reflector").exists()


def test_an_entry_lives_from_add_over_set_to_remove(cli, shop):
    user, own = cli.home / "MEMORY.md", shop / ".reflector" / "MEMORY.md"
    assert short(cli, "add", "tz", "use UTC").out == f"Added tz to {user}\n"
    added = short(cli, "add", "db", "Postgres", "--scope", "project", "--json", cwd=shop / "src")
    assert added.json == {"path": str(own), "scope": "project", "id": "db", "change": "added"}
    changed = short(cli, "set", "db", "Postgres\n16", "--scope", "project", "--cwd", shop)
    assert changed.out == f"Changed db in {own}\n"
    assert own.read_text() == "# Memory\n\n- [db] Postgres\n  16\n"
    assert short(cli, "remove", "tz").out == f"Removed tz from {user}\n"
    assert user.read_text() == "# Memory\n\n"
    assert git(shop, "status", "--porcelain", "--untracked-files=all") == (
        "?? .reflector/MEMORY.md\n"
    )


def test_a_check_tells_both_files_with_their_counts(cli, shop):
    (cli.home / "MEMORY.md").write_text("- [a] x\nbad\n- [a] y\n")
    done = short(cli, "check", "--json", cwd=shop)
    assert done.code == 1
    assert done.json == {
        "files": [
            {
                "path": str(cli.home / "MEMORY.md"),
                "scope": "user",
                "exists": True,
                "count": 2,
                "characters": 2,
                "tokens": 4,
                "injected": "",
                "diagnostics": [
                    {"code": "bad_line", "line": 2},
                    {"code": "duplicate_id", "line": 3, "id": "a"},
                    {"code": "not_injected"},
                ],
            },
            {
                "path": str(shop / ".reflector" / "MEMORY.md"),
                "scope": "project",
                "exists": False,
                "count": 0,
                "characters": 0,
                "tokens": 0,
                "injected": "",
                "diagnostics": [],
            },
        ]
    }


def test_a_check_reads_like_a_linter(cli, shop):
    user = cli.home / "MEMORY.md"
    user.write_text("- [a] x\n* bad\n")
    done = short(cli, "check", cwd=shop)
    assert done.code == 1
    fault, left_out, counts, absent = done.out.splitlines()
    assert fault.startswith(f"{user}:2: bad_line: line 2 is neither blank nor `# Memory`")
    assert left_out.startswith(f"{user}: not_injected: agents are shown nothing of this file; the")
    assert left_out.endswith("the file on disk was not changed")
    assert counts == f"{user}: entries: 1 of 20, characters: 1 of 2000, tokens: 2 (user)"
    assert absent == f"{shop}/.reflector/MEMORY.md: no file (project)"
    user.write_text("- [a] x\n")
    assert short(cli, "check", cwd=shop).code == 0
    assert short(cli, "check", user).out.startswith(f"{user}: entries: 1 of 20")


def test_one_file_of_both_scopes_is_told_once(cli, shop):
    user, own = cli.home / "MEMORY.md", shop / ".reflector" / "MEMORY.md"
    user.write_text("- [a] x\n")
    own.parent.mkdir()
    own.symlink_to(user)
    done = short(cli, "check", "--json", cwd=shop)
    first, second = done.json["files"]
    assert done.code == 0
    assert first["diagnostics"] == [{"code": "same_file", "path": str(own)}]
    assert (first["injected"], second["injected"]) == ("", "- [a] x")
    assert "same_file: this is also" in short(cli, "check", cwd=shop).out
    user.write_text("bad\n")
    assert short(cli, "check", cwd=shop).out.count("bad_line") == 1


def test_a_file_that_is_not_there_or_no_file_is_named(cli, tmp_path):
    done = short(cli, "check", tmp_path / "none", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "not_found")
    done = short(cli, "check", tmp_path, "--json")
    assert done.code == 1
    assert [each["code"] for each in done.json["diagnostics"]] == ["not_a_file", "not_injected"]


def test_no_name_and_no_text_drives_the_terminal(cli, tmp_path):
    folder = tmp_path / "\x1b]0;x\x07\n\x9b31m"
    (folder / ".reflector").mkdir(parents=True)
    (folder / ".reflector" / "MEMORY.md").write_text("- [a] \x1b[31m\n\x1b[2J\n")
    adding = ("add", "b", "\x1b[2J", "--scope", "project")
    for words, code in ((("check",), 1), (("policy",), 0), (adding, 1)):
        done = short(cli, *words, cwd=folder)
        assert done.code == code
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.out + done.err)


def test_the_policy_says_all_that_an_agent_must_know(cli, shop):
    text = short(cli, "policy", cwd=shop).out
    for said in (
        "historical context",
        "never new evidence",
        "current request and the project's own instruction files outrank it",
        "outrank whatever else memory has inferred",
        "Only the main agent keeps it",
        "Subagents may use it and must not maintain it",
        f'user file: "{cli.home}/MEMORY.md"',
        f'project file: "{shop}/.reflector/MEMORY.md"',
        "asked to remember",
        "explicitly corrected",
        "suggestions that the user did not accept, credentials",
        "no fresh evidence",
        "Read the file before you change it",
        "instead of adding a twin",
        "`- [id] text`",
        "At most 20 entries and 2000 characters",
        "65536 bytes",
        "do not add",
        "delete it",
        "only after its write succeeded",
        "never over existing content",
        "Never touch `.gitignore` for its sake, and never commit it",
    ):
        assert said in text, said


def test_a_conversation_without_a_project_is_told_so(tmp_path):
    inside = Cli(tmp_path / ".reflector", HOME=str(tmp_path))
    done = short(inside, "policy", "--json", cwd=tmp_path)
    assert done.json["project"] is None
    assert "This conversation has no project file." in done.json["policy"]
    refused = short(inside, "add", "a", "x", "--scope", "project", "--json", cwd=tmp_path)
    assert (refused.code, refused.json["error"]["code"]) == (2, "usage")


def test_a_background_run_may_read_and_not_write(cli):
    (cli.home / "MEMORY.md").write_text("- [a] x\n")
    child = Cli(cli.home, REFLECTOR_CHILD="1")
    for words in (("add", "b", "y"), ("set", "a", "y"), ("remove", "a")):
        done = short(child, *words)
        assert done.code == 1
        assert "a background run never writes it" in done.err
    assert (cli.home / "MEMORY.md").read_text() == "- [a] x\n"
    assert short(child, "check").code == 0


def test_what_would_not_parse_is_refused_and_says_how(cli):
    for words in (("add", "a b", "x"), ("add", "a", " x"), ("add", "a", "x\n\ny"), ("set", "a")):
        done = short(cli, *words, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "usage")
        assert done.json["error"]["hint"]
    assert not (cli.home / "MEMORY.md").exists()


def test_a_link_and_a_mode_stay_as_the_person_made_them(cli, tmp_path):
    notes = tmp_path / "notes.md"
    notes.write_text("- [a] x\n")
    notes.chmod(0o640)
    (cli.home / "MEMORY.md").symlink_to(notes)
    assert short(cli, "add", "b", "y").code == 0
    assert (cli.home / "MEMORY.md").is_symlink()
    assert notes.read_text() == "- [a] x\n- [b] y\n"
    assert stat.S_IMODE(notes.stat().st_mode) == 0o640


def test_a_person_whose_files_are_turned_off_is_told(cli):
    (cli.home / "config.toml").write_text("short_memory.enabled = false\n")
    assert "short_memory.enabled is false" in short(cli, "add", "a", "x").err
    assert short(cli, "check", "--json").json["files"][0]["count"] == 1


def test_agents_that_add_at_once_lose_nothing(cli):
    running = [cli.start("short-memory", "add", f"k{each}", "x") for each in range(6)]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    found = short(cli, "check", cli.home / "MEMORY.md", "--json").json
    assert sorted(each["id"] for each in found["entries"]) == [f"k{each}" for each in range(6)]
    assert sorted(each.name for each in cli.home.iterdir()) == ["MEMORY.md", "locks"]
