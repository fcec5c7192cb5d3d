"""What an agent CLI says while it works: its report, what was denied to it, what it used."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reflector.agent.engine import Usage
from reflector.agent.presets import Format

_LONGEST_REPORT = 20_000
# A denied look changes nothing; whatever else is denied may have been a write.
_LOOKS = frozenset({"Read", "Glob", "Grep", "LS", "TodoWrite", "ToolSearch"})

Row = Mapping[str, Any]


@dataclass(slots=True)
class Heard:
    """What was heard so far. `ended` says that the CLI itself closed its work.

    `error` is what it calls its failure, `why` the name it gives to that; `calls` and `failed`
    count its tools, `denied` what it was not allowed to do.
    """

    format: Format
    report: str = ""
    error: str = ""
    why: str = ""
    ended: bool = False
    denied: int = 0
    calls: int = 0
    failed: int = 0
    model: str = ""
    usage: Usage = field(default_factory=lambda: Usage(cost_usd=None))
    tools: list[str] = field(default_factory=list)
    turns: set[str] = field(default_factory=set)

    def hear(self, line: bytes) -> None:
        """Take one line of its stdout. A line in another form is passed over."""
        if self.format == "plain":
            text = f"{self.report}{line.decode('utf-8', 'replace')}\n"
            self.report = text[-_LONGEST_REPORT:]
            return
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(row, dict):
            _READERS[self.format](self, row)

    def says(self, text: str) -> None:
        """Keep the last thing it said: that is its report."""
        if text.strip():
            self.report = text[-_LONGEST_REPORT:]

    def used_tool(self, name: str, *, failed: bool) -> None:
        """Count one tool call that came to its end."""
        self.calls += 1
        self.failed += failed
        self.tools.append(name[:100])


def _claude(heard: Heard, row: Row) -> None:
    match row.get("type"):
        case "assistant":
            _claude_message(heard, _row(row, "message"))
        case "user":
            results = [
                block
                for block in _rows(_row(row, "message"), "content")
                if block.get("type") == "tool_result"
            ]
            heard.calls += len(results)
            heard.failed += sum(block.get("is_error") is True for block in results)
        case "result":
            _claude_result(heard, row)
        case _:
            pass


def _claude_message(heard: Heard, message: Row) -> None:
    heard.turns.add(_text(message, "id"))
    heard.model = _text(message, "model") or heard.model
    calls = (each for each in _rows(message, "content") if each.get("type") == "tool_use")
    heard.tools += [_text(call, "name")[:100] for call in calls]


def _claude_result(heard: Heard, row: Row) -> None:
    """Read its last word; of two the later counts, and a subtype says nothing about success."""
    text, subtype = _text(row, "result"), _text(row, "subtype")
    heard.ended, heard.error, heard.why = True, "", ""
    heard.says(text)
    heard.denied = sum(
        _text(each, "tool_name") not in _LOOKS for each in _rows(row, "permission_denials")
    )
    heard.usage = _claude_usage(row)
    if row.get("is_error") is True or subtype.startswith("error"):
        said = [each for each in _list(row, "errors") if isinstance(each, str)]
        heard.error = text or "; ".join(said) or subtype or "it names no reason"
        status = row.get("api_error_status")
        heard.why = subtype if subtype.startswith("error") else f"status {status}"
    if _text(row, "stop_reason") == "refusal":
        heard.error, heard.why = text or "The model refused.", "refusal"


def _claude_usage(row: Row) -> Usage:
    models = [each for each in _row(row, "modelUsage").values() if isinstance(each, dict)]
    cached = sum(_count(each, "cacheReadInputTokens") for each in models)
    fresh = sum(
        _count(each, "inputTokens") + _count(each, "cacheCreationInputTokens") for each in models
    )
    written = sum(_count(each, "outputTokens") for each in models)
    return Usage(fresh + cached, written, cached, _money(row, "total_cost_usd"))


def _codex(heard: Heard, row: Row) -> None:
    match row.get("type"):
        case "item.completed":
            _codex_item(heard, _row(row, "item"))
        case "turn.completed":
            usage = _row(row, "usage")
            heard.ended, heard.error = True, ""
            read, cached = _count(usage, "input_tokens"), _count(usage, "cached_input_tokens")
            heard.usage = Usage(read, _count(usage, "output_tokens"), cached, None)
        case "turn.failed":
            heard.ended = True
            heard.error = _text(_row(row, "error"), "message") or "it names no reason"
        case "error":  # also a warning; only the end of the turn says which
            heard.error = _text(row, "message")
        case _:
            pass


def _codex_item(heard: Heard, item: Row) -> None:
    kind, status = _text(item, "type"), _text(item, "status")
    heard.turns.add(_text(item, "id"))
    if kind == "agent_message":
        heard.says(_text(item, "text"))
    elif kind in ("command_execution", "file_change", "mcp_tool_call"):
        heard.denied += status == "declined" or (kind == "file_change" and status == "failed")
        heard.used_tool(kind, failed=status != "completed")


def _opencode(heard: Heard, row: Row) -> None:
    part = _row(row, "part")
    match row.get("type"):
        case "text":
            heard.says(_text(part, "text"))
        case "tool_use":
            state = _row(part, "state")
            failed = _text(state, "status") == "error"
            said = _text(state, "error").lower()
            heard.denied += failed and ("permission" in said or "rejected" in said)
            heard.used_tool(_text(part, "tool"), failed=failed)
        case "step_finish":
            heard.turns.add(_text(part, "id"))
            heard.ended = _text(part, "reason") == "stop"
            heard.usage = _more(heard.usage, part)
        case "error":
            error = _row(row, "error")
            name = _text(error, "name")
            heard.error = _text(_row(error, "data"), "message") or name or "it names no reason"
        case _:
            pass


def _more(usage: Usage, part: Row) -> Usage:
    tokens = _row(part, "tokens")
    cache = _row(tokens, "cache")
    cached = _count(cache, "read")
    # Nothing paid is how it says that it does not know the price.
    paid = (usage.cost_usd or 0) + (_money(part, "cost") or 0)
    return Usage(
        usage.input_tokens + _count(tokens, "input") + cached + _count(cache, "write"),
        usage.output_tokens + _count(tokens, "output"),
        usage.cached_tokens + cached,
        paid or None,
    )


_READERS: Final[Mapping[str, Callable[[Heard, Row], None]]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
}


# Whatever stands in a field: another program wrote it.


def _row(row: Row, name: str) -> Row:
    found = row.get(name)
    return found if isinstance(found, dict) else {}


def _list(row: Row, name: str) -> list[Any]:
    found = row.get(name)
    return found if isinstance(found, list) else []


def _rows(row: Row, name: str) -> Iterator[Row]:
    return (each for each in _list(row, name) if isinstance(each, dict))


def _text(row: Row, name: str) -> str:
    found = row.get(name)
    return found if isinstance(found, str) else ""


def _count(row: Row, name: str) -> int:
    found = row.get(name)
    return found if type(found) is int and 0 <= found < 10**12 else 0


def _money(row: Row, name: str) -> float | None:
    found = row.get(name)
    if type(found) not in (int, float):
        return None
    value = float(found)  # type: ignore[arg-type]
    return value if math.isfinite(value) and value >= 0 else None
