"""Two commands on one memory at the same time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.auditor import audit, rows
from tests.support.cli import Cli, git
from tests.support.paused import Paused
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

TABS, MAIN = "Always use tabs in Makefiles.", "Never push to main directly."


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(tmp_path / "home")
    assert made("init").code == 0
    return made


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=50)
    return process.returncode, out.decode(), err.decode()


def lines(cli: Cli) -> list[str]:
    names = git(cli.repo, "ls-tree", "-r", "--name-only", "main").split()
    return [line for name in names for line in git(cli.repo, "show", f"main:{name}").splitlines()]


def test_the_second_reflect_waits_says_so_and_does_its_own_part(cli, tmp_path):
    one = conversation(tmp_path / "one.jsonl", "Keep it short.", "Yes.", session="one")
    two = conversation(tmp_path / "two.jsonl", TABS, "Yes.", session="two")
    paused = Paused(cli.home)
    first = paused.start("reflect", one)
    paused.child()
    second = cli.start("reflect", two)
    assert second.stderr is not None
    line = second.stderr.readline().decode()
    assert line == "Another run is active in this memory; waiting for its end.\n"
    paused.go_on()
    assert ended(first)[::2] == (0, "")
    code, out, err = ended(second)
    assert (code, err) == (0, "")
    assert "merged" in out
    merged = git(cli.repo, "rev-list", "--merges", "main").split()
    assert len(merged) == 2
    audit(cli.home, transcripts=[one, two])


@pytest.mark.parametrize("attempt", range(4))
def test_two_reflects_of_one_transcript_merge_each_lesson_once(cli, tmp_path, attempt):
    talk = conversation(tmp_path / "talk.jsonl", TABS, "Yes.", MAIN, f"Yes, {attempt}.")
    both = [cli.start("reflect", talk, "--json") for _ in range(2)]
    ends = [ended(each) for each in both]
    assert [code for code, _, _ in ends] == [0, 0], ends
    runs = [run for _, out, _ in ends for run in json.loads(out)["runs"]]
    assert [run["outcome"] for run in runs] == ["merged"]
    for said in (TABS, MAIN):
        assert sum(said.rstrip(".") in line for line in lines(cli)) == 1
    audit(cli.home, transcripts=[talk])


def test_undo_while_a_run_works_loses_neither(cli, tmp_path):
    old = conversation(tmp_path / "old.jsonl", TABS, "Yes.", session="old")
    run = cli("reflect", old, "--json").json["run"]
    new = conversation(tmp_path / "new.jsonl", MAIN, "Yes.", session="new")
    paused = Paused(cli.home)
    working = paused.start("reflect", new, "--json")
    paused.child()
    assert cli("undo", run["id"]).code == 0
    paused.go_on()
    code, out, err = ended(working)
    outcome = json.loads(out)["run"]["outcome"]
    assert (code, outcome) in ((0, "merged"), (1, "merge_conflict")), err
    if outcome != "merged":
        assert cli("reflect", new).code == 0
    assert not any("Makefiles" in line for line in lines(cli))
    audit(cli.home, transcripts=[old, new])


@pytest.mark.parametrize("attempt", range(4))
def test_undo_and_reflect_at_once_both_land(cli, tmp_path, attempt):
    old = conversation(tmp_path / "old.jsonl", TABS, f"Yes, {attempt}.", session="old")
    run = cli("reflect", old, "--json").json["run"]
    new = conversation(tmp_path / "new.jsonl", MAIN, "Yes.", session="new")
    reflecting, undoing = cli.start("reflect", new), cli.start("undo", run["id"])
    undone, _, told = ended(undoing)
    code, out, err = ended(reflecting)
    # The new lesson may have come first, right beside the line that is to go.
    assert (undone, told) == (0, "") or (undone == 1 and "by hand" in told)
    assert code == 0 or "merge_conflict" in out, err
    assert cli("reflect", new).code == 0
    said = lines(cli)
    assert any("Makefiles" in line for line in said) == bool(undone)
    assert sum("push to main" in line for line in said) == 1
    audit(cli.home, transcripts=[old, new])


@pytest.mark.parametrize("named", [True, False], ids=["with ids", "without ids"])
def test_two_ingests_of_one_growing_file_double_nothing(cli, tmp_path, named):
    talk = tmp_path / "talk.jsonl"
    talk.touch()
    written = 0

    def grow() -> None:
        nonlocal written
        with talk.open("ab", buffering=0) as file:
            for _ in range(700):
                role = "assistant" if written % 2 else "user"
                # Without an id equal rows are told apart by counting them.
                row = {"role": role, "content": f"Row {written // 6}.", "session_id": "talk"}
                if named:
                    row["id"] = f"n{written}"
                file.write(json.dumps(row).encode() + b"\n")
                written += 1

    for _ in range(5):
        grow()
        both = [cli.start("ingest", talk, "--json") for _ in range(2)]
        grow()
        ends = [ended(each) for each in both]
        assert [(code, err) for code, _, err in ends] == [(0, ""), (0, "")]
    assert cli("ingest", talk).code == 0
    assert rows(cli.repo.parent / "state.db", "SELECT bad_lines FROM sources")[0][0] == 0
    audit(cli.home, transcripts=[talk])
