"""Every model-facing text rendered with fixed values, and the command that rewrites the goldens.

`python -m tests.support.words` writes tests/golden/prompts anew; read the diff before keeping it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from reflector.pipelines.contexts import (
    McpContext,
    Named,
    OpeningContext,
    OpeningDocument,
    OpeningExperience,
    PrefaceContext,
    PromptContext,
    PromptConversation,
    SeedContext,
    ShortMemoryContext,
)
from reflector.pipelines.decisions.contexts import (
    DecisionRulesContext,
    EnvelopeContext,
    PromptDelta,
    QueueContext,
)
from reflector.pipelines.diary.contexts import (
    DiaryItemsContext,
    DiaryJudgeContext,
    DiaryRulesContext,
    DiaryWindowContext,
)
from reflector.pipelines.experiences.contexts import (
    DraftsContext,
    ExperienceRulesContext,
    ExperienceTask,
    PromptDraft,
    PromptItem,
    SegmentContext,
)
from reflector.pipelines.prompts import Words

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "prompts"

SEED = SeedContext(identity="acme", date="2026-11-30")
PREFACE = PrefaceContext(read_more="/home/dev/.reflector/bin/reflector memory cat PATH")
SHORT = ShortMemoryContext("/home/dev/.reflector/MEMORY.md", "/home/dev/shop/.reflector/MEMORY.md")
MCP = McpContext(identity="acme", most_documents=200, most_characters=20_000)
BARE = PromptContext(
    run_id="20261130T120000-0a1b2c3d",
    agent_id="",
    memory_dir="/home/dev/.reflector/agents/acme-1a2b3c4d/worktrees/1-20261130T120000-0a1b2c3d",
    transcript_path="/home/dev/.reflector/agents/acme-1a2b3c4d/runs/20261130T120000-0a1b2c3d/payload.json",
    today="2026-11-30",
    focus="",
    conversations=(),
    unwanted=(),
)
FULL = PromptContext(
    run_id=BARE.run_id,
    agent_id="acme",
    memory_dir=BARE.memory_dir,
    transcript_path=BARE.transcript_path,
    today=BARE.today,
    focus="how we run the tests",
    conversations=(
        PromptConversation("claude-code/s1", 'Fix the "cart" total', "/home/dev/shop", 41, 9216, 7),
        PromptConversation("codex/s2", "数据库迁移", "", 3, 512, 0),
    ),
    unwanted=("- Always answer in French.",),
)
TARGETED = replace(FULL, target="projects/shop/architecture.md")

_DOCUMENT = OpeningDocument("system/human.md", 120, "Who the agent works with.", "- Likes tea.")
OPENING = OpeningContext(
    tree=[OpeningDocument("reference/shop.md", 4200, "How the shop is built."), _DOCUMENT],
    system=[_DOCUMENT],
    transcript="=== conversation codex/s2, backlog_remaining 0\n| 数据库迁移\n",
    lines=2,
    rest=False,
    ripe=[OpeningExperience("experiences/rotate-a-log-0a1b2c3d.md", "Rotate a log.", 4)],
)
BY_COMMAND = replace(OPENING, rest=True, lines=900, file=".tmp/transcript.md", ripe=())

RULES = DecisionRulesContext(120, 12_000)
ENVELOPE = EnvelopeContext("opt 2, no Redis plz", "Which queue?", "1. Redis. 2. SQLite.")
DELTA = PromptDelta(
    7,
    "architecture_decision",
    "Queues live in SQLite.",
    "opt 2, no Redis plz",
    ("corrective", "regression"),
    "Redis",
    "nothing more to operate",
)
QUEUE = QueueContext(
    (Named("architecture", "## Storage\n- 数据放在 SQLite。"), Named("product", "")),
    ((DELTA,), (replace(DELTA, id=8, friction=(), rejected_alternative="", rationale=""),)),
    (Named("AGENTS.md", "Tests run with pytest."),),
    ("- Queues live in Redis.",),
)

DIARY = DiaryRulesContext(900, 3)
SENTENCE = DiaryJudgeContext("By the way, my mother likes the thing you built.")
WINDOW = DiaryWindowContext(
    (Named("user", "算了，就这样吧。"), Named("assistant", "Shall I leave it as it is?")),
    "They had wanted the cart to be one page.",
    (Named("user", "gives up on a word, never on a task"),),
    1200,
)
ITEMS = DiaryItemsContext(
    (
        Named("disclosure", "They said it lightly: a friend moved away."),
        Named("impression about user", "goes quiet when it matters; seen when: 算了"),
        Named("term", "the yellow page"),
    ),
    "- I answer in one sentence first.",
)

EXPERIENCE = ExperienceRulesContext(project_known=True, branch_known=True)
SEGMENT = SegmentContext(
    segment="[claude-code:e1:0] user\n| Why does the cart total drift?\n",
    earlier="[claude-code:e0:0] user\n| 先看购物车。\n",
    left_out="3 earlier messages left out",
    without_tools=True,
)
DRAFTS = DraftsContext(
    (
        PromptDraft(
            "e1",
            "experience",
            "keep a cart total exact",
            "Sum in cents.",
            verified=True,
            items=(PromptItem("x7", "sum prices", "Use Decimal.\nNever floats.", verified=False),),
        ),
        PromptDraft("f1", "fact", "购物车", "总额按分计算。", verified=False, items=()),
    )
)


def rendered() -> dict[str, str]:
    """Return every text by its golden file's name."""
    words = Words(ROOT)
    seeds = {
        f"seeds/{name.replace('.git', 'dot-git')}": words.seed(name, SEED) for name in words.seeds()
    }
    return seeds | {
        "model/opening.md": words.opening(OPENING),
        "model/opening-bare.md": words.opening(BY_COMMAND),
        "model/preface.md": words.preface(PREFACE),
        **_short_memory(words),
        **_decisions(words),
        **_experiences(words),
        **_diary(words),
        "model/mcp-instructions.md": words.mcp_instructions(MCP),
        "model/mcp-tools.md": words.mcp_tools(MCP),
        "model/reflection.md": words.prompt("reflection", FULL),
        "model/reflection-bare.md": words.prompt("reflection", BARE),
        "model/dream.md": words.prompt("dream", TARGETED),
        "model/dream-bare.md": words.prompt("dream", BARE),
    }


def _short_memory(words: Words) -> dict[str, str]:
    alone = replace(SHORT, project="")
    return {
        "model/short-memory.md": words.short_memory_policy(SHORT, full=False),
        "model/short-memory-bare.md": words.short_memory_policy(alone, full=False),
        "model/short-memory-policy.md": words.short_memory_policy(SHORT, full=True),
        "model/short-memory-policy-bare.md": words.short_memory_policy(alone, full=True),
    }


def _decisions(words: Words) -> dict[str, str]:
    return {
        "model/decisions-extract.md": words.decision_rules("extract", RULES),
        "model/decisions-consolidate.md": words.decision_rules("consolidate", RULES),
        "model/decisions-message.md": words.decision_message(ENVELOPE),
        "model/decisions-message-bare.md": words.decision_message(
            replace(ENVELOPE, previous_human="", assistant_context="")
        ),
        "model/decisions-queue.md": words.decision_queue(QUEUE),
        "model/decisions-queue-bare.md": words.decision_queue(
            replace(QUEUE, digest=(), unwanted=())
        ),
    }


def _experiences(words: Words) -> dict[str, str]:
    bare = ExperienceRulesContext(project_known=False, branch_known=False)
    rules = {
        f"model/experiences-{task}.md": words.experience_rules(task, EXPERIENCE)
        for task in get_args(ExperienceTask)
    }
    return rules | {
        "model/experiences-both-bare.md": words.experience_rules("both", bare),
        "model/experiences-both-zh-bare.md": words.experience_rules("both-zh", bare),
        "model/experiences-segment.md": words.segment(SEGMENT),
        "model/experiences-segment-bare.md": words.segment(
            replace(SEGMENT, earlier="", left_out="", without_tools=False)
        ),
        "model/experiences-drafts.md": words.drafts(DRAFTS),
    }


def _diary(words: Words) -> dict[str, str]:
    bare = replace(WINDOW, going_on="", traits=())
    return {
        "model/diary-judge.md": words.diary_judge(SENTENCE),
        "model/diary-consolidate.md": words.diary_rules("consolidate", DIARY),
        "model/diary-sleep.md": words.diary_rules("sleep", DIARY),
        "model/diary-window.md": words.diary_window(WINDOW),
        "model/diary-window-bare.md": words.diary_window(bare),
        "model/diary-items.md": words.diary_items(ITEMS),
        "model/diary-items-bare.md": words.diary_items(replace(ITEMS, persona="")),
    }


def _rewrite() -> None:
    for name, text in rendered().items():
        file = GOLDEN / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    _rewrite()
