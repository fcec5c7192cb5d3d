"""What became of git's administration while a run's child was at work, and what it was before."""

from __future__ import annotations

import json
from pathlib import Path

from reflector.core.run import Outcome
from reflector.store import reservations
from reflector.store.state import State
from reflector.vcs import administration
from reflector.vcs.port import MAIN, Administration
from reflector.vcs.reads import Reads

_FILE = "administration.json"
_RUN_ID = len("20261130T120000-0123abcd")


def save(folder: Path, before: Administration) -> None:
    """Save what the child must leave alone, for whoever finishes its run if we die."""
    text = json.dumps(before.facts)
    (folder / _FILE).write_bytes(text.encode("utf-8", "surrogatepass"))


def saved(folder: Path) -> Administration | None:
    """Return what was saved before the child began, None when it cannot be read."""
    try:
        raw = (folder / _FILE).read_bytes()
        return Administration(dict(json.loads(raw.decode("utf-8", "surrogatepass"))))
    except (OSError, ValueError, TypeError):
        return None


def moved_fairly(
    repo: Path, before: Administration, after: Administration, base: str, tip: str
) -> bool:
    """Tell whether main moved without the child: on, with none of its commits, or back."""
    fair = administration.main_moved_fairly(repo, before, after, base, tip)
    return fair or _went_back(repo, before, after)


def _went_back(repo: Path, before: Administration, after: Administration) -> bool:
    """Tell whether main was reset to an older commit: integration refuses then, and says why."""
    old, new = (each.facts.get(f"ref:{MAIN}", "") for each in (before, after))
    if not old or not new or new.startswith("->"):
        return False
    with Reads(repo) as reads:
        return reads.is_ancestor(new, old)


def of_others(
    state: State, own: str, before: Administration, after: Administration
) -> frozenset[str]:
    """Return the refs that other processes of ours made or removed: the ledger knows their runs."""
    names = {name for name in before.facts.keys() | after.facts.keys() if name.startswith("ref:")}
    changed = {name for name in names if before.facts.get(name) != after.facts.get(name)}
    refs = {name.removeprefix("ref:"): after.facts.get(name) for name in changed}
    return frozenset(ref for ref, now in refs.items() if _is_of_another(state, own, ref, now))


def _is_of_another(state: State, own: str, ref: str, now: str | None) -> bool:
    run = reservations.known(state.connection, ref[-_RUN_ID:])
    if run is None or run.id == own:
        return False
    if ref == f"refs/heads/{run.branch}":  # a run of another slot, or one that was cleaned up
        return run.settlement is None or now is None
    waits = run.outcome in (Outcome.PARENT_DIRTY, Outcome.AWAITING_REVIEW)
    return ref.startswith("refs/reflector/") and (now == run.tip or (now is None and not waits))
