"""What the child of an extraction is given: its payload, the segment, the first message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reflector.core.ambient import instant, stamp
from reflector.core.backoff import ALL_STRIKES, FINAL_STRIKES, RETRYABLE_STRIKES, Suspect
from reflector.core.entry import Entry
from reflector.core.redact import redact, redact_record
from reflector.core.run import Run
from reflector.core.snapshot import Snapshot
from reflector.pipelines.experiences.rows import Row, row
from reflector.pipelines.experiences.touched import touched
from reflector.pipelines.experiences.views import CONTEXT_TURNS
from reflector.pipelines.off_record import recorded
from reflector.runtime.banks import bank_of
from reflector.runtime.calls.asking import small_route
from reflector.runtime.experiences import words
from reflector.runtime.experiences.branch import branch_at
from reflector.runtime.experiences.brief import Segment
from reflector.runtime.given import given
from reflector.runtime.payload import Payload, user_entries
from reflector.runtime.wiring import Context
from reflector.store import journal, segments, unwanted
from reflector.store.short_memory import project_root
from reflector.store.state import Connection, State
from reflector.vcs.worktree import Worktree

VIEW_TOKENS = 48_000
"""What a model is shown of a segment and of the turns before it."""
_FOLDERS = ("experiences/", "facts/")


def prepare(context: Context, state: State, run: Run, place: Worktree) -> Payload:
    """Write `payload.json`, `prompt.md` and `opening.md` of a run and return the payload."""
    connection, taken = state.connection, run.snapshots[0]
    entries = recorded(journal.entries(connection, taken))
    found = _segment(context, connection, taken, entries)
    payload = replace(
        given(context, state, run, place),
        user_entries=user_entries(entries),
        route=small_route(context),
        segment=found,
    )
    folder = context.agent.run(run.id)
    payload.write(folder / "payload.json")
    first = words.segment_message(found.rows, found.before, VIEW_TOKENS)
    (folder / "prompt.md").write_text(words.scene_rules(), "utf-8")
    (folder / "opening.md").write_bytes(first.encode("utf-8", "replace"))
    return payload


def redacted(entries: Iterable[Entry]) -> tuple[Row, ...]:
    """Return entries as rows, once more without secrets: they may be older than a rule."""
    return tuple(map(_redacted, entries))


def _redacted(entry: Entry) -> Row:
    parts = (entry.text, entry.tool, entry.arguments, entry.result or "")
    (text, tool, given, result), _ = redact_record(parts)
    return replace(
        row(entry),
        text=text,
        tool=tool,
        arguments=given,
        result=None if entry.result is None else result,
    )


def _segment(
    context: Context, connection: Connection, taken: Snapshot, entries: list[Entry]
) -> Segment:
    known = journal.conversation(connection, taken.conversation)
    folder = known.cwd if known else ""
    rows = redacted(entries)
    last = max((entry.at for entry in entries), default="")
    return Segment(
        conversation=taken.conversation,
        rows=rows,
        before=redacted(recorded(segments.turns_before(connection, taken, CONTEXT_TURNS))),
        at=stamp(instant(last)) if last else "",
        project=bank_of(Path(folder)) if folder else "",
        branch=redact(branch_at(folder, last)).text,
        files=touched(rows, (project_root(folder) or "") if folder else ""),
        scene=context.settings.text("experiences.scene"),
        verbatim=context.settings.flag("experiences.verbatim_fallback"),
        last_try=_last_try(connection, taken),
        unwanted=unwanted.below(connection, _FOLDERS),
    )


def _last_try(connection: Connection, taken: Snapshot) -> bool:
    """Tell whether one more failure over its content sets this range aside."""
    suspect = segments.record(connection, taken.conversation).suspect
    if suspect is None or suspect.first_entry != taken.first_entry:
        return False
    return segments.smallest(connection, taken) and _struck(suspect)


def _struck(suspect: Suspect) -> bool:
    total = sum(strike.failures for strike in suspect.strikes)
    enough = (
        strike.failures + 1 >= (RETRYABLE_STRIKES if strike.retryable else FINAL_STRIKES)
        for strike in suspect.strikes
    )
    return total + 1 >= ALL_STRIKES or any(enough)
