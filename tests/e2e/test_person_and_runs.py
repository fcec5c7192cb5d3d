"""A person's own work in the memory beside the real command: never touched, never lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.race.partners import PERSON, Judge, partner
from tests.support.auditor import audit, parent, rows
from tests.support.cli import git
from tests.support.paused import Paused
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

RULE = "Always use tabs in Makefiles."
ROUNDS = 40 if "REFLECTOR_TEST_DEEP" in os.environ else 8
SEED = os.environ.get("REFLECTOR_TEST_SEED", "1")


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return conversation(tmp_path / "talk.jsonl", RULE, "Noted.")


def edits(repo: Path, name: str) -> None:
    (repo / name).write_text(f"---\ndescription: mine\n---\n- mine in {name}\n", "utf-8")


def stages(repo: Path, name: str) -> None:
    edits(repo, name)
    git(repo, "add", "--", name)


def stages_a_part(repo: Path, name: str) -> None:
    stages(repo, name)
    (repo / name).write_text("---\ndescription: mine\n---\n- mine, second thoughts\n", "utf-8")


def deletes(repo: Path, name: str) -> None:
    (repo / name).unlink()


def stages_a_deletion(repo: Path, name: str) -> None:
    git(repo, "rm", "-q", "--", name)


WORK: list[Callable[[Path, str], None]] = [
    edits,
    stages,
    stages_a_part,
    deletes,
    stages_a_deletion,
]


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("name", ["system/human.md", "system/persona.md"])
def test_uncommitted_work_of_every_kind_stays_byte_for_byte(cli, talk, work, name):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    paused.child()
    work(cli.repo, name)
    status = git(cli.repo, "status", "--porcelain")
    staged = git(cli.repo, "diff", "--cached", "--binary", "--", name)
    mine = (cli.repo / name).read_bytes() if (cli.repo / name).exists() else None
    before = parent(cli.repo)
    paused.go_on()
    out, err = process.communicate(timeout=50)
    in_the_way = name == "system/human.md"
    assert process.returncode == (4 if in_the_way else 0), err
    assert (b"parent_dirty" in out) == in_the_way
    if in_the_way:
        assert parent(cli.repo) == before
    assert git(cli.repo, "status", "--porcelain") == status
    assert git(cli.repo, "diff", "--cached", "--binary", "--", name) == staged
    assert ((cli.repo / name).read_bytes() if (cli.repo / name).exists() else None) == mine
    audit(cli.home, transcripts=[talk])


def test_a_person_in_the_way_keeps_the_tip_until_they_are_done(cli, tmp_path, talk):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    paused.child()
    human = cli.repo / "system" / "human.md"
    mine = human.read_bytes() + b"\n- mine, not committed\n"
    human.write_bytes(mine)
    before = parent(cli.repo)
    paused.go_on()
    out, err = process.communicate(timeout=50)
    assert process.returncode == 4, err
    assert b'"outcome":"parent_dirty"' in out
    assert parent(cli.repo) == before

    (run, kept, tip) = tuple(
        rows(cli.repo.parent / "state.db", "SELECT id, kept_ref, tip FROM runs")[0]
    )
    assert git(cli.repo, "rev-parse", kept).strip() == tip
    (problem,) = cli("status", "--json").json["problems"]
    assert "system/human.md" in problem["message"]

    # While the tip waits its conversation starts no new run; another one does.
    conversation(talk, RULE, "Noted.", "Never push to main directly.", "Noted.")
    other = conversation(tmp_path / "other.jsonl", "Hello.", "Hello.", session="other")
    for words in ([talk], [other]):
        waits = cli("reflect", *words, "--json")
        assert waits.code == 4
    audit(cli.home, transcripts=[talk, other])
    assert parent(cli.repo) == before
    started = rows(cli.repo.parent / "state.db", "SELECT conversation FROM run_snapshots")
    assert [each[0] for each in started] == ["jsonl/talk", "jsonl/other"]

    git(cli.repo, "commit", "-q", "-a", "-m", "mine")
    done = cli("reflect", "--json")
    assert done.code == 0, done.err
    first = done.json["runs"][0]
    assert (first["id"], first["outcome"]) == (run, "merged")
    (row,) = rows(cli.repo.parent / "state.db", "SELECT * FROM runs WHERE id = ?", run)
    assert (row["tip"], row["kept_ref"]) == (tip, None)
    assert "mine, not committed" in git(cli.repo, "show", "main:system/human.md")
    assert "Prefers short answers" in git(cli.repo, "show", "main:system/human.md")
    assert git(cli.repo, "for-each-ref", "refs/reflector") == ""
    audit(cli.home, transcripts=[talk, other])


def test_a_merge_conflict_touches_nothing_and_keeps_the_tip(cli, talk):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    paused.child()
    human = cli.repo / "system" / "human.md"
    text = human.read_text("utf-8").replace("## Preferences\n", "## Preferences\n\n- mine first\n")
    human.write_text(text, "utf-8")
    git(cli.repo, "commit", "-q", "-a", "-m", "mine")
    (cli.repo / "reference" / "staged.md").write_text("staged\n", "utf-8")
    git(cli.repo, "add", "-A")
    (cli.repo / "reference" / "staged.md").write_text("and more\n", "utf-8")
    before = parent(cli.repo)
    paused.go_on()
    out, err = process.communicate(timeout=50)
    assert process.returncode == 1, err
    assert b'"outcome":"merge_conflict"' in out
    assert b"system/human.md" in out
    assert parent(cli.repo) == before
    ((kept, tip, cursor),) = rows(
        cli.repo.parent / "state.db", "SELECT kept_ref, tip, cursor FROM runs, conversations"
    )
    assert git(cli.repo, "rev-parse", kept).strip() == tip
    assert cursor == 0
    audit(cli.home, transcripts=[talk])
    assert cli("reflect", talk, "--json").json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk])


@pytest.mark.timeout(600)
def test_a_person_at_work_and_real_commands_lose_nothing_of_each_other(cli, tmp_path):
    print(f"seed {SEED}, {ROUNDS} rounds")
    judge = Judge(cli.repo, lesson="- Always run job number {} first (2026-11-30)")
    with partner(PERSON, cli.repo, SEED) as person:
        for number in range(ROUNDS):
            name = f"race-{number}"
            said = f"Always run job number {number} first."
            talk = conversation(tmp_path / f"{name}.jsonl", said, "Noted.", session=name)
            person.ask(f"act {number}")
            done = cli("reflect", talk, "--json")
            believed = person.answer()
            assert done.code in (0, 1, 4), done.err
            judge.heard(done.json["runs"])
            wrong = list(judge.wrong(believed))
            assert not wrong, (number, believed["did"], done.out, wrong)
            person.ask("tidy")
            believed = person.answer()
        person.ask("finish")
        believed = person.answer()
        for _ in range(ROUNDS):
            done = cli("reflect", "--json")
            judge.heard(done.json["runs"])
        judge.lessons |= set(range(ROUNDS))
        assert not list(judge.wrong(believed))
    audit(cli.home, transcripts=sorted(tmp_path.glob("race-*.jsonl")))
