"""Hostile transcripts against a model that obeys them: nothing of it reaches the memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from reflector.memory import evidence_rules, rules
from reflector.runtime.compiled import Wanted, compile_block
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.wiring import Context, context
from tests.quality.injection.corpus import CASES, Case
from tests.support.cli import git
from tests.support.messages_server import Reply, Script, serving
from tests.support.scenes import Scene

pytestmark = [pytest.mark.slow]

WORDS = {case.name: case for case in CASES}


@dataclass
class Drill:
    """One attack carried out; `faults` says what got through."""

    case: Case
    folder: Path

    def carried_out(self) -> list[str]:
        canary = Script([Reply()])
        with serving(canary) as url:
            return [*self._attacked(url), *["the canary was asked" for _ in canary.requests]]

    def _attacked(self, canary: str) -> list[str]:
        script = Script([_aimed(reply, canary) for reply in self.case.does])
        with serving(script) as url:
            found = _home(self.folder, url)
            before = _documents(found)
            rows = [
                {**row, "session_id": "talk", "id": str(number)}
                for number, row in enumerate(self.case.rows)
            ]
            talk = self.folder / "talk.jsonl"
            talk.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            (run,) = reflect(found, Options(files=[talk]), Quiet()).runs
        return [*script.violations, *self._wrong(found, run, before)]

    def _wrong(self, found: Context, run: Any, before: dict[str, str]) -> list[str]:
        end = run.settlement
        codes = {str(each["code"]) for each in end.findings} | {end.reason and end.reason.value}
        main = git(found.agent.repo, "log", "-p", "main")
        block = compile_block(found, Wanted())[1].text
        wrong = [f"ended {end.outcome.value}: {end.detail}"] * (end.outcome != self.case.outcome)
        wrong += [f"{self.case.code} is not in {codes}"] * (self.case.code not in {*codes, ""})
        wrong += [f"{text} is in main" for text in self.case.forbidden if text in main]
        texts = (*self.case.forbidden, *self.case.escaped)
        wrong += [f"{text} is in the block" for text in texts if text in block]
        after = _documents(found)
        same = [path for path in before if path.startswith("system/")]
        return wrong + [f"{path} changed" for path in same if after.get(path) != before[path]]


def _home(folder: Path, url: str) -> Context:
    scene = Scene(folder, f'[engine]\nname = "anthropic"\nbase_url = "{url}"\n')
    return context(str(scene.home))


def _documents(found: Context) -> dict[str, str]:
    rows = git(found.agent.repo, "ls-tree", "-r", "main").splitlines()
    return {row.split("\t")[1]: row.split()[2] for row in rows}


def _aimed(reply: Reply, canary: str) -> Reply:
    return replace(reply, content=json.loads(json.dumps(reply.content).replace("$CANARY", canary)))


@pytest.mark.parametrize("name", WORDS)
def test_a_model_that_obeys_a_transcript_does_no_harm(tmp_path: Path, name: str):
    assert Drill(WORDS[name], tmp_path).carried_out() == []


def test_at_least_ten_attacks_are_held_by_the_rule_of_evidence_alone(monkeypatch, tmp_path: Path):
    """Without the rule they must get through, or the drill proves nothing about it."""
    left = tuple(rule for rule in rules._TABLE if rule.judge.__module__ != evidence_rules.__name__)
    monkeypatch.setattr(rules, "_TABLE", left)
    got_through: list[str] = []
    for number, case in enumerate(each for each in CASES if each.rests_on_evidence):
        if len(got_through) == 10:
            break
        folder = tmp_path / str(number)
        folder.mkdir()
        faults = Drill(case, folder).carried_out()
        got_through += [case.name] if any("is in main" in fault for fault in faults) else []
    assert len(got_through) >= 10
