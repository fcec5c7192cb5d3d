"""Every dialogue reflected on in a home of its own; one line each, exit 1 if one is not as it should."""

from __future__ import annotations

import sys

from quality_table import Judged, home, table

from reflector.core.run import Run
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.wiring import Context
from reflector.vcs.reads import Reads
from tests.quality.reflection.dialogues import DIALOGUES, Dialogue
from tests.support.transcripts import conversation

HUMAN = "system/human.md"


def main() -> int:
    """Run what is asked for and print a table."""
    return table(__doc__ or "", DIALOGUES, ("outcome", "tokens"), _judged)


def _judged(dialogue: Dialogue, engine: str, model: str) -> Judged:
    with home(engine, model) as (found, folder):
        if dialogue.known:
            _remember(found, dialogue)
        talk = conversation(folder / "talk.jsonl", *dialogue.turns)
        (run,) = reflect(found, Options(files=[talk]), Quiet()).runs
        usage = run.settlement.usage if run.settlement else {}
        tokens = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)
        outcome = run.outcome.value if run.outcome else "unfinished"
        return Judged((outcome, tokens), list(_faults(dialogue, found, run)))


def _remember(found: Context, dialogue: Dialogue) -> None:
    from reflector.runtime.writing import write  # noqa: PLC0415 - only some dialogues know something

    lines = "".join(f"{line}\n" for line in dialogue.known).encode()
    write(found, lambda tree: {HUMAN: (tree.read(HUMAN) or b"") + lines}, "what was known before")


def _faults(dialogue: Dialogue, found: Context, run: Run) -> list[str]:
    end = run.settlement
    outcome = end.outcome.value if end else ""
    faults = [] if outcome in dialogue.outcomes else [f"not {' or '.join(dialogue.outcomes)}"]
    with Reads(found.agent.repo) as reads:
        if not (run.base and run.tip) or outcome != "merged":
            return faults
        diff = reads.diff_text(run.base, run.tip)
        changed = reads.changed(run.base, run.tip)
    added = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("+"))
    faults += [f"{word!r} is not kept" for word in dialogue.keeps if word not in added]
    faults += [f"{word!r} is kept" for word in dialogue.leaves_out if word in added]
    if len(changed) > dialogue.most_documents:
        faults.append(f"{len(changed)} documents changed")
    return faults


if __name__ == "__main__":
    sys.exit(main())
