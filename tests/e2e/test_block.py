"""The compiled block by the real command: for whom, how large, and what a session start prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reflector.harness.limits import wide
from reflector.memory.budget import estimate_tokens
from reflector.memory.budget_rules import limit_of, tier_tokens
from reflector.memory.short_memory import MOST_CHARACTERS, MOST_ENTRIES
from reflector.memory.tree import Tree
from reflector.runtime.banks import bank_of
from tests.support.cli import EXAMPLE, ROOT, Cli, git
from tests.support.hooks import called, parsed, shown
from tests.support.repos import Repo, fresh

HOOK = ROOT / "reflector" / "surface" / "hook.py"


def document(*lines: str, about: str = "about it") -> str:
    return f"---\ndescription: {about}\n---\n" + "".join(f"{line}\n" for line in lines)


def remember(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "MEMORY.md").write_text(f"# Memory\n\n- [wish] {text}\n", "utf-8")


def started(cli: Cli, cwd: Path, harness: str = "claude-code") -> str:
    """Be a harness at the start of a session; return what its hook prints."""
    done = subprocess.run(
        [sys.executable, "-IS", str(HOOK), "hook", harness, "SessionStart"],
        env={"REFLECTOR_HOME": str(cli.home), "PYTHONPATH": str(ROOT)},
        input=json.dumps({"cwd": str(cwd), "source": "startup"}).encode(),
        capture_output=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == b""
    return shown(done.stdout)


def soon(cli: Cli, cwd: Path, text: str) -> str:
    """Start sessions until one is shown a text: a busy machine may be late for the first."""
    deadline = time.monotonic() + 20
    while text not in (shown := started(cli, cwd)):
        assert time.monotonic() < deadline, shown
    return shown


def test_a_block_is_for_the_project_in_which_the_session_starts(cli, tmp_path):
    shop, other = fresh(tmp_path / "shop"), fresh(tmp_path / "other")
    own, theirs = bank_of(shop.path), bank_of(other.path)
    Repo(cli.repo).commit(
        {
            f"projects/{own}/architecture.md": document("How the shop is built"),
            f"projects/{theirs}/architecture.md": document("How the other is built"),
            "reference/api.md": document("x", about="For everybody"),
        }
    )
    remember(cli.home, "Answer in Dutch.")
    remember(shop.path / ".reflector", "The shop speaks English.")
    inside = shop.path / "deep"
    inside.mkdir()
    block = cli("prompt", "--cwd", inside).out
    assert "How the shop is built" in block
    assert f"project: {own};" in block
    assert "For everybody" in block
    assert "How the other is built" not in block
    assert theirs not in block
    assert block.index("Answer in Dutch.") < block.index("The shop speaks English.")
    assert block.index("The shop speaks English.") < block.index("<self>")
    assert cli("prompt", cwd=inside).out == block
    elsewhere = cli("prompt", "--cwd", other.path).out
    assert "How the other is built" in elsewhere
    assert "Answer in Dutch." in elsewhere
    assert "The shop speaks English." not in elsewhere
    nowhere = cli("prompt", "--cwd", "").out
    assert "is built" not in nowhere
    assert "project:" not in nowhere


def test_the_machine_form_and_the_table_tell_of_every_section(cli):
    remember(cli.home, "Answer in Dutch.")
    found = cli("prompt", "--json").json
    assert set(found) == {"revision", "text", "tokens", "sections"}
    assert found["revision"] == git(cli.repo, "rev-parse", "main").strip()
    names = ["frame", "short_memory", "self", "memory", "external_projection", "skills"]
    assert [one["name"] for one in found["sections"]] == names
    for one in found["sections"]:
        assert set(one) == {"name", "tokens", "floor", "ceiling", "omitted"}
    table = cli("prompt", "--explain")
    assert all(name in table.out for name in (*names, "all", "at most 2000 tokens"))
    assert "<self>" not in table.out


@pytest.mark.parametrize("tokens", [300, 1000])
def test_a_budget_of_ones_own_is_kept_and_not_what_hooks_print(cli, tokens):
    usual = cli("prompt")
    Repo(cli.repo).commit({f"system/{n}.md": document(*["- a rule"] * 90) for n in range(9)})
    small = cli("prompt", "--budget", tokens, "--json").json
    assert small["tokens"] <= tokens
    assert cli("prompt", "--query", "databases").out == cli("prompt").out != usual.out
    assert cli("prompt", "--budget", "10").code == 2
    assert cli("prompt", "--budget", "none").code == 2


def test_the_frame_keeps_to_its_tenth_with_usual_paths(tmp_path):
    home = tmp_path / "dev" / ".reflector"
    usual = Cli(home, HOME=str(home.parent))
    home.parent.mkdir()
    assert usual("init").code == 0
    found = usual("prompt", "--json").json
    assert f"`{home}/bin/reflector memory cat PATH`" in found["text"]
    added = 3 * (len(str(home)) - len("/home/dev/.reflector")) // 4
    assert found["sections"][0]["tokens"] - added <= 200


def test_the_command_in_the_block_shows_a_document(cli):
    block = cli("prompt").out
    line = next(one for one in block.splitlines() if one.startswith("Whole documents: "))
    command = line.removeprefix("Whole documents: `").removesuffix("`")
    words = command.replace("PATH", "system/persona.md").split()
    done = subprocess.run(
        words, capture_output=True, env={"PYTHONPATH": str(ROOT), "HOME": "/"}, check=True
    )
    assert b"# Persona" in done.stdout


def test_a_persons_edit_shows_at_the_next_session_start(cli, tmp_path):
    shop = fresh(tmp_path / "shop")
    cli("prompt", "--cwd", shop.path)
    first = started(cli, shop.path)
    assert "wish" not in first
    remember(shop.path / ".reflector", "The shop speaks English.")
    assert "[wish] The shop speaks English." in soon(cli, shop.path, "[wish]")
    remember(cli.home, "Answer in Dutch.")
    assert "[wish] The shop speaks English." in soon(cli, shop.path, "Answer in Dutch.")
    (shop.path / ".reflector" / "MEMORY.md").unlink()
    assert "[wish] The shop speaks" not in started(cli, shop.path)


def test_a_late_block_gives_way_to_the_cached_one_without_short_memory(cli, tmp_path):
    shop = fresh(tmp_path / "shop")
    remember(shop.path / ".reflector", "The shop speaks English.")
    assert "[wish]" in cli("prompt", "--cwd", shop.path).out
    settings = cli.home / "config.toml"
    os.mkfifo(settings)  # whoever reads the settings waits, until somebody writes
    try:
        shown = started(cli, shop.path)
    finally:
        os.close(os.open(settings, os.O_RDWR | os.O_NONBLOCK))
        settings.unlink()
    assert "<self>" in shown
    assert "MEMORY.md" not in shown
    assert "[wish]" not in shown


def test_a_session_without_a_folder_is_shown_what_holds_everywhere(cli):
    remember(cli.home, "Answer in Dutch.")
    assert "project:" not in soon(cli, Path(), "Answer in Dutch.")


def full_memory(cli: Cli) -> dict[str, bytes]:
    """Return system documents that fill their tier to the last token, a mark in each last line."""
    limit = limit_of(2000, 8000)
    place = cli.repo / "system"
    names = sorted(f"system/{file.relative_to(place)}" for file in place.rglob("*.md"))
    names += [f"system/style/{name}.md" for name in ("python", "writing")]
    bodies = [[f'- rule {n:03d} of "{name}" <here>' for n in range(3)] for name in names]

    def made() -> dict[str, bytes]:
        return {
            name: document(*body, f"- MARK {number} END", about="x").encode()
            for number, (name, body) in enumerate(zip(names, bodies, strict=True))
        }

    turn = 0
    while tier_tokens(Tree.of(made())) < limit:
        bodies[turn % len(bodies)][0] += "ab\\"
        turn += 1
    assert tier_tokens(Tree.of(made())) == limit
    return made()


def full_short_memory(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    entries = [f"- [{name}-{number:02d}] {'w' * 83}" for number in range(MOST_ENTRIES)]
    text = "\n".join(["# Memory", "", *entries]) + "\n"
    assert MOST_CHARACTERS - 100 < len(text) <= MOST_CHARACTERS
    (folder / "MEMORY.md").write_text(text, "utf-8")


def test_a_memory_that_is_full_is_printed_to_its_last_line_within_every_limit(cli, tmp_path):
    shop = fresh(tmp_path / "shop")
    documents = full_memory(cli)
    Repo(cli.repo).commit({path: raw.decode() for path, raw in documents.items()})
    assert cli("memory", "lint").code == 0
    full_short_memory(cli.home, "user")
    full_short_memory(shop.path / ".reflector", "project")
    cli("prompt", "--cwd", shop.path)
    for harness in ("claude-code", "gemini-cli", "codex"):
        done = called(cli.home, harness, "SessionStart", {"cwd": str(shop.path)})
        line, text = done.stdout.decode(), shown(done.stdout)
        for number in range(len(documents)):
            assert f"MARK {number} END" in text
        assert "[project-19]" in text
        assert f"{cli.home}/MEMORY.md does not fit here" in text
        assert wide(text) <= wide(line) <= 9_900
        assert estimate_tokens(text) <= 2_400
        assert (parsed(line) is None) == (harness == "codex")


def test_a_full_system_tier_does_not_stop_what_is_learned(cli):
    full = document(*(f"- rule {number:03d} of this house" for number in range(160)))
    Repo(cli.repo).commit({"system/house.md": full})
    run = cli("reflect", EXAMPLE, "--json").json["run"]
    assert run["outcome"] == "merged", run
    changed = git(cli.repo, "diff", "--name-only", run["base"], run["tip"]).split()
    assert "reference/preferences.md" in changed
    assert not [path for path in changed if path.startswith("system/")]
