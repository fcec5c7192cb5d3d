"""A person works in the memory while runs merge into it; nobody's work is lost."""

from __future__ import annotations

import os

import pytest

from tests.race.partners import PERSON, RUNNER, Judge, Partner, partner
from tests.support.auditor import audit
from tests.support.cli import Cli

pytestmark = [pytest.mark.race, pytest.mark.slow]

DEEP = "REFLECTOR_TEST_DEEP" in os.environ
ROUNDS = 400 if DEEP else 25
SEED = os.environ.get("REFLECTOR_TEST_SEED", "1")


def rest(runner: Partner, judge: Judge) -> int:
    """Reflect until nothing waits any more; return how often that took."""
    for times in range(ROUNDS):
        runner.ask(str(ROUNDS))
        runs = runner.answer()
        judge.heard(runs)
        if not runs:
            return times
    return ROUNDS


@pytest.mark.timeout(900 if DEEP else 180)
def test_a_person_and_runs_in_one_memory_lose_nothing_of_each_other(tmp_path):
    cli = Cli(tmp_path / "home")
    assert cli("init").code == 0
    # All lessons go into one document of the system tier, which must have the room.
    wide = "[prompt]\nbudget_tokens = 50000\nmax_chars = 200000\n"
    (cli.home / "config.toml").write_text(wide, "utf-8")
    judge = Judge(cli.repo)
    print(f"seed {SEED}, {ROUNDS} rounds")
    with (
        partner(RUNNER, cli.home, tmp_path) as runner,
        partner(PERSON, cli.repo, SEED) as person,
    ):
        for number in range(ROUNDS):
            person.ask(f"act {number}")
            runner.ask(str(number))
            runs, believed = runner.answer(), person.answer()
            judge.heard(runs)
            wrong = list(judge.wrong(believed))
            assert not wrong, (number, believed["did"], runs, wrong)
            person.ask("tidy")
            believed = person.answer()
        person.ask("finish")
        believed = person.answer()
        assert rest(runner, judge) < ROUNDS
        judge.lessons |= set(range(ROUNDS + 1))
        assert not list(judge.wrong(believed))
    audit(cli.home, transcripts=sorted(tmp_path.glob("race-*.jsonl")))
    print({each: judge.outcomes.count(each) for each in sorted(set(judge.outcomes))})
