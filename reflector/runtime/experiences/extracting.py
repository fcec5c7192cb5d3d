"""The child's side of an extraction: what a segment teaches, checked, reconciled, written, committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from reflector.agent.engine import Commit, Finish, Task
from reflector.agent.folder import Folder
from reflector.agent.forced import wire_for
from reflector.agent.wire import ProviderError
from reflector.core.ambient import Ambient
from reflector.core.errors import DocumentError
from reflector.core.experience import Extraction, Scene
from reflector.core.failure import classify
from reflector.core.redact import redact
from reflector.core.run import Outcome, Reason
from reflector.memory.experiences.forgotten import Forgotten
from reflector.memory.experiences.kept import kept_in
from reflector.memory.tree import Tree
from reflector.memory.undone_rules import folded
from reflector.pipelines.experiences import details, evidence, verbatim, writing
from reflector.pipelines.experiences.calls import EXTRACT_TOKENS
from reflector.pipelines.experiences.drafts import Draft, drafts_of
from reflector.pipelines.experiences.evidence import Checked
from reflector.pipelines.experiences.rows import contents, spoken
from reflector.pipelines.experiences.scene import facts_only
from reflector.pipelines.experiences.writing import Edits, Host
from reflector.runtime.experiences.answering import Calls
from reflector.runtime.experiences.brief import Segment
from reflector.runtime.experiences.candidates import candidates
from reflector.runtime.experiences.forgotten import forgotten_in
from reflector.vcs.worktree import Worktree

_NOTHING: Final = "nothing_to_record"
_RESTS_ON: Final = 10
"""So many of the user's messages an item rests on that names none."""


def extract(
    task: Task, segment: Segment, commit: Commit, worktree: Worktree, ambient: Ambient
) -> Finish:
    """Let a model say what a segment teaches, and write down what of it holds.

    Everything that was dropped is in the counts of the call's record and in the report.
    """
    wire = wire_for(task.route, EXTRACT_TOKENS, ambient)
    calls = Calls(task, segment, ambient, wire)
    with closing(wire), worktree.reads() as reads:
        gone = forgotten_in(reads, worktree.base)
        work = _Work(calls, commit, Folder(worktree.path), reads.tree(worktree.base), gone)
        try:
            finish = _extracted(work)
        except ProviderError as error:
            finish = _failed(work, error.reason, error.message)
    return replace(finish, usage=calls.usage)


@dataclass(slots=True)
class _Work:
    """One extraction on its way. `counts` is what became of its items, by kind and reason."""

    calls: Calls
    commit: Commit
    folder: Folder
    tree: Tree
    forgotten: Forgotten
    scene: Scene | None = None
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def segment(self) -> Segment:
        return self.calls.segment


def _extracted(work: _Work) -> Finish:
    if not any(contents(one) for one in work.segment.rows):
        return Finish(
            _NOTHING, "# Summary\n\nNothing of this segment is in the journal any more.\n"
        )
    work.scene = work.calls.scene()
    if work.scene is Scene.CHAT:
        return Finish(_NOTHING, "# Summary\n\nSmall talk: nothing to keep.\n")
    answer = work.calls.extraction(work.scene)
    drafts = _drafts(work, answer.extraction)
    work.calls.tell(answer.given, work.counts)
    return _written(work, drafts)


def _drafts(work: _Work, found: Extraction) -> list[Draft]:
    """Return what of an answer may be written; what may not is counted."""
    segment, counts = work.segment, work.counts
    counts.update({"experiences": len(found.experiences), "facts": int(found.fact is not None)})
    counts.update(f"dropped.{one.reason}" for one in found.dropped)
    counts["repaired"] += found.repaired
    if found.experiences and facts_only(segment.rows):
        counts["dropped.nothing_was_done"] += len(found.experiences)
        found = replace(found, experiences=())
    checked = evidence.checked(found, segment.rows, segment.before)
    counts.update(checked.counts)
    counts["unverified"] += sum(not each for each in (*checked.verified, *_of_fact(checked)))
    if checked.fact is None and segment.verbatim:
        return [*_made(work, checked), *_verbatim(work)]
    return _made(work, checked)


def _of_fact(checked: Checked) -> tuple[bool, ...]:
    return () if checked.fact is None else (checked.fact_verified,)


def _made(work: _Work, checked: Checked) -> list[Draft]:
    """Make drafts of what was checked, without what a person took back."""
    rows, fact = work.segment.rows, checked.fact
    kept = details.copied(rows, fact.details) if fact is not None else ""
    unwanted = frozenset(work.segment.unwanted)
    if kept and any(folded(line) in unwanted for line in kept.split("\n")):
        kept = ""  # a fact goes without what would have to be asked about
        work.counts["dropped.details_undone_before"] += 1
    experiences = list(zip(checked.experiences, checked.verified, strict=True))
    pair = None if fact is None else (fact, checked.fact_verified)
    drafts = drafts_of(experiences, pair, kept)
    wanted = [one for one in drafts if not _taken_back(one.text, unwanted)]
    if len(wanted) < len(drafts):
        work.counts["dropped.undone_before"] += len(drafts) - len(wanted)
    # What names no entry would outlive the conversation that it comes from.
    whole = tuple(one.id for one in spoken(rows) or rows)[:_RESTS_ON]
    resting = [one if one.evidence else replace(one, evidence=whole) for one in wanted]
    return _without_forgotten(work, resting)


def _without_forgotten(work: _Work, drafts: Sequence[Draft]) -> list[Draft]:
    read = {one.id for one in work.segment.rows}
    kept = [
        one for one in drafts if not work.forgotten.holds(one.layer, one.text, one.evidence, read)
    ]
    if len(kept) < len(drafts):
        work.counts["dropped.forgotten_before"] += len(drafts) - len(kept)
    return kept


def _taken_back(text: str, unwanted: frozenset[str]) -> bool:
    """Tell whether a person took back at least half of a text's lines.

    A single line that happens to be the same is for the validator: it asks the person.
    """
    lines = [folded(line) for line in text.split("\n") if any(map(str.isalnum, line))]
    gone = sum(line in unwanted for line in lines)
    return bool(gone) and 2 * gone >= len(lines)


def _verbatim(work: _Work) -> list[Draft]:
    made = verbatim.fallback(work.segment.rows)
    if made is None:
        return []
    work.counts["verbatim"] += 1
    return _without_forgotten(work, drafts_of((), (made, False)))


def _failed(work: _Work, reason: str, said: str) -> Finish:
    """Say how it failed; the last time, and only if a person wants that, their own words stay."""
    detail = redact(said).text
    failure = classify(Outcome.FAILED, Reason(reason), detail)
    over_content = failure is not None and failure.scope == "content"
    if work.segment.verbatim and work.segment.last_try and over_content:
        drafts = _verbatim(work)
        if drafts:
            return _written(work, drafts)
    return Finish("failed", "", reason=reason, detail=detail)


def _written(work: _Work, drafts: Sequence[Draft]) -> Finish:
    """Reconcile drafts with what is known, write them, and commit once."""
    if not drafts:
        return Finish(_NOTHING, _report(work, None))
    segment = work.segment
    ambient, known = work.calls.ambient, kept_in(work.tree).known
    # As of when it was said: what a conversation of last year established is not this year's truth.
    at = min(segment.at or ambient.now(), ambient.now())
    offered = {
        key: [each for each in found if known[each.id].created <= at]
        for key, found in candidates(work.tree, segment.project, drafts).items()
    }
    decided = work.calls.decided(drafts, offered)
    host = Host(
        new_id=lambda: ambient.chance.hex(8),
        project=segment.project,
        branch=segment.branch,
        now=at,
        files=segment.files,
    )
    try:
        done = writing.edits(decided, drafts, known, host)
        work.counts.update(done.counts)
        if not done.files:
            return Finish(_NOTHING, _report(work, done))
        _commit(work, done)
    except DocumentError as error:  # what the segment holds is at fault, nobody's machine
        return Finish("failed", "", reason="validation", detail=redact(error.message).text)
    return Finish("committed", _report(work, done))


def _commit(work: _Work, done: Edits) -> None:
    work.folder.put(done.files)
    new = done.counts.get("added", 0)
    changed = len(done.files) - new
    kind: Literal["feat", "fix"] = "feat" if new else "fix"
    parts = [f"{new} new" if new else "", f"{changed} changed" if changed else ""]
    summary = f"experiences and facts: {', '.join(filter(None, parts))}"
    work.commit(kind, summary, done.updates)


def _report(work: _Work, done: Edits | None) -> str:
    """Return what a person reads in `reflector show RUN`."""
    scene = work.scene or "unknown"
    lines = ["# Summary", "", f"Scene: {scene}. {_numbers(work.counts)}", ""]
    if done is not None and done.updates:
        lines += ["# Memory changes", "", *(f"- {each.text}" for each in done.updates), ""]
    dropped = [(name, n) for name, n in sorted(work.counts.items()) if n and _is_loss(name)]
    if dropped:
        lines += ["# Skipped", "", *(f"- {name}: {n}" for name, n in dropped), ""]
    return redact("\n".join(lines)).text


def _numbers(counts: Mapping[str, int]) -> str:
    shown = ("experiences", "facts", "added", "updated", "skipped", "superseded", "verbatim")
    told = ", ".join(f"{name}: {counts[name]}" for name in shown if counts.get(name))
    return f"{told or 'Nothing to keep'}."


def _is_loss(name: str) -> bool:
    return name == "unverified" or name.startswith(("dropped.", "removed.", "unverified."))
