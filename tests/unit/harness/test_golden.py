"""Compares everything that reading our own captures gives with what it once gave.

`python -m tests.unit.harness.test_golden` writes the golden files anew; read the difference.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from reflector.harness.reading import Appended
from tests.support.harness_rows import read

TESTS = Path(__file__).resolve().parents[2]
FIXTURES = TESTS / "fixtures"
GOLDEN = TESTS / "golden" / "harness"
REWRITTEN = ("gemini-cli", "opencode", "openhands", "swe-agent")
"""Harnesses that write records or whole files anew: they are read as settled."""
NAMES = [
    path.relative_to(FIXTURES)
    for folder in ("claude-code", "codex", "pi", *REWRITTEN)
    for path in sorted((FIXTURES / folder).rglob("*.*"))
    if folder in REWRITTEN or path.suffix == ".jsonl"
]


def rendered(name: Path) -> str:
    settled = name.parts[0] in REWRITTEN
    seen = read((FIXTURES / name).read_bytes(), name.stem, settled=settled)
    rows = [
        {
            "record": "Appended",
            "key": str(record.key),
            "parent": record.parent and str(record.parent),
        }
        | record.entry.as_json()
        if isinstance(record, Appended)
        else {"kind_of_record": type(record).__name__} | asdict(record)
        for record in seen.records
    ]
    rows.append({"resume_at": seen.position.resume_at, "read_to": seen.position.read_to})
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate cannot be written


def golden(name: Path) -> Path:
    return GOLDEN / "-".join(name.parts)


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_reading_a_capture_gives_what_it_gave(name):
    assert rendered(name) == golden(name).read_text("utf-8")


if __name__ == "__main__":
    for each in NAMES:
        golden(each).write_text(rendered(each), "utf-8")
