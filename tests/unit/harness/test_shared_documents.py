"""Compares what is read of shared sessions with a plain count of them, and with a table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.gemini_rows import journal
from tests.support.harness_rows import Read, read, read_growing

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
GEMINI = "live-captures/gemini-cli-0.61.0/session-2026-11-30T10-19-"

TABLE = {
    f"{GEMINI}43fb8bdb.jsonl": (1, 2, 4),
    f"{GEMINI}95a94362.jsonl": (1, 1, 0),
    f"{GEMINI}e8195e67.jsonl": (1, 1, 0),
    "transcripts/gemini-cli/legacy-json-self-correction.json": (1, 5, 4),
    "live-captures/opencode-1.18.33/export.json": (1, 2, 5),
    "transcripts/openhands/v1-sdk-events.jsonl": (0, 1, 2),
    "transcripts/swe-agent/marshmallow-1867-function-calling.traj": (1, 11, 11),
}
"""Entries of a person, of the model, and of tools."""

absent = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no shared transcripts in {SHARED}")


def values_in(path):
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()] if ".jsonl" in path.name else text


def count_gemini(path):
    if path.suffix == ".json":
        messages = json.loads(path.read_text("utf-8"))["messages"]
    else:
        messages = list({row["id"]: row for row in values_in(path) if "id" in row}.values())
    users = [m for m in messages if m["type"] == "user"]
    typed = [m for m in users if "functionResponse" not in json.dumps(m["content"])]
    models = [m for m in messages if m["type"] == "gemini"]
    return (
        len(typed),
        sum(bool(m["content"]) for m in models),
        sum(len(m.get("toolCalls", [])) for m in models),
    )


def count_opencode(path):
    parts = Counter(
        (message["info"]["role"], part["type"])
        for message in json.loads(path.read_text("utf-8"))["messages"]
        for part in message["parts"]
    )
    return parts["user", "text"], parts["assistant", "text"], parts["assistant", "tool"]


def count_openhands(path):
    rows = values_in(path)
    spoken = sum(
        bool(part["text"].split("</think>")[-1].strip())
        for row in rows
        for part in row.get("thought", [])
    )
    return 0, spoken, sum(row["kind"] == "ActionEvent" for row in rows)


def count_swe_agent(path):
    roles = Counter(m["role"] for m in json.loads(path.read_text("utf-8"))["history"])
    return roles["user"], roles["assistant"], roles["tool"]


COUNTERS = {
    "gemini-cli": count_gemini,
    "opencode": count_opencode,
    "openhands": count_openhands,
    "swe-agent": count_swe_agent,
}


def counted(name):
    return next(count for part, count in COUNTERS.items() if part in name)(SHARED / name)


def whole(name):
    return read((SHARED / name).read_bytes(), Path(name).stem, settled=True)


@absent
@pytest.mark.parametrize("name", TABLE)
def test_a_shared_session_has_the_entries_that_a_plain_count_finds(name):
    kinds = Counter(entry.kind.value for entry in journal(whole(name)))
    found = (kinds["user"], kinds["assistant"], kinds["tool_call"])
    assert found == counted(name) == TABLE[name]


@absent
@pytest.mark.parametrize("name", TABLE)
def test_reading_a_shared_session_again_adds_nothing(name):
    once = whole(name)
    again = read((SHARED / name).read_bytes(), Path(name).stem, read=whole(name), settled=True)
    assert journal(again) == journal(once)
    assert len(again.records) == len(once.records)


@absent
@pytest.mark.parametrize("name", [name for name in TABLE if name.endswith(".jsonl")])
def test_a_shared_session_gives_the_same_in_two_parts_wherever_they_meet(name):
    data, stem = (SHARED / name).read_bytes(), Path(name).stem
    once = read(data, stem)
    for at, byte in enumerate(data):
        if byte == 10:
            assert read_growing(data, [at], stem).lasting == once.lasting
            assert read_growing(data, [at + 1], stem).lasting == once.lasting


@absent
@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("transcripts/gemini-cli/legacy-json-self-correction.json", "messages"),
        ("live-captures/opencode-1.18.33/export.json", "messages"),
        ("transcripts/swe-agent/marshmallow-1867-function-calling.traj", "history"),
    ],
)
def test_a_shared_document_gives_the_same_wherever_it_was_cut_between_two_messages(name, of):
    document, stem = json.loads((SHARED / name).read_bytes()), Path(name).stem
    for many in range(1, len(document[of])):
        seen = Read()
        for part in ({**document, of: document[of][:many]}, document):
            read(json.dumps(part, indent=2).encode(), stem, read=seen, settled=part is document)
        assert journal(seen) == journal(whole(name))
