"""Every talk kept in a diary of its own; one line each, exit 1 if one is not as it should be."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from quality_table import Judged, home, table

from reflector.core.diary import Diary
from reflector.runtime.diary.asking import Caller
from reflector.runtime.diary.consolidating import consolidate_all
from reflector.runtime.diary.judging import judge_all
from reflector.runtime.diary.repository import Repository
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import Context
from reflector.store import diary
from tests.quality.diary.dialogues import DIALOGUES, Dialogue
from tests.quality.diary.judging import faults


def main() -> int:
    """Run what is asked for and print a table."""
    return table(__doc__ or "", DIALOGUES, ("judged no", "entries", "traits", "terms"), _judged)


def _judged(dialogue: Dialogue, engine: str, model: str) -> Judged:
    with home(engine, model) as (plain, folder):
        found = _keeping(plain)
        ingest(found, _transcript(folder, dialogue), Quiet())
        with found.state() as state:
            caller = Caller(found, state)
            try:
                held = judge_all(caller, lambda: False) or consolidate_all(caller, lambda: False)
            finally:
                caller.close()
            counts = diary.counts(state.connection)
        kept = Repository(found).read(adopt=False) if Repository(found).exists else Diary()
        gave_up = [why for why in counts.skipped if why.startswith("gave_up")]
        wrong = [*faults(dialogue, kept), *gave_up, *([f"it waits: {held.why}"] if held else [])]
        sizes = (len(kept.entries), len(kept.traits), len(kept.lexicon))
        return Judged((counts.skipped.get("no", 0), *sizes), wrong)


def _keeping(plain: Context) -> Context:
    values = {**plain.settings.values, "diary.enabled": True}
    return replace(plain, settings=replace(plain.settings, values=values))


def _transcript(folder: Path, dialogue: Dialogue) -> Path:
    place = folder / "talk.jsonl"
    rows = [
        {"role": "assistant" if at % 2 else "user", "content": text, "id": f"m{at}"}
        | {"session_id": "talk"}
        for at, text in enumerate(dialogue.turns)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


if __name__ == "__main__":
    sys.exit(main())
