"""Small transcripts in the generic form, written for one test."""

from __future__ import annotations

import json
from pathlib import Path


def conversation(path: Path, *texts: str, session: str = "talk") -> Path:
    """Write a conversation: user and assistant take turns, the user begins."""
    rows = [
        {
            "role": "assistant" if number % 2 else "user",
            "content": text,
            "id": f"{session}-{number}",
            "session_id": session,
            "timestamp": f"2026-11-30T10:{number // 60:02d}:{number % 60:02d}Z",
        }
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def extend(path: Path, *texts: str, session: str = "talk") -> Path:
    """Go on with a conversation that `conversation` began."""
    old = [json.loads(line)["content"] for line in path.read_text("utf-8").splitlines()]
    return conversation(path, *old, *texts, session=session)
