"""Every dialogue's decisions extracted in a home of its own; one line each, exit 1 if one is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from quality_table import Judged, home, table

from reflector.core.decision import Delta
from reflector.runtime.decisions.extraction import work_off
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.store import decisions
from tests.quality.decisions.dialogues import DIALOGUES, Dialogue, Found


def main() -> int:
    """Run what is asked for and print a table."""
    return table(__doc__ or "", DIALOGUES, ("found",), _judged)


def _judged(dialogue: Dialogue, engine: str, model: str) -> Judged:
    deltas, left = _extracted(dialogue, engine, model)
    faults = [*_faults(dialogue, deltas), *(["no answer"] if left else [])]
    return Judged((len(deltas),), faults)


def _extracted(dialogue: Dialogue, engine: str, model: str) -> tuple[list[Delta], int]:
    with home(engine, model) as (found, folder):
        ingest(found, _transcript(folder, dialogue), Quiet())
        with found.state() as state:
            work_off(found, state)
            ledger = decisions.ledger(state.connection)
            return [one.delta for one in ledger], len(decisions.jobs(state.connection))


def _transcript(folder: Path, dialogue: Dialogue) -> Path:
    place = folder / "talk.jsonl"
    rows = [
        {"role": "assistant" if at % 2 else "user", "content": text, "id": f"m{at}"}
        | {"session_id": "talk", "cwd": str(folder / "project")}
        for at, text in enumerate(dialogue.turns)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


def _faults(dialogue: Dialogue, deltas: Sequence[Delta]) -> Iterator[str]:
    if len(deltas) != len(dialogue.finds):
        yield f"{len(deltas)} decisions instead of {len(dialogue.finds)}"
    for wanted in dialogue.finds:
        if not any(_is(delta, wanted) for delta in deltas):
            yield f"{' '.join(wanted.words)!r} is not found as it should be"


def _is(delta: Delta, wanted: Found) -> bool:
    flags = delta.friction.as_json()
    return (
        all(word.casefold() in delta.statement.casefold() for word in wanted.words)
        and (not wanted.kinds or delta.kind.value in wanted.kinds)
        and all(flags[name] for name in wanted.flags)
        and wanted.source in ("", delta.source.value)
    )


if __name__ == "__main__":
    sys.exit(main())
