"""Histories of three harnesses, made up and always the same: folders full of sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.memories import prose

Row = Mapping[str, object]
_CWD = "/home/dev/shop"


def history(folder: Path, size: int) -> int:
    """Write sessions of all three forms below a folder, of so many bytes; return how many files.

    Half of the bytes are of Claude Code, a third of Codex, the rest generic.
    """
    shares: dict[str, tuple[Callable[[int], Iterator[Row]], int, int]] = {
        "claude-code": (_claude, size // 2, 2_000_000),
        "codex": (_codex, size // 3, 1_000_000),
        "generic": (_generic, size // 6, 200_000),
    }
    files = 0
    for name, (rows, whole, each) in shares.items():
        for _ in range(max(whole // each, 1)):
            _write(folder / name / f"part-{files // 50}" / f"session-{files:05d}.jsonl",
                   rows(files), min(each, whole))  # fmt: skip
            files += 1
    return files


def _write(place: Path, rows: Iterator[Row], size: int) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with place.open("w", encoding="utf-8") as stream:
        while written < size:
            line = json.dumps(next(rows), ensure_ascii=False, separators=(",", ":")) + "\n"
            written += stream.write(line)


def _at(number: int) -> str:
    hours, seconds = divmod(number, 3600)
    return f"2026-10-{hours // 24 % 28 + 1:02d}T{hours % 24:02d}:{seconds // 60:02d}:{seconds % 60:02d}.000Z"


def _output(number: int) -> str:
    """Return what a tool printed: mostly code, of up to seven kilobytes."""
    return "".join(
        f"{line:5d}\t    value_{line} = compute({prose(number + line, 5)!r}, limit={line})\n"
        for line in range(number * 13 % 90 + 5)
    )


def _claude(session: int) -> Iterator[Row]:
    """Yield rows of Claude Code: questions, two calls with results written twice, answers."""
    number = 0
    while True:
        yield _claude_row(session, number, "user", f"{prose(number + session, 30)}?")
        for call in (1, 2):
            tool = f"toolu_{session:05d}{number:06d}{call}"
            code = {"command": f"sed -n {number},{number + 80}p src/module_{number % 90}.py"}
            asked = {"type": "tool_use", "id": tool, "name": "Bash", "input": code}
            said = {"type": "text", "text": prose(number + call, 20)}
            yield _claude_row(session, number + call, "assistant", [said, asked])
            printed = _output(number + call)
            result = {"type": "tool_result", "tool_use_id": tool, "content": printed}
            told = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False}
            row = _claude_row(session, number + call, "user", [result])
            yield {**row, "toolUseResult": told}
        end = [{"type": "text", "text": f"{prose(number, 60)}."}]
        yield _claude_row(session, number + 3, "assistant", end)
        number += 4


def _claude_row(session: int, number: int, kind: str, content: object) -> Row:
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 12, "cache_read_input_tokens": 20_480, "output_tokens": 240}
        message |= {"id": f"msg_{session:05d}{number:08d}", "model": "model-1", "usage": usage}
    name = "result" if isinstance(content, list) and kind == "user" else kind
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": message,
        "uuid": f"{session:08d}-0000-4000-8000-{number:08d}-{name}",
        "timestamp": _at(number),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": _CWD,
        "sessionId": f"5e55105e-0000-4000-8000-{session:012d}",
        "version": "2.1.332",
        "gitBranch": "main",
    }


def _codex(session: int) -> Iterator[Row]:
    """Yield rows of Codex: a header, then questions, calls with outputs, answers, told twice."""
    name = f"01997c1e-0000-7000-8000-{session:012d}"
    about = {"id": name, "timestamp": _at(0), "cwd": _CWD, "originator": "codex_cli_rs",
             "cli_version": "0.171.0"}  # fmt: skip
    yield {"timestamp": _at(0), "type": "session_meta", "payload": about}
    number = 0
    while True:
        number += 1
        for kind, payload in _codex_exchange(session, number):
            yield {"timestamp": _at(number), "type": kind, "payload": payload}


def _codex_exchange(session: int, number: int) -> Iterator[tuple[str, Row]]:
    asked, answer = f"{prose(number + session, 30)}?", f"{prose(number, 60)}."
    yield "response_item", _codex_message("user", "input_text", asked)
    yield "event_msg", {"type": "user_message", "message": asked, "kind": "plain"}
    call = f"call_{session:05d}{number:08d}"
    words = json.dumps({"command": ["bash", "-lc", f"sed -n {number},{number + 80}p src/a.py"]})
    yield "response_item", {"type": "function_call", "name": "shell", "arguments": words,
                            "call_id": call}  # fmt: skip
    printed = json.dumps({"output": _output(number), "metadata": {"exit_code": 0}})
    yield "response_item", {"type": "function_call_output", "call_id": call, "output": printed}
    yield "event_msg", {"type": "agent_message", "message": answer}
    yield "response_item", _codex_message("assistant", "output_text", answer)


def _codex_message(role: str, kind: str, text: str) -> Row:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _generic(session: int) -> Iterator[Row]:
    """Yield chat messages in the generic form."""
    number = 0
    while True:
        role = "assistant" if number % 2 else "user"
        yield {
            "role": role,
            "content": f"{prose(number + session, 80)}.",
            "id": f"generic-{session:05d}-{number:06d}",
            "session_id": f"generic-{session:05d}",
            "cwd": _CWD,
            "timestamp": _at(number),
        }
        number += 1
