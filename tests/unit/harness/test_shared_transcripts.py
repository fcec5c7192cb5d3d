"""Compares the adapters with the separate counter on real sessions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reflector.core.entry import Kind
from reflector.core.errors import UnknownFormatError
from reflector.harness.reading import Boundary, open_source
from tests.support.counter import count_claude_code, count_codex, count_pi
from tests.support.harness_rows import read, read_growing

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"
FOLDERS = ("transcripts/claude-code", "transcripts/codex", "transcripts/pi", "live-captures")
HARNESSES = ("claude-code", "codex", "pi", "made-torn")
COUNTERS = {
    "claude": count_claude_code,
    "codex": count_codex,
    "pi": count_pi,
    "made": count_claude_code,
}

SESSIONS = {
    str(path.relative_to(SHARED)): path
    for folder in FOLDERS
    for path in sorted((SHARED / folder).rglob("*.jsonl"))
    if any(f"/{mine}" in str(path) for mine in HARNESSES)
    and not path.name.startswith(("stdout-", "hook-stdin"))
}
OTHERS = {
    str(path.relative_to(SHARED)): path
    for folder in ("transcripts", "live-captures")
    for path in sorted((SHARED / folder).rglob("*"))
    if path.name.startswith(("stdout-", "hook-stdin", "plugin-events")) or ".meta" in path.suffixes
}
FIXTURES = {
    str(path.relative_to(ROOT)): path
    for folder in ("claude-code", "codex", "pi")
    for path in sorted((ROOT / "tests/fixtures" / folder).rglob("*.jsonl"))
}

absent = pytest.mark.skipif(not SESSIONS, reason=f"no shared transcripts in {SHARED}")


def counter(path):
    """Choose the counter of a file by the folder that it lies in."""
    harness = next(part for part in reversed(path.parts[:-1]) if part.startswith(HARNESSES))
    return COUNTERS[harness.split("-")[0]]


def check(path):
    count = counter(path)(path)
    seen = read(path.read_bytes(), path.stem)
    records = [record for record in seen.lasting if hasattr(record, "entry")]
    kinds = Counter((record.key.agent, record.entry.kind.value) for record in records)
    steps = {
        (record.key.agent, record.entry.message_id)
        for record in records
        if record.entry.kind is Kind.ASSISTANT and record.entry.canonical
    }
    assert kinds == +count.entries
    assert Counter(agent for agent, _ in steps) == count.steps
    assert len(seen.of(Boundary)) == count.boundaries
    assert seen.bad_lines == count.unread


@pytest.mark.parametrize("name", FIXTURES)
def test_the_adapters_agree_with_the_counter_on_our_own_captures(name):
    check(FIXTURES[name])


@absent
@pytest.mark.parametrize("name", SESSIONS or ["none"])
def test_the_adapters_agree_with_the_counter_on_real_sessions(name):
    check(SESSIONS[name])


@absent
@pytest.mark.parametrize("name", SESSIONS or ["none"])
def test_a_real_session_gives_the_same_while_it_grows(name):
    data, stem = SESSIONS[name].read_bytes(), SESSIONS[name].stem
    cuts = [len(data) * part // 7 for part in range(1, 7)]
    growing = read_growing(data, cuts, stem, rows_per_batch=50)
    assert growing.lasting == read(data, stem).lasting


@absent
@pytest.mark.parametrize("name", OTHERS or ["none"])
def test_what_is_no_session_is_refused_by_name(name):
    with OTHERS[name].open("rb") as stream, pytest.raises(UnknownFormatError) as raised:
        open_source(stream, OTHERS[name].stem)
    assert raised.value.facts["looks_like"]


@absent
def test_a_real_fork_shares_its_history_with_the_session_it_came_from():
    folder = SHARED / "live-captures/claude-code-2.1.332/resume-and-fork"
    first = read((folder / "4abb71de-7d9d-4799-a8b5-0e1f24bf8af0.jsonl").read_bytes())
    fork = read((folder / "10517839-0da2-47ef-aba1-91bdec523e92.jsonl").read_bytes())
    assert fork.ids[:4] == first.ids
    assert len(set(fork.ids)) == 8
