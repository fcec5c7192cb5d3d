"""What hooks print: kept under stamps that the hook itself checks, and never a moment longer."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reflector.harness.limits import NOTICE_CHARS, least, wide
from reflector.memory.budget import estimate_tokens
from reflector.runtime import birth, block_cache, block_place
from reflector.runtime.compiled import Wanted, compile_block, limits
from reflector.runtime.settings import load
from reflector.runtime.wiring import Context, context
from reflector.surface import hook, hook_seldom, hook_shown
from tests.support.repos import Repo, fresh


@pytest.fixture
def found(tmp_path) -> Context:
    made = context(str(tmp_path / "home"))
    birth.init(made)
    return made


@pytest.fixture
def project(tmp_path) -> Repo:
    return fresh(tmp_path / "shop", {"deep/er/a.txt": "a"})


def keep(found: Context, start: Path | None) -> str:
    """Compile and keep a block, as `prompt` does."""
    stamps = block_cache.stamped(found, start)
    revision, block = compile_block(found, Wanted(start))
    block_cache.save(found, start, stamps, revision, block)
    return block.text


def printed(found: Context, start: Path | None) -> str | None:
    """Return what a hook takes from the cache, None when nothing there holds."""
    agent = os.fsencode(found.agent.path)
    stamps, block = hook_shown.kept(agent, os.fsencode(start) if start else b"", hook._read)
    holds = block and all(hook_shown.holds(agent, stamp, hook._read) for stamp in stamps)
    return block.decode() if holds else None


def short_memory(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "MEMORY.md").write_text(f"# Memory\n\n- [one] {text}\n", "utf-8")


def test_hook_and_cache_agree_on_every_place(found, project):
    long = project.path / ("x" * 120) / ("y" * 120)
    odd = project.path / "100%2F %\udcff"
    for start in (None, project.path, project.path / "deep", long, odd):
        if start:
            start.mkdir(parents=True, exist_ok=True)
        assert keep(found, start) == printed(found, start)


def test_what_changed_while_a_block_was_made_leaves_none_of_it_on_the_disk(found):
    stamps = block_cache.stamped(found, None)
    revision, block = compile_block(found, Wanted(None))
    found.home.settings.write_text("merge = 'auto'")
    block_cache.save(found, None, stamps, revision, block)
    assert not block_place.place(found, None).exists()


def test_two_places_whose_names_are_cut_alike_are_not_mixed_up(found, project):
    one, two = (project.path / ("x" * 90) / middle / ("y" * 110) for middle in ("a", "b"))
    for place in (one, two):
        place.mkdir(parents=True)
    assert block_place.place(found, one) == block_place.place(found, two)
    keep(found, one)
    assert printed(found, one)
    assert printed(found, two) is None


def test_a_copied_home_trusts_no_block_of_the_other(found, tmp_path):
    keep(found, None)
    copy = tmp_path / "copy"
    shutil.copytree(found.home.path, copy, symlinks=True)
    other = context(str(copy))
    assert printed(found, None)
    assert printed(other, None) is None
    assert keep(other, None) == printed(other, None)


@dataclass(frozen=True)
class Here:
    """What a block is made of: a memory and a project."""

    memory: Context
    project: Repo


CHANGES: dict[str, Callable[[Here], object]] = {
    "main": lambda here: Repo(here.memory.agent.repo).commit({"reference/x.md": "x"}),
    "user file": lambda here: short_memory(here.memory.home.path, "pnpm"),
    "project file": lambda here: short_memory(here.project.path / ".reflector", "pnpm"),
    "settings": lambda here: (here.memory.home.path / "config.toml").write_text("merge = 'auto'"),
    "own settings": lambda here: (here.memory.agent.path / "config.toml").write_text(""),
    "launcher": lambda here: (here.memory.home.path / "bin" / "reflector").unlink(),
    "remote": lambda here: here.project.git("remote", "add", "origin", "git@example.com:a/b.git"),
    "new top": lambda here: fresh(here.project.path / "deep"),
    "no top": lambda here: (here.project.path / ".git").rename(here.project.path / "git"),
    "folder": lambda here: moved(here.project.path / "deep"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_a_block_depends_on_makes_it_hold_no_longer(found, project, name):
    start = project.path / "deep"
    keep(found, start)
    assert printed(found, start)
    CHANGES[name](Here(found, project))
    assert printed(found, start) is None


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.mkdir()


def test_work_in_the_project_changes_nothing(found, project):
    start = project.path / "deep"
    keep(found, start)
    project.git("switch", "-q", "-c", "other")
    project.commit({"deep/b.txt": "b"})
    assert printed(found, start)


def test_after_a_merge_the_last_places_are_ready_and_old_ones_gone(found, project):
    places = [project.path / f"p{number}" for number in range(6)]
    for number, start in enumerate(places):
        start.mkdir()
        keep(found, start)
        os.utime(block_place.place(found, start), (number, number))
    gone = project.path / "gone"
    keep(found, gone)
    Repo(found.agent.repo).commit({"system/x.md": "---\ndescription: x\n---\nThe new rule.\n"})
    block_cache.refresh(found)
    for start in (None, *places[2:]):
        shown = printed(found, start)
        assert shown
        assert "The new rule." in shown
    kept = [place for place in (*places, gone) if block_place.place(found, place).exists()]
    assert kept == places[2:]


def test_no_more_places_are_kept_than_are_worth_it(found, project):
    keep(found, project.path)
    text = block_place.place(found, project.path).read_bytes()
    for number in range(40):
        (found.agent.path / "blocks" / f"%2Fp{number}").write_bytes(text)
    keep(found, project.path)
    assert len(list(found.agent.path.glob("blocks/%2F*"))) == block_cache._MOST


def test_what_is_no_line_no_full_path_or_secret_is_not_kept(found, tmp_path):
    secret = tmp_path / ("ghp_" + "a1B2c3D4e5F6" * 3)
    for start in (tmp_path / "a\nmain x", Path("relative"), secret):
        assert secret.name not in keep(found, start)
    assert list(found.agent.path.glob("blocks/*")) == [found.agent.path / "blocks" / "view"]


def test_what_a_variable_of_one_process_decides_is_not_kept_for_others(found, monkeypatch):
    monkeypatch.setenv("REFLECTOR_PROMPT_BUDGET_TOKENS", "600")
    keep(context(str(found.home.path)), None)
    assert not block_place.place(found, None).exists()
    monkeypatch.delenv("REFLECTOR_PROMPT_BUDGET_TOKENS")
    keep(context(str(found.home.path)), None)
    assert block_place.place(found, None).exists()


def test_what_a_late_hook_prints_tells_nothing_of_short_memory(found, project):
    short_memory(found.home.path, "the old wish")
    short_memory(project.path / ".reflector", "the other wish")
    text = keep(found, project.path)
    assert "the old wish" in text
    assert "the other wish" in text
    agent, place = os.fsencode(found.agent.path), os.fsencode(project.path)
    stamps, block = hook_shown.kept(agent, place, hook._read)
    late = hook_seldom.without_volatile(stamps, block).decode()
    assert "wish" not in late
    assert "MEMORY.md" not in late
    assert "<self>" in late
    assert len(late) < len(text)


def test_a_file_of_another_version_holds_for_nobody(found):
    keep(found, None)
    file = block_place.place(found, None)
    file.write_bytes(file.read_bytes().replace(b"reflector-block 2", b"reflector-block 1"))
    assert printed(found, None) is None


def test_a_block_that_a_hook_prints_keeps_to_what_every_harness_takes(found, tmp_path):
    (tmp_path / "config.toml").write_text("[prompt]\nbudget_tokens = 9000\nmax_chars = 90000\n")
    large = load([tmp_path / "config.toml"], {})
    assert limits(large, Wanted()) == (9000, 90000)
    tokens, chars = limits(large, Wanted(by_hook=True))
    assert tokens == least().tokens < 2500
    assert chars == least().chars < 10_000
    usual = load([], {})
    assert limits(usual, Wanted(by_hook=True)) == limits(usual, Wanted()) == (2000, 8000)
    assert limits(usual, Wanted(budget_tokens=700)) == (700, 8000)
    text = compile_block(found, Wanted(by_hook=True))[1].text
    assert estimate_tokens(text) <= tokens


def test_a_line_of_json_that_a_hook_prints_keeps_to_the_limit_whatever_is_escaped(found):
    (found.home.path / "config.toml").write_text(
        "[prompt]\nbudget_tokens = 2400\nmax_chars = 9600\n"
    )
    about = 'An "odd" \\\\ description with <signs> that are escaped, over and over again.'
    folders = ("reference", "facts", "experiences")
    documents = {
        f"{folder}/{number:02d}.md": f"---\ndescription: '{about} {number}'\n---\nText.\n"
        for folder in folders
        for number in range(60)
    }
    escaped = "\\" * 5
    rules = "".join(f'- "{escaped}{number}"\n' for number in range(29))
    for number in range(20):
        name = f"system/rules-{number:02d}.md"
        documents[name] = f"---\ndescription: Quotes\n---\n{rules}"
    Repo(found.agent.repo).commit(documents)
    again = context(str(found.home.path))
    text = compile_block(again, Wanted(by_hook=True))[1].text
    notice = "n" * (NOTICE_CHARS - 2)
    line = hook_shown.formed("claude-code", "SessionStart", notice, text.encode(), "json")
    assert line.startswith(b'{"systemMessage":')
    assert 9_000 < wide(line.decode()) <= 9_900
    assert json.loads(line)["hookSpecificOutput"]["additionalContext"] == text
