"""Segments of real sessions are shown within every limit, whatever stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from reflector.core.entry import Kind
from reflector.core.errors import ReflectorError
from reflector.core.experience import EpisodicFact, Extraction, Scene
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.experiences import shortening, verbatim
from reflector.pipelines.experiences.details import MOST, copied
from reflector.pipelines.experiences.evidence import checked
from reflector.pipelines.experiences.language import chinese
from reflector.pipelines.experiences.rows import Row, is_call, row
from reflector.pipelines.experiences.scene import chosen
from reflector.pipelines.experiences.views import context, view
from tests.support.harness_rows import read

ROOT = Path(__file__).resolve().parents[4]
SHARED = ROOT.parent / "shared" / "data"
FOLDERS = (
    SHARED / "transcripts",
    SHARED / "live-captures",
    *(ROOT / "tests/fixtures" / name for name in ("claude-code", "codex", "pi", "openhands")),
    *(ROOT / "tests/fixtures" / name for name in ("gemini-cli", "opencode", "swe-agent")),
)
SESSIONS = {
    str(path.relative_to(ROOT.parent)): path
    for folder in FOLDERS
    for path in sorted(folder.rglob("*"))
    if path.suffix in (".jsonl", ".json", ".traj")
    and not path.name.startswith(("stdout-", "hook-stdin", "plugin-events"))
    and ".meta" not in path.suffixes
}
TURNS = 4
BUDGET = 12_000
HEADER = re.compile(r"\[\S+\] (?:user|assistant|error|assistant calls|tool result of)")


def _rows(path: Path) -> list[Row]:
    try:
        lasting = read(path.read_bytes(), path.stem).lasting
    except ReflectorError:  # a format that is read by another door
        return []
    return [row(record.entry) for record in lasting if hasattr(record, "entry")]


def _segments(rows: list[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield segments of a few user turns, each with what was before it."""
    turn, numbered = 0, []
    for one in rows:
        turn += one.kind == Kind.USER
        numbered.append((turn // TURNS, one))
    before: list[Row] = []
    for _, group in groupby(numbered, key=lambda pair: pair[0]):
        segment = [one for _, one in group]
        yield segment, before
        before = [*before, *segment]


def _check(segment: list[Row], before: list[Row]) -> None:
    for one in segment:
        if one.result is not None:
            short = shortening.result(one.result)
            assert len(short.encode("utf-8", "replace")) <= shortening.RESULT
            assert shortening.result(short) == short
        assert len(given := shortening.arguments(one.arguments)) <= shortening.ARGUMENTS
        assert shortening.arguments(given) == given
        assert shortening.said(said := shortening.said(one.text)) == said
    whole = view(segment, context(before), 10_000_000)
    assert not whole.left_out.says()
    assert _headers(whole.text) == _shown(segment)
    fitted = view(segment, context(before), BUDGET)
    assert estimate_tokens(fitted.text) + estimate_tokens(fitted.context) <= BUDGET
    assert f"[{segment[-1].id}]" in fitted.text or segment[-1].kind == Kind.REASONING


def _headers(text: str) -> int:
    lines = [line for line in text.splitlines() if not line.startswith("| ")]
    assert all(map(HEADER.fullmatch, lines))
    return len(lines)


def _shown(segment: list[Row]) -> int:
    return sum(1 + is_call(one) for one in segment if one.kind != Kind.REASONING)


def _check_judgements(segment: list[Row]) -> None:
    ids = [one.id for one in segment]
    assert len(copied(segment, ids)) <= MOST
    assert chosen("", None, segment) in (Scene.CODING, Scene.WORKING)
    assert chinese(segment) in (True, False)
    made = verbatim.fallback(segment)
    if made is not None:
        assert len(made.statement) <= verbatim.MOST + 1
        # The user's own words are borne out by the segment; but the last may be cut in its middle.
        words = EpisodicFact(made.statement.removesuffix("…").rpartition(" ")[0] or "x")
        counts = checked(Extraction(fact=words), segment).counts
        assert not any(name.endswith("number") for name in counts)


@pytest.mark.parametrize("name", SESSIONS)
def test_every_segment_of_a_real_session_is_shown_within_its_limits(name: str) -> None:
    rows = _rows(SESSIONS[name])
    for segment, before in _segments(rows):
        _check(segment, before)
        _check_judgements(segment)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no shared transcripts in {SHARED}")
def test_there_are_enough_real_sessions() -> None:
    assert sum(bool(_rows(path)) for path in SESSIONS.values()) >= 20
