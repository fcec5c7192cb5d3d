"""The child's side of a consolidation: one forced call, its edits applied and committed by us."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reflector.agent.engine import Commit, Finish, Task, Update
from reflector.agent.folder import Folder
from reflector.agent.forced import Ask, Forced, Given, Tool
from reflector.agent.wire import ProviderError
from reflector.core.ambient import Ambient
from reflector.core.errors import DocumentError
from reflector.core.redact import redact
from reflector.pipelines.decisions import calls, edits
from reflector.pipelines.decisions.bullets import path_of, read_bank, written
from reflector.pipelines.decisions.edits import Changed, Refused
from reflector.runtime.decisions.brief import Brief
from reflector.runtime.decisions.settling import write_changes

MOST_TOKENS = 8192
_CUT = "Your answer was cut at its limit, so nothing of it was done. Make fewer edits."
_FAULTS = 12


def consolidate(task: Task, brief: Brief, commit: Commit, out: Path, ambient: Ambient) -> Finish:
    """Let the model edit the bank, hand a bad answer back once, and commit what it changed.

    What became of which bullet is written to `out`, for whoever settles the run.
    """
    if not brief.deltas:
        return Finish("nothing_to_record", "Nothing waits any more.")
    ask = Ask(
        step="decisions.consolidate",
        system=task.prompt,
        text=task.opening,
        tool=Tool(calls.EDIT, calls.EDIT_SAYS, edits.SCHEMA),
        effort="medium",
        most_output_tokens=MOST_TOKENS,
    )
    forced = Forced(ask, task.route, ambient, task.record)
    work = _Work(task, brief, commit, out, Folder(task.worktree))
    try:
        finish = _asked(work, forced)
    except ProviderError as error:
        detail = redact(error.message).text
        finish = Finish("failed", "", reason=error.reason, detail=detail)
    finally:
        forced.close()
    return replace(finish, usage=forced.usage)


@dataclass(frozen=True, slots=True)
class _Work:
    task: Task
    brief: Brief
    commit: Commit
    out: Path
    folder: Folder


def _asked(work: _Work, forced: Forced) -> Finish:
    given = forced.ask()
    done = _done(work, given)
    if isinstance(done, str):
        given = forced.again(f"Nothing was changed. {done} Answer with all edits again.")
        done = _done(work, given)
    if isinstance(done, str):
        reason = "limits" if given.cut else "validation"
        return Finish("failed", "", reason=reason, detail=redact(done).text)
    if not done:
        return Finish("nothing_to_record", "The files say all of it already.")
    return Finish("committed", _report(work.brief, done))


def _done(work: _Work, given: Given) -> tuple[Changed, ...] | str:
    """Do what an answer asks for; return what was changed, or what is wrong with it."""
    done = _CUT if given.cut else _applied(work, given)
    if work.task.record is not None:
        count = 0 if isinstance(done, str) else len(done)
        counts = {"edits": count, "refused": int(isinstance(done, str))}
        work.task.record(replace(given.step, counts=counts))
    return done


def _applied(work: _Work, given: Given) -> tuple[Changed, ...] | str:
    asked = edits.read_edits(given.arguments)
    if isinstance(asked, Refused):
        return _said(asked)
    before = read_bank(work.brief.bank, work.folder.read)
    found = edits.apply(before, asked, digest=work.brief.digest, deltas=work.brief.ids)
    if isinstance(found, Refused):
        return _said(found)
    if found.files == before:
        return ()
    after = written(work.brief.bank, work.folder.read, found.files)
    originals = {path: work.folder.read(path) for path in after}
    work.folder.put(after)
    try:
        _commit(work, found.changes)
    except DocumentError as error:
        work.folder.put(originals)  # what is asked next is judged against the files as they were
        return error.message
    write_changes(work.out, found.changes)
    return found.changes


def _commit(work: _Work, changes: Sequence[Changed]) -> None:
    bank, count = work.brief.bank, len(changes)
    kind: Literal["feat", "fix"] = "feat" if any(not each.old for each in changes) else "fix"
    summary = f"{count} decision{'s' if count > 1 else ''} of {bank}"
    work.commit(kind, summary, [_update(work.brief, change) for change in changes])


def _update(brief: Brief, change: Changed) -> Update:
    """Say what was changed and why: what replaced what is told by the commit alone."""
    path = path_of(brief.bank, change.file)
    if not change.new:
        text = f"wrong: {path}: {change.old} ({change.reason or 'superseded'})"
    elif change.old:
        text = f"{path}: {change.new} (instead of: {change.old})"
    else:
        text = f"{path}: {change.new}"
    known = {delta.id: delta.entry for delta in brief.deltas}
    evidence = [known[each] for each in change.deltas if known.get(each)]
    return Update(text, tuple(dict.fromkeys(evidence)))


def _said(refused: Refused) -> str:
    faults = [each.message for each in refused.findings]
    return " ".join(dict.fromkeys(faults[:_FAULTS]))


def _report(brief: Brief, changes: Sequence[Changed]) -> str:
    lines = []
    for change in changes:
        old = f" (was: {change.old})" if change.old and change.new else ""
        lines.append(f"- {change.file}: {change.new or 'removed: ' + change.old}{old}")
    return (
        "\n".join(
            [
                f"# Summary\n\n{len(changes)} changes in {brief.bank}.\n",
                "# Memory changes\n",
                *lines,
            ]
        )
        + "\n"
    )
