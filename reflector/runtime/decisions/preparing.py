"""What the child of a consolidation is given: its payload, its rules, and the first message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reflector.core.decision import Recorded
from reflector.core.run import Run
from reflector.pipelines.contexts import Named
from reflector.pipelines.decisions.bullets import read_bank
from reflector.runtime.banks import bank_of
from reflector.runtime.calls.asking import small_route
from reflector.runtime.decisions import words
from reflector.runtime.decisions.brief import Brief, BriefDelta
from reflector.runtime.decisions.digest import digest
from reflector.runtime.decisions.settling import bank_of_run, deltas_of
from reflector.runtime.given import given
from reflector.runtime.payload import Payload
from reflector.runtime.wiring import Context
from reflector.store import decisions, journal
from reflector.store.state import Connection, State
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Worktree

_FOLDERS = 10


def prepare(context: Context, state: State, run: Run, place: Worktree) -> Payload:
    """Write `payload.json`, `prompt.md` and `opening.md` of a run and return the payload.

    Raises DocumentError when a file of the bank cannot be read: then nothing may be written.
    """
    connection, bank = state.connection, bank_of_run(run)
    found = (decisions.delta(connection, each) for each in deltas_of(connection, run.id))
    deltas = [each for each in found if each is not None and not each.consumed_by]
    documented = _digest(context, connection, bank, deltas)
    brief = Brief(
        bank,
        tuple(BriefDelta(each.id, each.entry) for each in deltas),
        "\n".join(part.text for part in documented),
    )
    payload = replace(
        given(context, state, run, place),
        user_entries=tuple(each.entry for each in brief.deltas if each.entry),
        route=small_route(context),
        brief=brief,
    )
    folder = context.agent.run(run.id)
    payload.write(folder / "payload.json")
    with Reads(context.agent.repo) as reads:
        files = read_bank(bank, reads.tree(place.base).read)
    first = words.queue(files, deltas, documented, payload.unwanted)
    (folder / "prompt.md").write_text(words.consolidation_rules(), "utf-8")
    (folder / "opening.md").write_bytes(first.encode("utf-8", "replace"))
    return payload


def _digest(
    context: Context, connection: Connection, bank: str, deltas: list[Recorded]
) -> tuple[Named, ...]:
    """Read the instruction files around the newest folder that still is this bank's."""
    talks = dict.fromkeys(one.conversation for one in reversed(deltas))
    for talk in [*talks][:_FOLDERS]:
        known = journal.conversation(connection, talk)
        if known is not None and known.cwd and bank_of(Path(known.cwd)) == bank:
            return digest(known.cwd, context.environ.get("HOME", ""))
    return ()
