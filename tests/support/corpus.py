"""Documents with one fault each, and sound ones, as the lint must judge them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflector.memory.tree import FILE

FOLDER = Path(__file__).parents[1] / "fixtures" / "lint"


@dataclass(frozen=True)
class Case:
    """A document, what stands beside it, and what is said of it; no `code`: nothing.

    In the data a content is a list of pieces: texts, or a text and how often it is repeated.
    """

    name: str
    path: str
    files: dict[str, tuple[int, bytes]]
    code: str = ""
    line: int = 0
    severity: str = "error"
    row: dict[str, Any] = field(default_factory=dict, repr=False)


def cases(kind: str) -> list[Case]:
    """Return the cases of a kind: `broken` or `sound`."""
    text = (FOLDER / f"{kind}.jsonl").read_text("utf-8")
    return [_case(json.loads(line)) for line in text.split("\n") if line]


def _case(row: dict[str, Any]) -> Case:
    contents = {row["path"]: row["content"]} | row.get("beside", {})
    modes = {row["path"]: row["mode"]} if "mode" in row else row.get("modes", {})
    files = {
        path: (int(modes.get(path, f"{FILE:o}"), 8), _content(pieces, row.get("encoding", "utf-8")))
        for path, pieces in contents.items()
    }
    return Case(
        row.get("fault") or row["why"],
        row["path"],
        files,
        row.get("code", ""),
        row.get("line", 0),
        row.get("severity", "error"),
        row,
    )


def _content(pieces: list[Any], encoding: str) -> bytes:
    texts = (piece if isinstance(piece, str) else piece[0] * piece[1] for piece in pieces)
    return "".join(texts).encode(encoding)
