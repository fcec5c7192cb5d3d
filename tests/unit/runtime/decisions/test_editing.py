"""The child's side of a consolidation: what becomes of an answer, without any run around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reflector.agent.engine import Finish, Route, Step, Task, Update
from reflector.core.errors import DocumentError
from reflector.runtime.decisions.brief import Brief, BriefDelta
from reflector.runtime.decisions.editing import consolidate
from reflector.runtime.decisions.settling import read_changes
from tests.support.clocks import ambient
from tests.support.messages_server import Reply, Script, calls, fails, serving

BRIEF = Brief("shop", (BriefDelta(7, "h:s:0"), BriefDelta(8, "")))
ADD = {"action": "add", "section": "Bar", "bullet": "Right edge solid.", "deltas": [7, 8]}
BAD = {"action": "remove", "old": "not there", "reason": "x"}
FILE = "projects/shop/style.md"


@dataclass
class Edited:
    """A worktree's folder, a commit tool, and what came of it. `refusals` are told first."""

    folder: Path
    refusals: list[str] = field(default_factory=list)
    commits: list[tuple[str, str, Sequence[Update]]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    script: Script = field(default_factory=lambda: Script([]))

    def commit(self, kind: str, summary: str, updates: Sequence[Update]) -> str:
        if self.refusals:
            raise DocumentError(self.refusals.pop())
        self.commits.append((kind, summary, updates))
        return "a" * 40

    def edits(self, *replies: Reply, brief: Brief = BRIEF) -> Finish:
        self.script = Script(replies)
        (self.folder / "run" / "out").mkdir(parents=True)
        (self.folder / "tree").mkdir()
        with serving(self.script) as url:
            task = Task(
                run_id="r",
                pipeline="decisions",
                agent_id="",
                worktree=self.folder / "tree",
                today="2026-01-01",
                focus="",
                conversations=(),
                prompt="Rules.",
                opening="Files and deltas.",
                route=Route(model="m", base_url=url, keyless=True),
                record=self.steps.append,
            )
            out = self.folder / "run" / "out"
            done = consolidate(task, brief, self.commit, out, ambient())
        assert self.script.violations == []
        return done

    @property
    def text(self) -> str:
        place = self.folder / "tree" / FILE
        return place.read_text() if place.exists() else ""


@pytest.fixture
def made(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


def answer(*edits: object, file: str = "style", stop: str = "tool_use") -> Reply:
    return calls(("edit_memory_files", {file: list(edits)}), stop=stop)


def test_an_edit_is_written_committed_with_its_evidence_and_told(made: Edited):
    done = made.edits(answer(ADD))
    assert (done.kind, done.usage.input_tokens) == ("committed", 100)
    assert "## Bar\n\n- Right edge solid.\n" in made.text
    [(kind, summary, [update])] = made.commits
    assert (kind, summary) == ("feat", "1 decision of shop")
    assert update == Update(f"{FILE}: Right edge solid.", ("h:s:0",))
    [change] = read_changes(made.folder / "run")
    assert (change.new, change.deltas) == ("Right edge solid.", (7, 8))
    request = made.script.requests[0]
    assert (request["max_tokens"], request["output_config"]) == (8192, {"effort": "medium"})
    assert [dict(step.counts) for step in made.steps] == [{"edits": 1, "refused": 0}]


def test_no_edits_are_nothing_to_record(made: Edited):
    assert made.edits(answer()).kind == "nothing_to_record"
    assert made.commits == []


def test_where_nothing_waits_any_more_no_model_is_asked(made: Edited):
    assert made.edits(answer(ADD), brief=Brief("shop", ())).kind == "nothing_to_record"
    assert made.script.requests == []


def test_an_answer_that_was_cut_is_handed_back_and_nothing_of_it_is_done(made: Edited):
    torn = answer(ADD, {**ADD, "bullet": "Left edge"}, stop="max_tokens")
    other = {**ADD, "bullet": "Top edge thin."}
    assert made.edits(torn, answer(other)).kind == "committed"
    assert "Right edge" not in made.text
    assert "- Top edge thin." in made.text


def test_two_bad_answers_are_a_failure_and_leave_no_file(made: Edited):
    done = made.edits(answer(BAD), answer(BAD))
    assert (done.kind, done.reason) == ("failed", "validation")
    assert "There is no bullet 'not there'." in done.detail
    assert done.usage.input_tokens == 200
    assert made.text == ""
    assert len(made.script.requests) == 2


def test_what_the_commit_tool_refuses_is_handed_back_and_put_back(made: Edited):
    made.refusals = ["The commit would be refused: a secret in line 5."]
    other = {**ADD, "bullet": "Top edge thin."}
    assert made.edits(answer(ADD), answer(other)).kind == "committed"
    assert "Right edge" not in made.text
    said = made.script.requests[1]["messages"][-1]["content"][0]["content"]
    assert "a secret in line 5" in said


def test_a_provider_that_fails_is_named(made: Edited):
    done = made.edits(fails(401, "authentication_error", "bad key"))
    assert (done.kind, done.reason) == ("failed", "auth")
    assert [step.error for step in made.steps] == ["auth"]


def test_a_bullet_rests_on_deltas_of_this_run_alone(made: Edited):
    done = made.edits(answer({**ADD, "deltas": [9]}), answer({**ADD, "deltas": []}))
    assert done.reason == "validation"
