"""The sweep: what killed runs left behind is found, judged, and removed one by one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from structlog.typing import FilteringBoundLogger

from reflector.core.errors import ReflectorError
from reflector.core.run import Outcome, Run
from reflector.core.sweep import Kind, Leftover, Receipt, select
from reflector.runtime.leftovers import clean_up
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.state import State
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import BRANCHES, Worktree

_FOLDER = re.compile(r"(\d+)-(\d{8}T\d{6}-[0-9a-f]{8})\Z")
_KEPT = "refs/reflector/"
_WAITING = (Outcome.PARENT_DIRTY, Outcome.AWAITING_REVIEW)


def sweep(context: Context, log: FilteringBoundLogger, *, dry_run: bool) -> list[Receipt]:
    """Remove what no living run owns. One leftover that fails never keeps the others."""
    context.require()
    with context.state(busy_seconds=30) as state, memory_write(context) as git:
        found = list(_find(context, state))
        chosen = select(found, frozenset(run.id for run in reservations.active(state.connection)))
        if dry_run:
            return [Receipt(each.kind, each.target, removed=False) for each in chosen]
        broom = _Broom(context, git, log)
        return [broom.remove(each) for each in chosen]


def _find(context: Context, state: State) -> Iterator[Leftover]:
    now = context.ambient.clock.now().timestamp()
    agent = context.agent
    for folder in agent.worktrees.iterdir():
        named = _FOLDER.fullmatch(folder.name)
        git_dir = agent.repo / ".git" / "worktrees" / folder.name
        kind: Kind = "worktree" if git_dir.is_dir() else "folder"
        yield Leftover(kind, folder.name, named[2] if named else "", _age(folder, now))
    for git_dir in (agent.repo / ".git" / "worktrees").glob("*"):
        named = _FOLDER.fullmatch(git_dir.name)
        if named and not (agent.worktrees / git_dir.name).exists():
            yield Leftover("registration", git_dir.name, named[2], _age(git_dir, now))
    yield from _branches_and_refs(context, state, now)
    for folder in (agent.path / "runs").iterdir():
        yield Leftover("run_folder", folder.name, folder.name, _age(folder, now))
    for file in (agent.repo / ".git").glob("reflector-*"):
        yield Leftover("temporary", file.name, "", _age(file, now))


def _branches_and_refs(context: Context, state: State, now: float) -> Iterator[Leftover]:
    with Reads(context.agent.repo) as reads:
        refs = reads.refs()
    for name in refs:
        branch = name.removeprefix("refs/heads/")
        if branch.startswith(BRANCHES):
            named = _FOLDER.fullmatch(branch.removeprefix(BRANCHES))
            checked_out = named and (context.agent.worktrees / named[0]).exists()
            if named and not checked_out:
                yield Leftover("branch", branch, named[2], _since(named[2], now))
        elif name.startswith(_KEPT):
            run_id = name.rpartition("/")[2]
            run = reservations.known(state.connection, run_id)
            yield Leftover("ref", name, run_id, _since(run_id, now), needed=_waits(run))


def _waits(run: Run | None) -> bool:
    return run is not None and run.outcome in _WAITING


def _age(path: Path, now: float) -> float:
    try:
        return now - path.lstat().st_mtime
    except OSError:
        return 0


def _since(run_id: str, now: float) -> float:
    """Return the seconds since a run was reserved, which its id tells."""
    from datetime import UTC, datetime  # noqa: PLC0415

    try:
        reserved = datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return 0
    return now - reserved.timestamp()


@dataclass(frozen=True, slots=True)
class _Broom:
    """What removing takes."""

    context: Context
    git: Porcelain
    log: FilteringBoundLogger

    def remove(self, each: Leftover) -> Receipt:
        try:
            detail = _HOW[each.kind](self, each)
        except (ReflectorError, OSError) as error:
            return Receipt(each.kind, each.target, removed=False, detail=str(error))
        return Receipt(each.kind, each.target, removed=True, detail=detail)


def _worktree(broom: _Broom, each: Leftover) -> str:
    place = _place(broom.context, each.target)
    kept = _keep(broom.context, broom.git, place.branch, each.run)
    trouble = clean_up(broom.git, broom.context.agent, each.run or each.target, place, broom.log)
    if trouble:
        raise OSError(trouble)
    return kept


def _branch(broom: _Broom, each: Leftover) -> str:
    kept = _keep(broom.context, broom.git, each.target, each.run)
    with Reads(broom.context.agent.repo) as reads:
        tip = reads.resolve(f"refs/heads/{each.target}")
    if tip:
        broom.git.branch_delete(each.target, tip)
    return kept


def _ref(broom: _Broom, each: Leftover) -> str:
    with Reads(broom.context.agent.repo) as reads:
        tip = reads.resolve(each.target)
    if tip:
        broom.git.delete_ref(each.target, tip)
    return tip or ""


def _folder(broom: _Broom, each: Leftover) -> str:
    shutil.rmtree(_inside(broom.context.agent.worktrees, each.target))
    return ""


def _run_folder(broom: _Broom, each: Leftover) -> str:
    shutil.rmtree(_inside(broom.context.agent.path / "runs", each.target))
    return ""


def _temporary(broom: _Broom, each: Leftover) -> str:
    _inside(broom.context.agent.repo / ".git", each.target).unlink()
    return ""


_HOW: dict[Kind, Callable[[_Broom, Leftover], str]] = {
    "worktree": _worktree,
    "registration": _worktree,
    "folder": _folder,
    "branch": _branch,
    "ref": _ref,
    "run_folder": _run_folder,
    "temporary": _temporary,
}


def _place(context: Context, name: str) -> Worktree:
    agent = context.agent
    git_dir = agent.repo / ".git" / "worktrees" / name
    return Worktree(agent.worktrees / name, git_dir, f"{BRANCHES}{name}", "")


def _keep(context: Context, git: Porcelain, branch: str, run_id: str) -> str:
    """Keep a tip that is not in main before its branch goes; return the ref, "" if none."""
    with Reads(context.agent.repo) as reads:
        tip = reads.resolve(f"refs/heads/{branch}")
        main = reads.resolve("refs/heads/main")
        if not tip or not run_id or (main and reads.is_ancestor(tip, main)):
            return ""
        ref = f"{_KEPT}backup/{run_id}"
        if any(
            reads.resolve(f"{_KEPT}{kind}/{run_id}") == tip for kind in ("backup", "kept", "review")
        ):
            return ref
    git.update_ref(ref, tip, None)
    return ref


def _inside(root: Path, name: str) -> Path:
    """Return a path below `root`; raise if a name would lead out of it."""
    path = root / name
    if path.parent != root or path.is_symlink():
        raise OSError(f"{name} does not lie in {root}")
    return path
