"""What killed runs left behind: found on disk and in git, with its age and whether it is needed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from reflector.core.run import Outcome, Run
from reflector.core.sweep import Kind, Leftover
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.locks import Lock
from reflector.store.state import State
from reflector.vcs.index_lock import passing_locks
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import BRANCHES

KEPT = "refs/reflector/"
_RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}\Z")
_FOLDER = re.compile(r"(\d+)-(\d{8}T\d{6}-[0-9a-f]{8})\Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_WAITING = (Outcome.PARENT_DIRTY, Outcome.AWAITING_REVIEW)

_TEMPORARY = (
    *("repo/.git/reflector-*", "repo/.git/objects/**/tmp_*"),
    *("diary/.git/reflector-*", "diary/.git/objects/**/tmp_*"),
    *(".*.tmp", "runs/*/.*.tmp", "runs/*/out/.*.tmp"),
)


@dataclass(frozen=True, slots=True)
class Remains:
    """Everything that was found, and the ids of runs that may still live."""

    found: tuple[Leftover, ...]
    live: frozenset[str]


def remains(context: Context, state: State) -> Remains:
    """Look everywhere that a run of this identity leaves something."""
    now = context.ambient.clock.now().timestamp()
    found = (
        *_trees(context, now),
        *_branches_and_refs(context, state, now),
        *_run_folders(context, now),
        *_files(context, now),
    )
    live = {run.id for run in reservations.active(state.connection)}
    unknown = {each.run for each in found if each.run and not _known(state, each.run)}
    if unknown and _somebody_owns_a_run(context):
        live |= unknown  # the ledger may have been moved aside under a living owner
    return Remains(found, frozenset(live))


def _known(state: State, run_id: str) -> bool:
    return reservations.known(state.connection, run_id) is not None


def _somebody_owns_a_run(context: Context) -> bool:
    for place in sorted((context.agent.path / "locks").glob("run-*.lock")):
        presence = Lock(place)
        if not presence.take():
            return True
        presence.release()
    return False


def _trees(context: Context, now: float) -> Iterator[Leftover]:
    agent = context.agent
    registered = {place.name: place for place in (agent.repo / ".git" / "worktrees").glob("*")}
    folders = {place.name: place for place in agent.worktrees.glob("*")}
    for name in sorted(registered.keys() | folders.keys()):
        named = _FOLDER.fullmatch(name)
        if named is None:
            continue  # a person's
        kind: Kind = "worktree" if name in registered else "folder"
        if name not in folders:
            kind = "registration"
        place = folders.get(name) or registered[name]
        yield Leftover(kind, name, named[2], _age(place, now))


def _branches_and_refs(context: Context, state: State, now: float) -> Iterator[Leftover]:
    with Reads(context.agent.repo) as reads:
        refs = reads.refs()
    for name in refs:
        branch = name.removeprefix("refs/heads/")
        if branch.startswith(BRANCHES):
            named = _FOLDER.fullmatch(branch.removeprefix(BRANCHES))
            # With a registration the branch goes when that does.
            if named and not (context.agent.repo / ".git" / "worktrees" / named[0]).exists():
                yield Leftover("branch", branch, named[2], _since(named[2], now))
        elif name.startswith(KEPT):
            run_id = name.rpartition("/")[2]
            run = reservations.known(state.connection, run_id)
            yield _ref(name, run, _since(run_id, now))


def _ref(name: str, run: Run | None, age: float) -> Leftover:
    run_id = name.rpartition("/")[2]
    if run is None or run.settlement is None:
        return Leftover("ref", name, run_id, age)
    if run.settlement.kept_ref != name:
        return Leftover("stray_ref", name, run_id, age)
    return Leftover("ref", name, run_id, age, needed=run.outcome in _WAITING)


def _run_folders(context: Context, now: float) -> Iterator[Leftover]:
    for folder in (context.agent.path / "runs").glob("*"):
        if _RUN.fullmatch(folder.name):
            yield Leftover("run_folder", folder.name, folder.name, _age(folder, now))
    for folder in (context.agent.path / "runs" / "jobs").glob("*"):
        # Calls outside of runs, day by day; they are kept as long as those of runs.
        if _DAY.fullmatch(folder.name):
            yield Leftover("run_folder", f"jobs/{folder.name}", "", _age(folder, now))


def _files(context: Context, now: float) -> Iterator[Leftover]:
    """Files that were to be renamed, and locks of git that no process of git holds."""
    root = context.agent.path
    for pattern in _TEMPORARY:
        for file in _matching(root, pattern):
            yield Leftover("temporary", str(file.relative_to(root)), "", _age(file, now))
    for repository in (context.agent.repo, context.agent.diary):
        locks = passing_locks(repository / ".git")
        held = bool(locks) and _git_works_in(repository)
        for file in locks:
            yield Leftover("lock", str(file.relative_to(root)), "", _age(file, now), needed=held)


def dead_locks(context: Context) -> list[Path]:
    """Return git's locks that no git can hold: for who holds all of ours, none while a git works."""
    return dead_locks_in(context.agent.repo)


def dead_locks_in(repository: Path) -> list[Path]:
    """Return the locks of one repository, for who alone of ours may hold any there now."""
    locks = passing_locks(repository / ".git")
    return [] if locks and _git_works_in(repository) else locks


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    """Yield what matches; of a folder that git removes meanwhile the next sweep sees the rest."""
    with contextlib.suppress(FileNotFoundError):
        yield from root.glob(pattern)


def _git_works_in(repo: Path) -> bool:
    """Tell whether a git of whomever may work in this repository; unknown counts as yes."""
    for process in psutil.process_iter():
        try:
            if process.name().partition("-")[0] != "git":
                continue
            words = [process.cwd(), *process.cmdline()]
        except psutil.NoSuchProcess:
            continue
        except (psutil.Error, OSError):
            return True
        if any(str(repo) in word for word in words):
            return True
    return False


def _age(path: Path, now: float) -> float:
    try:
        return now - path.lstat().st_mtime
    except OSError:
        return 0


def _since(run_id: str, now: float) -> float:
    """Return the seconds since a run was reserved, which its id tells."""
    try:
        reserved = datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return 0
    return now - reserved.timestamp()
