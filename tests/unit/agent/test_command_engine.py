"""The engine that runs an agent CLI: every way in which one can end has one name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from reflector.agent.cli_faults import reason_of
from reflector.agent.cli_words import Heard
from reflector.agent.command_engine import CommandEngine
from reflector.agent.engine import (
    Left,
    PayloadConversation,
    PayloadEntry,
    Ran,
    Route,
    Step,
    Task,
    Update,
)
from reflector.agent.presets import PRESETS, command_line
from reflector.core.errors import DocumentError
from reflector.core.run import Reason
from tests.support.clocks import FakeClock

GOOD = """feat(reflection): prefers pytest

Updates:
- system/human.md: prefers pytest [entry jsonl:a:0]
"""
NOTHING = "Small talk only. Nothing to record."
CAPTURES = Path(__file__).resolve().parents[4] / "shared" / "data" / "live-captures"


@dataclass
class Program:
    """Plays a CLI: leaves files, says lines, ends with a code."""

    files: dict[str, str] = field(default_factory=dict)
    lines: Sequence[str] = ()
    ran: Ran = field(default_factory=lambda: Ran(0))
    leaves: Left = "nothing"
    error: OSError | None = None
    folder: Path = Path()
    words: Sequence[str] = ()
    given: bytes = b""
    seen: list[str] = field(default_factory=list)

    def run(self, words: Sequence[str], given: bytes, hear: Callable[[bytes], None]) -> Ran:
        self.words, self.given = words, given
        self.seen = sorted(str(each.name) for each in (self.folder / ".tmp").iterdir())
        if self.error:
            raise self.error
        for name, text in self.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, "utf-8")
        for line in self.lines:
            hear(line.encode())
        return self.ran

    def left(self) -> Left:
        return self.leaves


@dataclass
class Commits:
    """Takes a commit, or refuses it."""

    refuses: str = ""
    made: list[tuple[str, str, list[Update]]] = field(default_factory=list)

    def __call__(self, kind, summary, updates):
        if self.refuses:
            raise DocumentError(self.refuses)
        self.made.append((kind, summary, list(updates)))
        return "c0ffee"


@pytest.fixture
def commits() -> Commits:
    return Commits()


@pytest.fixture
def finish(tmp_path: Path, commits: Commits):
    steps: list[Step] = []

    def work(program: Program, route: Route | None = None):
        program.folder = tmp_path
        entry = PayloadEntry("jsonl:a:0", "user", "I prefer pytest.")
        task = Task(
            run_id="r",
            pipeline="reflection",
            agent_id="me",
            worktree=tmp_path,
            today="2026-11-30",
            focus="",
            conversations=[PayloadConversation("c", "t", "/x", 0, [entry])],
            prompt="PERSONA",
            opening="OPENING",
            route=route or Route(command=["agent", "--go"]),
            record=steps.append,
            programs=program,
        )
        ended = CommandEngine(FakeClock()).run(task, commits, lambda _line: None)
        assert not (tmp_path / ".tmp").exists()
        assert len(steps) == 1
        assert not ended.reason or Reason(ended.reason)
        return ended

    return work


def result(**more: object) -> str:
    row = {"type": "result", "subtype": "success", "is_error": False, "result": NOTHING}
    return json.dumps(row | more)


CLAUDE = Route(preset="claude", model="opus")


def test_the_prompt_goes_to_stdin_and_is_no_argument(finish):
    program = Program(lines=[NOTHING])
    finish(program)
    assert program.given == b"PERSONA\n\nOPENING"
    assert program.words == ["agent", "--go"]
    assert program.seen == ["transcript.md"]


def test_a_command_may_ask_for_the_prompt_as_a_file(finish):
    program = Program(lines=[NOTHING])
    finish(program, Route(command=["agent", "{prompt}"]))
    assert program.words == ["agent", ".tmp/prompt.md"]
    assert program.seen == ["prompt.md", "transcript.md"]


def test_edits_with_a_message_are_committed_by_us(finish, commits):
    program = Program({".tmp/commit.md": GOOD}, ["Report."], leaves="edits")
    ended = finish(program)
    assert (ended.kind, ended.report) == ("committed", "Report.")
    update = Update("system/human.md: prefers pytest", ("jsonl:a:0",))
    assert commits.made == [("feat", "prefers pytest", [update])]


def test_trailers_of_a_cli_are_not_taken(finish, commits):
    text = GOOD + "\nGenerated-By: somebody else\nAgent-ID: $AGENT_ID\n"
    assert finish(Program({".tmp/commit.md": text}, leaves="edits")).kind == "committed"
    assert "AGENT" not in str(commits.made)


def test_an_emptied_document_is_deleted_and_nothing_else(finish, tmp_path):
    files = {
        ".tmp/commit.md": GOOD,
        "reference/old.md": "",
        "system/human.md": "x",
        "notes.txt": "",
    }
    finish(Program(files, leaves="edits"))
    assert not (tmp_path / "reference" / "old.md").exists()
    assert (tmp_path / "system" / "human.md").exists()
    assert (tmp_path / "notes.txt").exists()


def test_edits_without_a_message_are_left_for_git_to_judge(finish, commits):
    ended = finish(Program({"system/human.md": "x"}, [NOTHING], leaves="edits"))
    assert (ended.kind, commits.made) == ("nothing_to_record", [])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("I changed things", "subject"),
        (GOOD.replace("reflection", "dream"), "pipeline"),
        (GOOD.split("Updates", maxsplit=1)[0], "Updates"),
    ],
)
def test_a_message_that_does_not_parse_is_said_to_be_wrong(finish, commits, message, said):
    ended = finish(Program({".tmp/commit.md": message}, leaves="edits"))
    assert (ended.kind, ended.reason) == ("failed", "validation")
    assert said in ended.detail
    assert commits.made == []


def test_a_message_behind_a_link_is_not_read(finish, commits, tmp_path):
    class Links(Program):
        def run(self, words, given, hear):
            (tmp_path / "elsewhere").write_text(GOOD)
            (tmp_path / ".tmp" / "commit.md").symlink_to(tmp_path / "elsewhere")
            return super().run(words, given, hear)

    ended = finish(Links(leaves="edits"))
    assert (ended.reason, commits.made) == ("validation", [])
    assert "cannot be read" in ended.detail


def test_a_commit_that_is_refused_is_a_failed_end(finish, commits):
    commits.refuses = "system/human.md:3 a secret"
    ended = finish(Program({".tmp/commit.md": GOOD}, leaves="edits"))
    assert (ended.reason, ended.detail) == ("validation", commits.refuses)


def test_commits_of_a_cli_are_never_ours(finish, commits):
    ended = finish(Program({".tmp/commit.md": GOOD}, ["Fine."], leaves="commits"))
    assert (ended.kind, ended.reason, commits.made) == ("failed", "validation", [])


# Nothing changed


def test_nothing_to_record_is_taken_at_its_word(finish):
    assert finish(Program(lines=[NOTHING])).kind == "nothing_to_record"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (Program(), "empty"),
        (Program(lines=["All done!"]), "empty"),
        (Program({".tmp/commit.md": GOOD}, [NOTHING]), "empty"),
    ],
)
def test_exit_0_without_proof_is_no_success(finish, program, reason):
    ended = finish(program)
    assert (ended.kind, ended.reason) == ("failed", reason)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([result(permission_denials=[{"tool_name": "Write"}])], "engine_error"),
        ([result(permission_denials=[{"tool_name": "Bash"}])], "engine_error"),
        ([result(permission_denials=[{"tool_name": "Read"}])], ""),
        ([result()[:40]], "no_result"),
        ([], "no_result"),
        (["garbage", "[]", "7", result()], ""),
        ([result(), result(result="Done.")], "empty"),
    ],
)
def test_a_preset_proves_nothing_to_record_by_its_result(finish, lines, reason):
    ended = finish(Program(lines=lines), CLAUDE)
    assert ended.reason == reason
    assert (ended.kind == "nothing_to_record") is (reason == "")


def test_when_every_tool_failed_nothing_to_record_is_no_proof(finish):
    failed = {"content": [{"type": "tool_result", "is_error": True}]}
    lines = [json.dumps({"type": "user", "message": failed})] * 2
    ended = finish(Program(lines=[*lines, result()]), CLAUDE)
    assert (ended.reason, ended.detail) == ("engine_error", "All 2 tool calls failed.")


# Failures


def test_a_program_that_is_not_there_is_missing(finish):
    ended = finish(Program(error=FileNotFoundError(2, "No such file", "agent")))
    assert (ended.reason, ended.detail) == ("engine_missing", "There is no program 'agent'.")
    assert ended.usage.cost_usd == 0.0


def test_what_names_no_cost_may_have_cost_something(finish):
    assert finish(Program(ran=Ran(1, "gone"))).usage.cost_usd is None


def test_a_machine_without_room_says_its_error(finish):
    ended = finish(Program(error=BlockingIOError(11, "Resource temporarily unavailable")))
    assert ended.reason == "spawn_failed"
    assert "EAGAIN" in ended.detail


def test_a_sandbox_that_does_not_start_is_not_the_clis_fault(finish):
    ended = finish(Program(ran=Ran(1, "bwrap: setting up uid map: Operation not permitted\n")))
    assert ended.reason == "sandbox_unavailable"


def test_a_code_that_is_not_0_is_a_failure_whatever_it_left(finish, commits):
    program = Program({".tmp/commit.md": GOOD}, leaves="edits", ran=Ran(3, "a\nb\nc\nd\n"))
    ended = finish(program)
    assert (ended.kind, ended.reason, commits.made) == ("failed", "child_exit", [])
    assert ended.detail == "agent ended with code 3: b | c | d"


def test_what_a_cli_said_is_redacted_and_short(finish):
    key = "sk-ant-api03-" + "k" * 95
    ended = finish(Program(lines=[key], ran=Ran(1, f"key {key} " + "x" * 900)))
    assert key not in ended.detail + ended.report
    assert len(ended.detail) <= 512


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"subtype": "error_max_turns", "is_error": True, "errors": ["max"]}, "limits"),
        ({"subtype": "error_max_budget_usd", "is_error": True}, "limits"),
        ({"is_error": True, "api_error_status": 401, "result": "API Error"}, "auth"),
        ({"is_error": True, "api_error_status": 404, "result": "API Error"}, "model_not_found"),
        ({"is_error": True, "result": "API Error: 529 Overloaded"}, "overloaded"),
        ({"is_error": True, "result": "Prompt is too long"}, "context_overflow"),
        ({"is_error": True, "result": "Something"}, "engine_error"),
        ({"stop_reason": "refusal", "result": ""}, "refusal"),
    ],
)
def test_a_presets_own_account_of_a_failure_counts(finish, more, reason):
    assert finish(Program(lines=[result(**more)]), CLAUDE).reason == reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Invalid API key · Please run /login", "auth"),
        ("unexpected status 401 Unauthorized", "auth"),
        ("You've hit your usage limit. Try again later.", "quota"),
        ("Credit balance is too low", "quota"),
        ("stream disconnected before completion", "overloaded"),
        ("connect ECONNREFUSED 127.0.0.1:9", "overloaded"),
        ("The model 'x' does not exist", "model_not_found"),
        ("model: x not_found_error", "model_not_found"),
        ("API Error: 503", "overloaded"),
        ("panicked at main.rs:401", "child_exit"),
        ("Segmentation fault", "child_exit"),
    ],
)
def test_words_name_a_failure(words, reason):
    assert reason_of("", words, "child_exit") == reason


# What is read of the known ones


def heard(preset: str, lines: Sequence[str]) -> Heard:
    found = Heard(PRESETS[preset].format)
    for line in lines:
        found.hear(line.encode())
    return found


def capture(name: str) -> list[str]:
    file = CAPTURES / name
    if not file.exists():
        pytest.skip(f"there is no {file}")
    return file.read_text("utf-8").splitlines()


def test_a_real_claude_is_understood():
    found = heard("claude", capture("claude-code-2.1.332/stdout-permission-denied.jsonl"))
    assert (found.report, found.denied, found.error) == ("Done: changed greeting.", 1, "")
    assert (found.usage.output_tokens, round(found.usage.cost_usd or 0, 4)) == (200, 0.0933)
    whole = heard("claude", capture("claude-code-2.1.332/stdout-stream-json-basic.jsonl"))
    assert 0 < whole.failed < whole.calls
    assert len(whole.turns) > 1
    failed = heard("claude", capture("claude-code-2.1.332/stdout-api-400.jsonl"))
    assert (failed.error, failed.why) == ("API Error: 400 mock error", "status 400")
    cut = heard("claude", capture("claude-code-2.1.332/stdout-max-turns.jsonl"))
    assert cut.why == "error_max_turns"


def test_a_real_codex_is_understood():
    found = heard("codex", capture("codex-0.171.0/stdout-exec-json-basic.jsonl"))
    assert (found.report, found.error, found.ended) == ("Done: changed greeting.", "", True)
    assert (found.usage.input_tokens, found.usage.cost_usd) == (4000, None)
    assert found.failed < found.calls


def test_a_real_opencode_is_understood():
    found = heard("opencode", capture("opencode-1.18.33/stdout-run-format-json.jsonl"))
    assert (found.report, found.ended) == ("Done: changed greeting.", True)
    assert found.usage.input_tokens > 800


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize(
    "line",
    [
        '{"type": null}',
        '{"type": "result", "usage": 7, "errors": {}, "permission_denials": [3], "modelUsage": []}',
        '{"type": "turn.failed", "error": []}',
        '{"type": "item.completed", "item": {"id": [], "text": 3}}',
        '{"type": "step_finish", "part": {"tokens": {"input": "x", "cache": 1}, "cost": NaN}}',
        '{"type": "assistant", "message": {"content": "text"}}',
        "[" * 100_000,
        "\x00",
    ],
)
def test_rows_of_any_form_are_survived(preset, line):
    assert heard(preset, [line]).usage.input_tokens == 0


def test_a_failed_turn_of_codex_is_its_error():
    row = {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}}
    assert "401" in heard("codex", [json.dumps(row)]).error


# How the known ones are called


def test_limits_and_model_are_words_of_the_command():
    route = replace(CLAUDE, most_turns=7, most_cost_usd=0.5)
    words = command_line(route, "p")
    assert words[words.index("--max-turns") + 1] == "7"
    assert words[words.index("--max-budget-usd") + 1] == "0.5"
    assert words[words.index("--model") + 1] == "opus"


def test_codex_still_reads_its_prompt_on_stdin_when_a_model_is_chosen():
    words = command_line(Route(preset="codex", model="gpt-x"), "p")
    assert words[-3:] == ["--model", "gpt-x", "-"]


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_no_preset_asks_for_a_model_that_nobody_chose(preset):
    words = command_line(Route(preset=preset), "p")
    assert "--model" not in words
    assert not {"{model}", "{turns}", "{cost}", "{prompt}"} & set(words)
