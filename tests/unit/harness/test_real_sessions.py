"""Says what every real session holds; the counter says it again without a line of the product."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from reflector.core.entry import Kind
from reflector.harness.reading import Appended, Boundary
from tests.support.harness_rows import read
from tests.unit.harness.test_shared_transcripts import SESSIONS, SHARED

pytestmark = pytest.mark.skipif(not SESSIONS, reason=f"no shared transcripts in {SHARED}")


class Held(NamedTuple):
    """What a file holds: `again` are entries that are known already, `unanswered` calls whose
    result can not come any more; it is `waiting` while one may."""

    user: int
    assistant: int
    reasoning: int = 0
    calls: int = 0
    unanswered: int = 0
    errors: int = 0
    boundaries: int = 0
    agents: int = 0
    waiting: bool = False
    again: int = 0


CLAUDE = "transcripts/claude-code"
NEWEST = "live-captures/claude-code-2.1.332"
OLDER = "live-captures/claude-code-2.1.197/26753ccf-5ba4-4979-ae18-075a9d242ca6"
AGENT = "subagent/11111111-2222-4333-8444-555555555555"
CODEX = "live-captures/codex-0.171.0/rollout-2026-11-30T"
PI = "live-captures/pi-0.73.1/2026-11-30T10-20-16-021Z_01a22bf8-3314-7059-9e04-78ad2e89db6c"

TABLE = {
    f"{CLAUDE}/changelog-correction-2.1.17": Held(4, 5, 18, 17),
    f"{CLAUDE}/compaction-medium-2.0.76": Held(2, 9, 12, 10, boundaries=1),
    # 29 prompts, and three typed while the agent worked.
    f"{CLAUDE}/compaction-x2-long-debug-2.1.14": Held(32, 89, 139, 127, boundaries=2),
    f"{CLAUDE}/glued-lines-2.1.12": Held(5, 21, 42, 41, again=1),
    # Two rows of ten say that a hook stopped a prompt.
    f"{CLAUDE}/hook-blocked-interrupts-2.1.12": Held(8, 21, 25, 24),
    f"{CLAUDE}/inline-sidechain-large-1.0.98": Held(6, 95, 0, 167, agents=1),
    # One prompt, and the words of a rejection.
    f"{CLAUDE}/short-license-2.0.76": Held(2, 1, 4, 3),
    f"{CLAUDE}/subagents-tasks-2.1.38": Held(7, 13, 8, 38, agents=1, waiting=True),
    # Seven prompts, two of subagents, the words of three rejections.
    f"{CLAUDE}/zh-large-replan-interrupts-2.1.56": Held(12, 25, 11, 58, agents=2),
    # Two prompts, and one typed while the agent worked.
    f"{CLAUDE}/zh-short-add-commit-2.1.71": Held(3, 6, 2, 8),
    "transcripts/codex/rollout-ide-large-2025-09-24": Held(13, 9, 125, 123, waiting=True),
    "transcripts/codex/rollout-many-record-kinds-0.146.0": Held(1, 1, 1, 8, 1, 1, 6, again=3),
    "transcripts/pi/before-compaction-refactor": Held(55, 253, 49, 457, 6, 1, 2),
    OLDER: Held(1, 1, 0, 1),
    f"{OLDER}/subagents/agent-a8c0c6748a97db077": Held(1, 1, 0, 1, agents=1),
    f"{NEWEST}/basic-then-manual-compact": Held(1, 2, 1, 4, boundaries=1),
    f"{NEWEST}/resume-and-fork/10517839-0da2-47ef-aba1-91bdec523e92": Held(4, 4),
    f"{NEWEST}/resume-and-fork/31d281c6-22d5-4873-aaca-d5992fc5a7cd": Held(1, 1),
    f"{NEWEST}/resume-and-fork/4abb71de-7d9d-4799-a8b5-0e1f24bf8af0": Held(2, 2),
    f"{NEWEST}/resume-and-fork/8382d32c-56a0-4f86-8bc0-bb495c3a09c3": Held(2, 2),
    # Stopped while a tool ran: with the first signal the result says so, else it may yet come.
    f"{NEWEST}/sigint-mid-tool": Held(1, 0, 0, 1),
    f"{NEWEST}/sigkill-mid-tool": Held(1, 0, waiting=True),
    f"{NEWEST}/sigterm-mid-tool": Held(1, 0, waiting=True),
    f"{NEWEST}/{AGENT}": Held(1, 2, 0, 1),
    f"{NEWEST}/{AGENT}/subagents/agent-afe5e34ce033f9f61": Held(1, 1, 0, 1, agents=1),
    f"{CODEX}10-13-39-01a22bf2-252b-71c2-9889-971cb8c899b0": Held(2, 3, 1, 3, waiting=True),
    f"{CODEX}10-34-12-01a22c04-f73d-7403-a479-ce0d0d07c75c": Held(
        1, 4, 2, 6, boundaries=1, waiting=True
    ),
    "live-captures/made-torn/torn-last-line": Held(2, 2, 1, 2),
    "live-captures/made-torn/zh-torn-inside-utf8-char": Held(1, 0, 1, 3, waiting=True),
    PI: Held(1, 2, 1, 3),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_real_session_holds_what_it_held(name):
    path = SESSIONS[f"{name}.jsonl"]
    seen = read(path.read_bytes(), path.stem)
    kinds = Counter(entry.kind for entry in seen.entries)
    assert TABLE[name] == Held(
        user=kinds[Kind.USER],
        assistant=kinds[Kind.ASSISTANT],
        reasoning=kinds[Kind.REASONING],
        calls=kinds[Kind.TOOL_CALL],
        unanswered=sum(bool(entry.tool) and entry.result is None for entry in seen.entries),
        errors=kinds[Kind.ERROR],
        boundaries=len(seen.of(Boundary)),
        agents=len({record.key.agent for record in seen.of(Appended)} - {""}),
        waiting=seen.position.resume_at < seen.position.read_to,
        again=len(seen.ids) - len(set(seen.ids)),
    )
    assert not seen.bad_lines


def test_every_real_session_is_in_the_table():
    assert {name.removesuffix(".jsonl") for name in SESSIONS} == set(TABLE)


def test_a_call_that_a_killed_session_left_open_ends_when_the_session_goes_on():
    for name in ("sigkill-mid-tool", "sigterm-mid-tool"):
        path = SESSIONS[f"{NEWEST}/{name}.jsonl"]
        before = read(path.read_bytes(), path.stem)
        row = b'{"type":"user","uuid":"u","sessionId":"x","message":{"content":"again"}}\n'
        session = before.lasting[0].key.session.encode()
        after = read(path.read_bytes() + row.replace(b'"x"', b'"%s"' % session), read=before)
        assert [entry.result for entry in after.entries if entry.tool] == [None]


def test_resumed_and_forked_a_session_is_told_once():
    folder = f"{NEWEST}/resume-and-fork"
    first = SESSIONS[f"{folder}/4abb71de-7d9d-4799-a8b5-0e1f24bf8af0.jsonl"].read_bytes()
    fork = SESSIONS[f"{folder}/10517839-0da2-47ef-aba1-91bdec523e92.jsonl"].read_bytes()
    whole = read(first)
    resumed = read(first, read=read(first[: len(first) // 2]))
    assert resumed.lasting == whole.lasting
    texts = [entry.text for entry in read(fork).entries if entry.id not in whole.ids]
    assert texts[0] == "third prompt"
    assert len(texts) == 4
