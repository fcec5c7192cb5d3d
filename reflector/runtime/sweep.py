"""The sweep: what killed runs left behind is judged, and removed one by one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from structlog.typing import FilteringBoundLogger

from reflector.core.errors import ReflectorError
from reflector.core.sweep import Kind, Leftover, Receipt, select
from reflector.runtime import log as events
from reflector.runtime.cleansing import expunge_secrets, holds_secret
from reflector.runtime.leftovers import clean_up, set_folder_aside
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.remains import KEPT, remains
from reflector.runtime.trouble import named
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling
from reflector.store.state import State
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import BRANCHES, Worktree

LAST_SWEEP = "last_sweep_at"
LAST_MAINTENANCE = "last_maintenance_at"
HOURLY = timedelta(hours=1)
AT_START = timedelta(minutes=10)
"""Between two sweeps by supervisors that start."""

_HALF = 128
_AT_ONCE = 25
"""So many are removed before the memory-write lock is let go for whoever waits to merge."""


def sweep(context: Context, log: FilteringBoundLogger, *, dry_run: bool) -> list[Receipt]:
    """Remove what no living run owns. One leftover that fails never keeps the others."""
    context.require()
    with named(context.home.path), context.state(busy_seconds=30) as state:
        seen = remains(context, state)
        chosen = select(seen.found, seen.live)
        if dry_run:
            return [Receipt(each.kind, each.target, removed=False) for each in chosen]
        done: list[Receipt] = []
        for some in _in_parts(chosen):
            with memory_write(context) as git:
                broom = _Broom(context, state, git, log)
                done += [broom.remove(each) for each in some]
        _maintain(context, state, log)
        return done


def sweep_in_time(
    context: Context, log: FilteringBoundLogger, every: timedelta = HOURLY
) -> list[Receipt]:
    """Sweep if nobody did for so long: where no daemon runs, supervisors do it on their way."""
    with context.state() as state, state.transaction() as connection:
        if not scheduling.due(connection, LAST_SWEEP, context.ambient.clock.now(), every):
            return []
    return sweep(context, log, dry_run=False)


def _maintain(context: Context, state: State, log: FilteringBoundLogger) -> None:
    """Pack the repository when it is worth it; what goes wrong with that is the next sweep's."""
    try:
        if not _many_loose_objects(context.agent.repo):
            return
        with memory_write(context) as git:
            # Beside a run git would pack what the run's child is reading, and make it wait.
            if not reservations.active(state.connection) and _time_to_pack(context, state):
                git.maintain()
    except (ReflectorError, OSError) as error:
        log.warning(events.CLEANUP_FAILED, target="repository", error=str(error))


def _time_to_pack(context: Context, state: State) -> bool:
    with state.transaction() as connection:
        return scheduling.due(connection, LAST_MAINTENANCE, context.ambient.clock.now(), HOURLY)


def _many_loose_objects(repo: Path) -> bool:
    """Tell whether more than about 180 objects lie about: then half of their folders exist."""
    return sum(1 for _ in (repo / ".git" / "objects").glob("[0-9a-f][0-9a-f]")) > _HALF


def _in_parts(chosen: Sequence[Leftover]) -> Iterator[Sequence[Leftover]]:
    for start in range(0, len(chosen), _AT_ONCE):
        yield chosen[start : start + _AT_ONCE]


@dataclass(frozen=True, slots=True)
class _Broom:
    """What removing takes."""

    context: Context
    state: State
    git: Porcelain
    log: FilteringBoundLogger

    def remove(self, each: Leftover) -> Receipt:
        try:
            detail = _HOW[each.kind](self, each)
        except FileNotFoundError:
            detail = "gone already"  # another sweep was faster
        except (ReflectorError, OSError) as error:
            self.log.warning(events.CLEANUP_FAILED, target=each.target, error=str(error))
            return Receipt(each.kind, each.target, removed=False, detail=str(error))
        self.log.info(
            events.LEFTOVER_REMOVED,
            kind=each.kind,
            target=each.target,
            run=each.run,
            age=int(each.age),
            detail=detail,
        )
        return Receipt(each.kind, each.target, removed=True, detail=detail)


def _worktree(broom: _Broom, each: Leftover) -> str:
    agent = broom.context.agent
    _inside(agent.worktrees, each.target)
    git_dir = agent.repo / ".git" / "worktrees" / each.target
    place = Worktree(agent.worktrees / each.target, git_dir, f"{BRANCHES}{each.target}", "")
    kept = _keep(broom, place.branch, each.run)
    trouble = clean_up(broom.git, agent, each.run, place, broom.log)
    trouble = trouble or expunge_secrets(broom.git, agent, each.run)
    if trouble:
        raise OSError(trouble)
    return kept


def _branch(broom: _Broom, each: Leftover) -> str:
    kept = _keep(broom, each.target, each.run)
    with Reads(broom.context.agent.repo) as reads:
        tip = reads.resolve(f"refs/heads/{each.target}")
    if tip:
        broom.git.branch_delete(each.target, tip)
    expunge_secrets(broom.git, broom.context.agent, each.run)
    return kept


def _ref(broom: _Broom, each: Leftover) -> str:
    with Reads(broom.context.agent.repo) as reads:
        tip = reads.resolve(each.target)
    # The row first: one that names no ref is true of a ref that is still there, not the reverse.
    reservations.name_kept(broom.state, each.run, None)
    if tip:
        broom.git.delete_ref(each.target, tip)
    return tip or ""


def _stray_ref(broom: _Broom, each: Leftover) -> str:
    """Drop a ref that its run no longer names if its tip is in main, else let the run name it."""
    with Reads(broom.context.agent.repo) as reads:
        tip, main = reads.resolve(each.target), reads.resolve(MAIN)
        merged = tip is None or (main is not None and reads.is_ancestor(tip, main))
    if not merged:
        reservations.name_kept(broom.state, each.run, each.target)
        return "kept: it is not in main"
    if tip:
        broom.git.delete_ref(each.target, tip)
    return tip or ""


def _folder(broom: _Broom, each: Leftover) -> str:
    agent = broom.context.agent
    return str(set_folder_aside(_inside(agent.worktrees, each.target), agent.run(each.run)))


def _run_folder(broom: _Broom, each: Leftover) -> str:
    folder, _, name = each.target.rpartition("/")  # a day of jobs lies one deeper
    shutil.rmtree(_inside(broom.context.agent.path / "runs" / folder, name))
    return ""


def _file(broom: _Broom, each: Leftover) -> str:
    folder, _, name = each.target.rpartition("/")
    root = broom.context.agent.path
    place = _inside(root / folder if folder else root, name, root)
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    return ""


_HOW: dict[Kind, Callable[[_Broom, Leftover], str]] = {
    "worktree": _worktree,
    "registration": _worktree,
    "folder": _folder,
    "branch": _branch,
    "ref": _ref,
    "stray_ref": _stray_ref,
    "run_folder": _run_folder,
    "temporary": _file,
    "lock": _file,
}


def _keep(broom: _Broom, branch: str, run_id: str) -> str:
    """Keep a tip that is not in main before its branch goes; return the ref, "" if none."""
    with Reads(broom.context.agent.repo) as reads:
        tip = reads.resolve(f"refs/heads/{branch}")
        main = reads.resolve(MAIN)
        if not tip or (main and reads.is_ancestor(tip, main)):
            return ""
        refs = [f"{KEPT}{kind}/{run_id}" for kind in ("backup", "kept", "review")]
        held = next((ref for ref in refs if reads.resolve(ref) == tip), None)
    if held is None and holds_secret(broom.context.agent, run_id, tip):
        return ""  # its run was killed before it could take it out
    if held is None:
        held = refs[0]
        broom.git.update_ref(held, tip, None)
    reservations.name_kept(broom.state, run_id, held)
    return held


def _inside(root: Path, name: str, above: Path | None = None) -> Path:
    """Return a path below `root`; raise if a name or a link would lead out of it."""
    path = root / name
    links = path.is_symlink() or root.resolve() != (above or root.parent).resolve() / (
        root.relative_to(above or root.parent)
    )
    if path.parent != root or links:
        raise OSError(f"{name} does not lie in {root}")
    return path
