"""Every dialogue extracted in a home of its own; one line each, exit 1 if one is not as it should."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from quality_table import Judged, home, table

from reflector.core.experience import EpisodicFact, Experience
from reflector.memory.experiences.form import Stored
from reflector.runtime.experiences.due import Wish
from reflector.runtime.experiences.foreground import extract_now
from reflector.runtime.experiences.reading import held
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import Context
from tests.quality.experiences.dialogues import DIALOGUES, Dialogue
from tests.quality.experiences.judging import Extracted, faults


def main() -> int:
    """Run what is asked for and print a table."""
    return table(__doc__ or "", DIALOGUES, ("experiences", "fact", "tokens"), _judged)


def _judged(dialogue: Dialogue, engine: str, model: str) -> Judged:
    with home(engine, model) as (found, folder):
        ingest(found, _transcript(folder, dialogue), Quiet())
        done = extract_now(found, Quiet(), Wish(force=True, everything=False))
        ends = [run.settlement for run in done.runs if run.settlement]
        failed = [f"{end.outcome.value}: {end.reason}" for end in ends if end.reason]
        usages = [end.usage for end in ends]
        tokens = sum(
            int(usage.get(name) or 0)
            for usage in usages
            for name in ("input_tokens", "output_tokens")
        )
        kept = _extracted(found)
        wrong = [*faults(dialogue, kept), *failed, *(["no answer"] if done.waiting else [])]
        return Judged((len(kept.experiences), int(kept.fact is not None), tokens), wrong)


def _transcript(folder: Path, dialogue: Dialogue) -> Path:
    place = folder / "talk.jsonl"
    rows = [
        {**row, "id": f"m{at}", "session_id": "talk", "cwd": str(folder)}
        for at, row in enumerate(_numbered(dialogue))
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


def _numbered(dialogue: Dialogue) -> Iterator[dict[str, object]]:
    """Yield the rows, every call with an id that its answer names."""
    call = ""
    for at, row in enumerate(dialogue.rows):
        if isinstance(calls := row.get("tool_calls"), list):
            call = f"call-{at}"
            yield {**row, "tool_calls": [{**each, "id": call} for each in calls]}
        elif row["role"] == "tool":
            yield {**row, "tool_call_id": call}
        else:
            yield dict(row)


def _extracted(found: Context) -> Extracted:
    experiences, facts = held(found, "experience").kept, held(found, "fact").kept
    stored = (*experiences.of("experience"), *facts.of("fact"))
    fact = next((_fact(one) for one in stored if one.layer == "fact"), None)
    return Extracted(
        [_experience(one) for one in stored if one.layer == "experience"],
        fact,
        sum(not one.verified for one in stored),
    )


def _experience(one: Stored) -> Experience:
    return Experience(one.title, one.body, one.boundary_envs, one.confidence, one.search_keys)


def _fact(one: Stored) -> EpisodicFact:
    return EpisodicFact(one.body, one.title, one.files)


if __name__ == "__main__":
    sys.exit(main())
