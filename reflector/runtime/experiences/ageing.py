"""Old facts that nobody recalled, moved to ARCHIVE.md by one commit before a dream begins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from reflector.core.ambient import stamp
from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.memory.experiences.ageing import aged, archived
from reflector.memory.experiences.kept import kept_in
from reflector.memory.tree import ARCHIVE, Tree
from reflector.runtime.bench import Bench
from reflector.runtime.wiring import Context
from reflector.runtime.writing import NoChangeError, Written, write
from reflector.store import recall_uses
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_DREAM = "dream"
_SETTING = "facts.keep_days"
_LONGEST = 100 * 365
"""Days: of a year with three digits all that was ever said would be younger, as texts go."""


def before_dream(bench: Bench, run: Run) -> Written | None:
    """Archive what is old, if this run is a dream of the whole memory; trouble never stops it.

    It is a commit of its own on main and no part of the dream: no model could leave a fact out,
    `memory log ARCHIVE.md` names it, `memory restore` brings a fact back.
    """
    if run.request.pipeline != _DREAM or run.request.target:
        return None
    try:
        return archive_old(bench.context)
    except ReflectorError:  # a person's work is in the way: the next dream does it
        return None


def archive_old(context: Context) -> Written | None:
    """Move facts older than `facts.keep_days` and not recalled since; None when there are none."""
    days = min(context.settings.number(_SETTING), _LONGEST)
    if days == 0 or not _any_so_old(context, before := _day_before(context, days)):
        return None
    with context.state() as state:
        recalled = {path: use.last for path, use in recall_uses.uses(state.connection).items()}
    today = _day_before(context, 0)

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        archive = tree.read(ARCHIVE) or b""
        facts = aged(kept_in(tree, "fact").known, recalled, before, archive)
        return archived(facts, archive, today)

    try:
        return write(
            context, change, f"archived facts that nobody recalled since {before}", writer="agent"
        )
    except NoChangeError:
        return None


def _day_before(context: Context, days: int) -> str:
    return stamp(context.ambient.clock.now() - timedelta(days=days))[:10]


def _any_so_old(context: Context, before: str) -> bool:
    """Tell by the names of months alone whether reading the facts could be worth it."""
    with Reads(context.agent.repo) as reads:
        commit = reads.resolve(MAIN)
        months = reads.tree(commit).folders("facts") if commit else {}
    return any(month <= before[:7] for month in months)
