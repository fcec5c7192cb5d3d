"""Details are copied as they were captured, in their order, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reflector.pipelines.experiences.details import MOST, copied
from reflector.pipelines.experiences.rows import Row
from tests.support.secret_samples import CAUGHT

TABLE = "| day  | run |\n|------|-----|\n| Mon  |  7  |\n\n| Sun  |  0  |"
SAID = Row("a1", "assistant", f"The plan:\n\n{TABLE}\n")
READ = Row("t1", "tool_call", "", "Read", '{"file_path": "x"}', "  indented\n\ttab\n")
WROTE = Row(
    "t2",
    "tool_call",
    "",
    "Write",
    json.dumps({"file_path": "/srv/shop/app.toml", "content": "[a]\nport = 8080\n"}),
    "ok",
)


def test_rows_are_copied_in_their_order_with_their_layout() -> None:
    assert copied([SAID, READ, WROTE], ["t1", "a1"]) == f"The plan:\n\n{TABLE}\n\n  indented\n\ttab"


def test_what_was_written_is_copied_out_of_the_call() -> None:
    assert copied([WROTE], ["t2"]) == "[a]\nport = 8080"


@pytest.mark.parametrize("ids", [[], ["zz"]])
def test_nothing_named_is_nothing_copied(ids: list[str]) -> None:
    assert copied([SAID, READ], ids) == ""


def test_a_long_text_keeps_its_head_and_says_that_it_was_cut() -> None:
    exact, long = "字" * MOST, "字" * (MOST + 1)
    assert copied([replace(SAID, text=exact)], ["a1"]) == exact
    cut = copied([replace(SAID, text=long)], ["a1"])
    assert len(cut) == MOST
    assert cut == f"{long[: MOST - 12]}…(truncated)"


def test_no_secret_is_copied_from_any_row() -> None:
    secret = CAUGHT["github"][0]
    text = copied(
        [
            replace(READ, result=f"token: {secret}"),
            replace(SAID, text=f"password: hunter2-and-more\nthen hunter2-and-more {secret}"),
        ],
        ["t1", "a1"],
    )
    assert secret not in text
    assert "hunter2-and-more" not in text


@pytest.mark.parametrize(
    "command", ["git add app.toml && git commit -m x", "git commit -am x", "git add -A; git commit"]
)
def test_of_a_file_that_was_committed_the_place_is_kept(command: str) -> None:
    commit = Row(
        "t3", "tool_call", "", "Bash", json.dumps({"command": command}), "[main 1a2b3c4] x\n 1 file"
    )
    assert copied([WROTE, commit], ["t2"]) == "commit 1a2b3c4, /srv/shop/app.toml, lines 1-2"
    assert copied([commit, WROTE], ["t2"]) == "[a]\nport = 8080"


def test_of_a_file_beside_the_commit_the_text_is_kept() -> None:
    command = json.dumps({"command": "git add b.py && git commit -m x"})
    commit = Row("t3", "tool_call", "", "Bash", command, "[main 1a2b3c4] x")
    assert copied([WROTE, commit], ["t2"]) == "[a]\nport = 8080"


def test_of_an_edit_what_stands_there_now_is_copied() -> None:
    given = {"file_path": "a.py", "old_string": "old\n" * 40, "new_string": "rate = 3\n"}
    edit = Row("t4", "tool_call", "", "Edit", json.dumps(given), "The file was updated." * 20)
    assert copied([edit], ["t4"]) == "rate = 3"
