"""The engine that asks a model, through a real HTTP server on loopback."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from reflector.agent.anthropic_engine import AnthropicEngine
from reflector.agent.engine import (
    Finish,
    PayloadConversation,
    PayloadEntry,
    Route,
    Task,
    Update,
)
from reflector.core.ambient import Ambient, system
from tests.support.messages_server import Reply, Script, calls, fails, says, serving

pytestmark = pytest.mark.slow

HEAD = "---\ndescription: who it works with\n---\n"
REPORT = "Summary: learned."
END = calls(("finish", {"report": REPORT}))
LEARN = calls(
    ("read", {"path": "transcript"}),
    ("insert", {"path": "system/human.md", "after_line": 3, "text": "- prefers pytest"}),
)
COMMIT = calls(
    (
        "commit",
        {
            "type": "feat",
            "summary": "prefers pytest",
            "updates": [{"text": "system/human.md: prefers pytest", "evidence": ["h:s:1"]}],
        },
    )
)


class Patient:
    """Time that only the engine's own waits move."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


@dataclass
class Scene:
    folder: Path
    commits: list[tuple[str, str, Sequence[Update]]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    script: Script = field(default_factory=lambda: Script([]))

    def commit(self, kind: str, summary: str, updates: Sequence[Update]) -> str:
        self.commits.append((kind, summary, updates))
        return "a" * 40

    def run(self, *replies: Reply, **route: object) -> Finish:
        self.script = Script(replies)
        clock = Patient()
        real = system()
        ambient = Ambient(clock, real.chance)  # type: ignore[arg-type]
        talk = PayloadConversation(
            "h:s", "title", "", 0, [PayloadEntry("h:s:1", "user", "I prefer pytest.")]
        )
        with serving(self.script) as url:
            task = Task(
                run_id="r",
                pipeline="reflection",
                agent_id="",
                worktree=self.folder,
                today="2026-01-01",
                focus="",
                conversations=[talk],
                prompt="You reflect.",
                opening="Begin.",
                route=Route(**({"model": "m", "base_url": url, "keyless": True} | route)),  # type: ignore[arg-type]
            )
            finish = AnthropicEngine(ambient).run(task, self.commit, lambda _line: None)
        self.waited = clock.waited
        assert self.script.violations == []
        return finish


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    folder = tmp_path / "worktree"
    (folder / "system").mkdir(parents=True)
    (folder / "system" / "human.md").write_text(HEAD + "# Human\n", "utf-8")
    return Scene(folder)


def test_a_preference_is_read_written_committed_and_reported(scene: Scene):
    finish = scene.run(LEARN, COMMIT, END)
    assert (finish.kind, finish.report, finish.refusals) == ("committed", REPORT, 0)
    assert "- prefers pytest" in (scene.folder / "system" / "human.md").read_text("utf-8")
    ((kind, summary, updates),) = scene.commits
    assert (kind, summary, updates[0].evidence) == ("feat", "prefers pytest", ["h:s:1"])
    assert finish.usage.input_tokens == 300
    (result,) = [
        each["content"]
        for each in scene.script.requests[1]["messages"][-1]["content"]
        if "I prefer pytest." in each["content"]
    ]
    assert "[entry h:s:1] user" in result


def test_nothing_to_record_needs_no_commit(scene: Scene):
    assert scene.run(END).kind == "nothing_to_record"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (fails(401, "authentication_error"), "auth"),
        (fails(403, "permission_error"), "auth"),
        (fails(404, "not_found_error"), "model_not_found"),
        (fails(400, "invalid_request_error", "prompt is too long: 9 tokens"), "context_overflow"),
        (fails(400, "invalid_request_error", "Your credit balance is too low"), "quota"),
        (fails(400, "invalid_request_error", "tools: unknown"), "engine_error"),
        (fails(413, "request_too_large"), "context_overflow"),
        (fails(429, "rate_limit_error"), "overloaded"),
        (fails(500, "api_error"), "overloaded"),
        (fails(529, "overloaded_error"), "overloaded"),
        (Reply(stop="refusal"), "refusal"),
        (says("partly", stop="model_context_window_exceeded"), "context_overflow"),
        (Reply(), "empty"),
        (says("All is well."), "stuck"),
        (calls(("list", {})), "stuck"),
        (calls(("shell", {"command": "ls"})), "stuck"),
        (says("x", fault="cut"), "overloaded"),
        (says("x", fault="overload"), "overloaded"),
    ],
)
def test_every_misfortune_is_a_named_end(scene: Scene, reply: Reply, reason: str):
    finish = scene.run(reply)
    assert (finish.kind, finish.reason) == ("failed", reason), finish.detail


@pytest.mark.parametrize("reply", [END, fails(401, "authentication_error")])
def test_a_run_leaves_no_connection_open(scene: Scene, reply: Reply):
    gc.collect()
    before = connections()
    gc.disable()  # it would close them, some time later, and blame whoever runs then
    try:
        scene.run(reply)
        assert connections() - before == set()
    finally:
        gc.enable()


def connections() -> set[tuple[int, int]]:
    """Return the open connections of this process: descriptor and port of the other side."""
    found = psutil.Process().net_connections("tcp")
    return {(each.fd, each.raddr.port) for each in found if each.status == psutil.CONN_ESTABLISHED}


def test_an_overloaded_server_is_asked_again_with_growing_waits(scene: Scene):
    busy = fails(529, "overloaded_error")
    finish = scene.run(busy, says("x", fault="overload"), busy, END)
    assert finish.kind == "nothing_to_record"
    first, second, third = scene.waited
    assert 0.5 <= first < second < third <= 6


def test_the_wait_that_the_server_asks_for_is_kept(scene: Scene):
    scene.run(fails(429, "rate_limit_error", retry_after="20"), END)
    assert 14 <= scene.waited[0] <= 26


def test_a_server_that_is_silent_is_given_up(scene: Scene):
    finish = scene.run(Reply(fault="stall"), idle_seconds=0.2)
    assert (finish.reason, len(scene.waited)) == ("overloaded", 3)


def test_a_message_cut_at_its_limit_executes_nothing(scene: Scene):
    write = ("write", {"path": "system/human.md", "content": "gone"})
    finish = scene.run(calls(write, stop="max_tokens"), END)
    assert finish.kind == "nothing_to_record"
    assert (scene.folder / "system" / "human.md").read_text("utf-8").startswith(HEAD)


def test_a_pause_is_continued_with_the_same_content(scene: Scene):
    scene.run(says("thinking", stop="pause_turn"), END)
    assert [each["role"] for each in scene.script.requests[1]["messages"]] == ["user", "assistant"]


def test_a_refusal_is_tried_once_with_the_fallback_model(scene: Scene):
    finish = scene.run(Reply(stop="refusal"), END, fallback=["second"])
    assert finish.kind == "nothing_to_record"
    assert [each["model"] for each in scene.script.requests] == ["m", "second"]


def test_an_answer_without_a_word_is_nudged_once(scene: Scene):
    assert scene.run(Reply(), END).kind == "nothing_to_record"


@pytest.mark.parametrize(
    "limit",
    [
        {"most_turns": 2},
        {"most_tokens": 200},
        {"model": "claude-haiku-4-5", "most_cost_usd": 0.0003},
    ],
)
def test_a_limit_ends_the_run(scene: Scene, limit: dict[str, object]):
    looks = [calls(("search", {"text": str(number)})) for number in range(9)]
    finish = scene.run(*looks, **limit)
    assert (finish.reason, len(scene.script.requests)) == ("limits", 2)


def test_an_unknown_price_is_said_and_not_guessed(scene: Scene):
    assert scene.run(END).usage.cost_usd is None
    known = scene.run(END, model="claude-haiku-4-5")
    assert known.usage.cost_usd == pytest.approx(0.0002)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write", {"path": "../outside.md", "content": "x"}),
        ("write", {"path": "/etc/passwd", "content": "x"}),
        ("write", {"path": ".git/config", "content": "x"}),
        ("write", {"path": "system/boundaries.md", "content": "x"}),
        ("write", {"path": "notes.txt", "content": "x"}),
        ("delete", {"path": "system/../../x"}),
        ("read", {"path": "link/secret"}),
        ("read", {"path": "leak.md"}),
    ],
)
def test_no_call_leaves_the_worktree(scene: Scene, tool: str, given: dict[str, str]):
    outside = scene.folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "secret").write_text("hidden", "utf-8")
    (scene.folder / "link").symlink_to(outside)
    (scene.folder / "leak.md").symlink_to(outside / "secret")
    scene.run(calls((tool, given)), END)
    (answer,) = scene.script.requests[1]["messages"][-1]["content"]
    assert answer["is_error"]
    assert "hidden" not in answer["content"]
    assert not (scene.folder.parent / "outside.md").exists()
    assert not (scene.folder / "notes.txt").exists()


def test_changes_that_were_not_committed_are_called_to_mind_once(scene: Scene):
    write = calls(("write", {"path": "reference/x.md", "content": HEAD}))
    finish = scene.run(write, END, END)
    assert finish.kind == "nothing_to_record"
    assert len(scene.script.requests) == 3
