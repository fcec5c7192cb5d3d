"""The project's own instruction files: near ones first, bounded, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.memory.budget import estimate_tokens
from reflector.runtime.decisions.digest import digest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "person"
    (home / "src" / "shop" / ".git").mkdir(parents=True)
    (home / "src" / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (home / "src" / "shop" / "deep").mkdir()
    return home


def test_the_project_comes_before_what_is_around_it(home: Path):
    (home / "AGENTS.md").write_text("home rules")
    (home / "src" / "CLAUDE.md").write_text("source rules")
    (home / "src" / "shop" / "AGENTS.md").write_text("shop rules")
    (home / "src" / "shop" / "CLAUDE.md").write_text("more shop rules")
    (home.parent / "AGENTS.md").write_text("not the person's")
    found = digest(str(home / "src" / "shop" / "deep"), str(home))
    assert [each.text for each in found] == [
        "shop rules",
        "more shop rules",
        "source rules",
        "home rules",
    ]
    assert [each.name for each in found][:2] == ["AGENTS.md", "CLAUDE.md"]


def test_a_project_outside_of_the_home_has_only_its_own(home: Path):
    (home / "src" / "AGENTS.md").write_text("around it")
    (home / "src" / "shop" / "AGENTS.md").write_text("its own")
    found = digest(str(home / "src" / "shop"), str(home.parent / "elsewhere"))
    assert [each.text for each in found] == ["its own"]


def test_a_link_out_of_the_folder_is_not_followed_and_one_inside_counts_once(home: Path):
    shop = home / "src" / "shop"
    (home.parent / "secret.md").write_text("out of bounds")
    (shop / "AGENTS.md").symlink_to(home.parent / "secret.md")
    assert digest(str(shop), str(home)) == ()
    (shop / "AGENTS.md").unlink()
    (shop / "docs").mkdir()
    (shop / "docs" / "rules.md").write_text("inside")
    (shop / "AGENTS.md").symlink_to("docs/rules.md")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    assert [each.text for each in digest(str(shop), str(home))] == ["inside"]


def test_a_secret_in_an_instruction_file_is_not_passed_on(home: Path):
    secret = "ghp_" + "a1B2" * 9
    (home / "src" / "shop" / "AGENTS.md").write_text(f"token: {secret}")
    [found] = digest(str(home / "src" / "shop"), str(home))
    assert secret not in found.text


def test_a_small_file_leaves_its_share_to_a_large_one(home: Path):
    shop = home / "src" / "shop"
    (shop / "AGENTS.md").write_text("one line of many words\n" * 2000)
    (shop / "CLAUDE.md").write_text("short")
    large, small = digest(str(shop), str(home), most=1000)
    assert small.text == "short"
    assert large.text.endswith("[… cut]")
    assert 900 < estimate_tokens(large.text) + estimate_tokens(small.text) <= 1000


def test_of_two_large_files_neither_pushes_the_other_out(home: Path):
    shop = home / "src" / "shop"
    (shop / "AGENTS.md").write_text("a rule about the one thing\n" * 2000)
    (shop / "CLAUDE.md").write_text("a rule about the other\n" * 2000)
    one, other = (estimate_tokens(each.text) for each in digest(str(shop), str(home), most=1000))
    assert 400 < one <= 500
    assert 400 < other <= 500


def test_no_folder_has_no_digest(home: Path):
    assert digest("", str(home)) == ()
    assert digest("relative", str(home)) == ()
