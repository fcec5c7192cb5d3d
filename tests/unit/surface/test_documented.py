"""What help and documents say about commands, held against the parsers themselves."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from reflector.runtime.settings import load
from reflector.surface.cli.commands import COMMANDS, HEADINGS, Group
from reflector.surface.cli.examples import EXAMPLES
from reflector.surface.cli.main import _parser
from reflector.surface.cli.overview import overview

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def names() -> list[str]:
    """Return the full name of every command."""
    return [
        f"reflector {' '.join(words)}"
        for name, entry in COMMANDS.items()
        for words in (
            [(name, each) for each in entry.commands] if isinstance(entry, Group) else [(name,)]
        )
    ]


def parsed(line: str) -> argparse.Namespace:
    """Parse a line as a shell and the program would; raise what the program would say."""
    words = shlex.split(re.sub(r"[\[\]]", "", line), comments=True)[1:]
    if {"<", "|"} & set(words):
        words = words[: min(words.index(each) for each in ("<", "|") if each in words)]
    found, rest = _parser(words).parse_known_args(words)
    assert not rest, f"{line}: {rest}"
    return found


def commands(page: Path) -> set[str]:
    """Return the command lines of a page: in blocks from their beginning, and between backticks."""
    text = re.sub(
        r"<!-- (\w+):begin -->.*?<!-- \1:end -->", "", page.read_text("utf-8"), flags=re.DOTALL
    )
    blocks = re.findall(r"^```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found = [*lines, *re.findall(r"`([^`\n]+)`", text)]
    return {
        line
        for line in found
        if line.startswith("reflector ")
        and not line.endswith("--help")
        and not line.startswith("reflector hook ")
    }


def test_every_command_stands_under_one_heading():
    under = [name for entries in HEADINGS.values() for name in entries]
    assert len(under) == len(set(under))
    assert set(under) == set(COMMANDS)


def test_the_help_of_the_program_names_every_command_under_its_heading_within_eighty_columns():
    lines = overview().splitlines()
    assert max(map(len, lines)) <= 80
    for heading, entries in HEADINGS.items():
        under = lines[lines.index(heading) + 1 :][: len(entries)]
        assert [line.split()[0] for line in under] == list(entries)


def test_every_command_has_one_example():
    assert sorted(EXAMPLES) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_an_example_is_a_line_that_its_command_takes(name):
    assert parsed(EXAMPLES[name]).prog == name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_that_a_page_names_is_one_that_the_program_takes(page):
    for line in sorted(commands(page)):
        parsed(line)


def test_the_settings_that_are_shown_as_an_example_are_accepted(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/settings.md").read_text(), re.DOTALL)
    (tmp_path / "config.toml").write_text(block, "utf-8")
    found = load([tmp_path / "config.toml"], {})
    assert (found.flag("push.enabled"), found.flag("notice")) == (True, False)
