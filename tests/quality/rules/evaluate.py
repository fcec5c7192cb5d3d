"""How well the explicit-statement rules do on the labelled messages, for both halves."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflector.agent.statements import find_statements

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = HERE.parents[3] / "shared" / "data" / "transcripts"


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled message. `place` is file and line, `parts` what the statements must contain."""

    place: str
    text: str
    label: str
    held: bool
    language: str
    parts: tuple[str, ...] = ()


@dataclass(slots=True)
class Score:
    """What the rules made of one half. Counts are statements found and messages expected."""

    positives: int = 0
    negatives: int = 0
    true: int = 0
    false: int = 0
    reached: int = 0
    right_kind: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    languages: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        """Return the part of the statements found that are really there."""
        return self.true / (self.true + self.false) if self.true + self.false else 1.0

    @property
    def recall(self) -> float:
        """Return the part of the messages with a statement in which it was found."""
        return self.reached / self.positives if self.positives else 1.0


def cases() -> Iterator[Case]:
    """Yield our own sentences, then the messages of the transcripts where these are present."""
    for number, row in _rows(HERE / "sentences.jsonl"):
        yield Case(
            place=f"sentences.jsonl:{number}",
            text=row["text"],
            label=row["label"],
            held=row["held"],
            language=row["language"],
            parts=tuple(part.lower() for part in row.get("contains", ())),
        )
    if TRANSCRIPTS.is_dir():
        yield from _recorded()


def _recorded() -> Iterator[Case]:
    cache: dict[str, dict[int, str]] = {}
    for _, row in _rows(HERE / "labels.jsonl"):
        name = row["file"]
        if name not in cache:
            cache[name] = dict(messages(TRANSCRIPTS / name))
        text = cache[name][row["line"]]
        place = f"{name}:{row['line']}"
        yield Case(place, text, row["label"], row["held"], language="recorded")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return ((number, json.loads(line)) for number, line in enumerate(lines, 1) if line)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and text of every row that has the text of a user message."""
    for number, raw in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            row = json.loads(raw)
        except ValueError:
            continue
        text = _said(row)
        if text:
            yield number, text


def _said(row: dict[str, Any]) -> str:
    match row:
        case {"type": "user", "message": {"content": content}}:
            return _flat(content)
        case {"type": "queue-operation", "content": str(content)}:
            return content
        case {"payload": {"type": "message", "role": "user", "content": content}}:
            return _flat(content)
        case {"payload": {"type": "user_message", "message": str(content)}}:
            return content
        case _:
            return ""


def _flat(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in content if block.get("text"))


def score(*, held: bool) -> Score:
    """Judge one half."""
    result = Score()
    for case in cases():
        if case.held == held:
            _judge(case, result)
    return result


def _judge(case: Case, result: Score) -> None:
    found = find_statements(case.text)
    if case.label == "none":
        result.negatives += 1
        right = []
    else:
        result.positives += 1
        right = [s for s in found if not case.parts or any(p in s.text.lower() for p in case.parts)]
    result.true += len(right)
    result.false += len(found) - len(right)
    result.wrong += [f"{case.place} [{case.label}] took {s.kind}" for s in found if s not in right]
    if case.label == "none":
        return
    result.languages[case.language, "expected"] += 1
    if right:
        result.reached += 1
        result.right_kind += right[0].kind == case.label
        result.languages[case.language, "found"] += 1
    else:
        result.missed.append(case.place)


def show(name: str, result: Score, *, missed: bool) -> None:
    """Print one half for a person."""
    print(f"{name}: {result.positives} positives, {result.negatives} negatives")
    print(f"  precision {result.precision:.3f} ({result.true} right, {result.false} wrong)")
    print(f"  recall    {result.recall:.3f} ({result.reached} of {result.positives})")
    print(f"  kind      {result.right_kind} of {result.reached} found are of the labelled kind")
    for language in ("en", "zh", "ja", "ko"):
        counts = result.languages
        found, expected = counts[language, "found"], counts[language, "expected"]
        print(f"  {language}        {found} of {expected}")
    for line in result.wrong:
        print(f"  false positive: {line}")
    if missed:
        for line in result.missed:
            print(f"  missed: {line}")


def main() -> int:
    """Print the figures. `--tuning` leaves the held half out and names what was missed."""
    if not TRANSCRIPTS.is_dir():
        print("no transcripts beside the repository: own sentences only")
    tuning = "--tuning" in sys.argv[1:]
    show("tuned half", score(held=False), missed=tuning)
    if tuning:
        return 0
    held = score(held=True)
    show("held half", held, missed=False)
    return 0 if held.precision >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
