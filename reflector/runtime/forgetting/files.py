"""Forgetting in the files beside memory and database: run folders, logs, spool, cached blocks."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from reflector.core.needle import Needle
from reflector.store.disk import AgentHome, Home

_RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}\Z")
_NOT_HERE = ("repo", "diary", "worktrees", "runs", "locks", "logs")
_KEPT = ("identity", "config.toml")
_PIECE = 8 << 20
_OVERLAP = 1 << 16


def holds(path: Path, needle: Needle) -> bool:
    """Tell whether a file holds it, read piece by piece; a link's target is not looked at."""
    if path.is_symlink():
        return needle.within(os.fsencode(path.readlink()))
    try:
        with path.open("rb") as stream:
            rest = b""
            while piece := stream.read(_PIECE):
                if needle.within(rest + piece):
                    return True
                rest = piece[-_OVERLAP:]
    except (FileNotFoundError, IsADirectoryError):
        return False
    return False


def run_folders(agent: AgentHome, needle: Needle, runs: Iterable[str]) -> list[str]:
    """Return the runs whose folders hold it, and those in `runs` that have a folder."""
    folder = agent.path / "runs"
    named = {run for run in runs if (folder / run).is_dir()}
    for place in folder.glob("*"):
        if place.name not in named and _RUN.fullmatch(place.name) and _inside(place, needle):
            named.add(place.name)
    return sorted(named)


def remove_runs(agent: AgentHome, runs: Iterable[str]) -> None:
    """Remove run folders: payload, prompt, report, log, result. The ledger row stays."""
    for run in runs:
        shutil.rmtree(agent.path / "runs" / run)


def lines_in(home: Home, agent: AgentHome, needle: Needle) -> list[Path]:
    """Return the logs and the spool's files that hold it."""
    folders = (agent.path / "logs", home.path / "logs", home.path / "spool")
    files = (file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file())
    return [file for file in files if holds(file, needle)]


def blank_lines(file: Path, needle: Needle) -> None:
    """Overwrite the lines that hold it with spaces, in place: others append at the same time."""
    with file.open("r+b") as stream:
        at = 0
        for line in stream.read().splitlines(keepends=True):
            if needle.within(line):
                end = b"\n" if line.endswith(b"\n") else b""
                stream.seek(at)
                stream.write(b" " * (len(line) - len(end)) + end)
            at += len(line)
        stream.flush()
        os.fsync(stream.fileno())


def derived(agent: AgentHome, needle: Needle, database: Path) -> list[Path]:
    """Return other files of the identity that hold it and can be done without.

    Cached blocks, indexes, a damaged database that was moved aside, files of jobs outside runs.
    """
    own = {f"{database.name}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")}
    found = []
    for file in files_below(agent.path):
        top = file.relative_to(agent.path).parts
        kept = len(top) == 1 and (top[0] in own or top[0] in _KEPT)
        job = top[0] == "runs" and len(top) > 1 and not _RUN.fullmatch(top[1])
        if (job or (top[0] not in _NOT_HERE and not kept)) and holds(file, needle):
            found.append(file)
    return found


def remaining(home: Home, agent: AgentHome, needle: Needle) -> Iterator[Path]:
    """Yield every file of the identity, and of the home's own folders, that holds it.

    Git's own files are `in_git_dir`, and its objects are left to who can unpack them.
    """
    own = agent.repo / ".git"
    for file in files_below(agent.path):
        if not file.is_relative_to(own) and holds(file, needle):
            yield file
    for folder in sorted(home.path.glob("*")):
        if folder.is_dir() and folder.name != "agents":
            yield from (file for file in files_below(folder) if holds(file, needle))


def in_git_dir(agent: AgentHome, needle: Needle) -> list[Path]:
    """Return git's own files beside its objects that hold it: logs of refs, the index, messages."""
    own = agent.repo / ".git"
    files = (file for file in files_below(own) if not file.is_relative_to(own / "objects"))
    return [file for file in files if holds(file, needle)]


def persons_own(home: Home, needle: Needle) -> list[Path]:
    """Return the files of the home that a person writes, if they hold it."""
    return [file for file in sorted(home.path.glob("*")) if file.is_file() and holds(file, needle)]


def files_below(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, links as themselves, in the order of their paths."""
    return (file for file in sorted(folder.rglob("*")) if file.is_symlink() or file.is_file())


def _inside(folder: Path, needle: Needle) -> bool:
    return any(needle.said(str(file)) or holds(file, needle) for file in files_below(folder))
