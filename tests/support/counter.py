"""Counts what a session file holds, straight from its JSON and without a line of the product.

Written from the description of the formats, so that it can contradict the adapters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

MACHINE_MADE = re.compile(
    r"\s*(<(command-(name|message)|local-command-\w+|bash-(input|stdout|stderr)|task-notification)>"
    r"|Caveat: The messages below|\[Request interrupted by user|Operation stopped by hook"
    r"|<system-reminder>|This session is being continued from a previous)"
)
ENVIRONMENT = re.compile(
    r"\s*(<environment_context>|# AGENTS\.md instructions for|<user_instructions>|<skill>"
    r"|<turn_aborted>)"
)

REFUSAL = re.compile(r"The user doesn.t want to proceed.*the user said:\n(?P<words>.+)", re.DOTALL)


@dataclass
class Count:
    """What one file holds: entries by (agent, kind), and by agent what else is counted."""

    entries: Counter[tuple[str, str]] = field(default_factory=Counter)
    step_ids: set[tuple[str, str]] = field(default_factory=set)
    tools: dict[str, str] = field(default_factory=dict)
    boundaries: int = 0
    unread: int = 0
    _asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def steps(self):
        return Counter(agent for agent, _ in self.step_ids)

    def asked(self, agent, call):
        self._asked.append((agent, call))

    def answered(self, agent, call):
        if (agent, call) in self._asked:
            self._asked.remove((agent, call))
            self.entries[agent, "tool_call"] += 1

    def settled(self, agent, *, inline=False):
        """Nobody answers what this agent, or one running inside it, still waits for."""
        for waiting in list(self._asked):
            if waiting[0] == agent or inline:
                self._asked.remove(waiting)
                self.entries[waiting[0], "tool_call"] += 1


def objects_in(path: Path):
    """Return the objects of a file, and how many pieces could not be read."""
    found, broken = [], 0
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines):
        text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        while text:
            try:
                value, length = json.JSONDecoder().raw_decode(text)
            except json.JSONDecodeError:
                broken += number < len(lines) - 1
                break
            found.append(value)
            text = text[length:].lstrip()
    return found, broken


def count_claude_code(path: Path) -> Count:
    count = Count()
    rows, count.unread = objects_in(path)
    count.entries["", "user"] += _typed_meanwhile(rows)
    stem = path.stem
    file_agent = stem[len("agent-") :] if stem.startswith("agent-") else ""
    for row in rows:
        if row.get("type") == "progress":
            progress = row["data"]
            if progress["type"] == "agent_progress":
                _claude_row(count, progress["message"], progress["agentId"], main=False)
        elif row.get("type") == "system":
            if row.get("subtype") == "compact_boundary":
                count.boundaries += 1
                count.settled("", inline=True)
        elif row.get("type") in ("user", "assistant"):
            side = row.get("agentId", "sidechain") if row.get("isSidechain") else ""
            _claude_row(count, row, file_agent or side, main=not (file_agent or side))
    return count


def _typed_meanwhile(rows):
    """Count what was typed while the agent worked: attachments, or in their absence the queue."""
    attached = [row["attachment"] for row in rows if row.get("type") == "attachment"]
    if attached:
        queued = [item for item in attached if item["type"] == "queued_command"]
        return sum(item.get("commandMode") == "prompt" for item in queued)
    moves = [row["operation"] for row in rows if row.get("type") == "queue-operation"]
    return moves.count("remove")


def _claude_row(count, row, agent, *, main):
    content = row["message"]["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if row["type"] == "assistant":
        for block in content:
            _claude_block(count, row, agent, block)
        return
    for block in content:
        if block["type"] == "tool_result":
            count.answered(agent, block["tool_use_id"])
            refused = block.get("is_error") and REFUSAL.match(str(block["content"]))
            foreign = count.tools.get(block["tool_use_id"], "").startswith("mcp__")
            count.entries[agent, "user"] += bool(refused) and not foreign
    words = [block["text"] for block in content if block["type"] == "text"]
    typed = any(word.strip() and not MACHINE_MADE.match(word) for word in words)
    if typed and not _marked_as_machine_made(row):
        count.settled(agent, inline=main)
        count.entries[agent, "user"] += 1


def _marked_as_machine_made(row):
    flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
    flagged = any(row.get(flag) for flag in flags)
    return flagged or row.get("origin", {}).get("kind", "human") != "human"


def _claude_block(count, row, agent, block):
    kind = block["type"]
    if kind == "tool_use":
        count.asked(agent, block["id"])
        count.tools[block["id"]] = block["name"]
    elif kind == "thinking" and block["thinking"].strip():
        count.entries[agent, "reasoning"] += 1
    elif kind == "text" and block["text"].strip():
        if row.get("isApiErrorMessage"):
            count.entries[agent, "error"] += 1
        elif row["message"]["model"] != "<synthetic>":
            count.entries[agent, "assistant"] += 1
            count.step_ids.add((agent, row["message"]["id"]))


def count_codex(path: Path) -> Count:
    count = Count()
    rows, count.unread = objects_in(path)
    meta = rows[0].get("payload", {})
    agent = meta["id"] if meta.get("thread_source") == "subagent" else ""
    for number, row in enumerate(rows):
        payload = row.get("payload", row)
        if row.get("type") == "compacted":
            count.boundaries += 1
            count.settled(agent)
        elif row.get("type") == "response_item" or ("type" in row and payload is row):
            _codex_item(count, agent, payload, number)
        elif row.get("type") == "event_msg" and payload["type"] == "error":
            count.entries[agent, "error"] += 1
    return count


def _codex_item(count, agent, item, number):
    kind = item["type"]
    if kind == "message":
        _codex_message(count, agent, item, number)
    elif kind == "reasoning":
        count.entries[agent, "reasoning"] += any(part["text"].strip() for part in item["summary"])
    elif kind in ("web_search_call", "image_generation_call"):
        count.entries[agent, "tool_call"] += 1
    elif kind.endswith("_call"):
        count.asked(agent, item["call_id"])
    elif kind.endswith("_output"):
        count.answered(agent, item["call_id"])


def _codex_message(count, agent, item, number):
    texts = [part["text"] for part in item["content"] if part["type"].endswith("put_text")]
    if item["role"] == "assistant" and "".join(texts).strip():
        count.entries[agent, "assistant"] += 1
        count.step_ids.add((agent, item.get("id") or f"row {number}"))
    typed = any(text.strip() and not ENVIRONMENT.match(text) for text in texts)
    if item["role"] == "user" and typed:
        count.settled(agent)
        count.entries[agent, "user"] += 1


def count_pi(path: Path) -> Count:
    count = Count()
    rows, count.unread = objects_in(path)
    began = [row for row in rows[:3] if row["type"] == "session_init"]
    agent = next(row["id"] for row in rows[:2] if row["type"] == "session") if began else ""
    for number, row in enumerate(rows):
        if row["type"] == "compaction":
            count.boundaries += 1
            count.settled(agent)
        elif row["type"] == "reset_boundary":
            count.settled(agent)
        elif row["type"] == "message":
            _pi_message(count, agent, row["message"], number)
    return count


def _pi_message(count, agent, message, number):
    role, content = message["role"], message.get("content", [])
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    said = [block for block in blocks if block.get(block["type"], "x").strip()]
    if role == "user" and said and not message.get("synthetic"):
        count.settled(agent)
        count.entries[agent, "user"] += 1
    elif role == "assistant":
        for block in said:
            kind = {"text": "assistant", "thinking": "reasoning"}.get(block["type"])
            count.entries[agent, kind] += 1
            if block["type"] == "toolCall":
                count.asked(agent, block["id"])
            elif kind == "assistant":
                count.step_ids.add((agent, f"row {number}"))
        del count.entries[agent, None]
        count.entries[agent, "error"] += message["stopReason"] == "error"
    elif role == "toolResult":
        count.answered(agent, message["toolCallId"])
    elif role == "bashExecution":
        count.entries[agent, "tool_call"] += not message.get("excludeFromContext")
