"""A quick look at a repository for commands that live too short to import a git library."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.scrub import TIMEOUT_SECONDS, Scrubbed


@dataclass(frozen=True, slots=True)
class Glance:
    """What `git status` tells: HEAD's commit, its branch ("" when detached), changed paths."""

    head: str
    branch: str
    dirty: tuple[str, ...]


def glance(scrubbed: Scrubbed, repo: Path) -> Glance:
    """Ask one git process for HEAD, branch and every path that differs, untracked included."""
    words = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"]
    head = branch = ""
    dirty: list[str] = []
    records = iter(_git(scrubbed, repo, words).split("\0"))
    for record in records:
        kind, _, rest = record.partition(" ")
        if record.startswith("# branch.oid "):
            head = record.removeprefix("# branch.oid ")
        elif record.startswith("# branch.head "):
            branch = record.removeprefix("# branch.head ").replace("(detached)", "")
        elif kind in ("?", "u", "1", "2"):
            dirty.append(rest.split(" ", {"?": 0, "1": 7, "2": 8, "u": 9}[kind])[-1])
            if kind == "2":
                next(records)  # the old path of a rename stands in a record of its own
    return Glance(head, branch, tuple(dirty))


def documents(scrubbed: Scrubbed, repo: Path, commit: str) -> dict[str, int]:
    """Return every file of a commit with its size in bytes."""
    listed = _git(scrubbed, repo, ["ls-tree", "-r", "-l", "-z", "--full-tree", commit])
    found: dict[str, int] = {}
    for record in filter(None, listed.split("\0")):
        facts, _, path = record.partition("\t")
        size = facts.split()[-1]
        found[path] = int(size) if size.isdigit() else 0
    return found


def texts(scrubbed: Scrubbed, repo: Path, commit: str, paths: list[str]) -> list[str]:
    """Return the texts of some files of a commit, by one git process for all of them."""
    asked = "".join(f"{commit}:{path}\n" for path in paths)
    answer = _git(scrubbed, repo, ["cat-file", "--batch"], asked.encode("utf-8", "surrogateescape"))
    found = []
    rest = answer.encode("utf-8", "surrogateescape")
    while rest:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split()[-1]) if head.split()[-1].isdigit() else 0
        found.append(rest[:size].decode("utf-8", "replace"))
        rest = rest[size + 1 :]
    return found


def _git(scrubbed: Scrubbed, repo: Path, words: list[str], given: bytes = b"") -> str:
    command = ["git", f"--git-dir={repo / '.git'}", f"--work-tree={repo}"]
    try:
        done = subprocess.run(  # noqa: S603 - git with a scrubbed environment
            [*command, *scrubbed.options(str(repo)), *words],
            env=scrubbed.variables(),
            cwd=repo,
            input=given,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError("git could not be asked.", detail=str(error)) from error
    if done.returncode != 0:
        detail = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {words[0]} failed in {repo}.", detail=detail)
    return done.stdout.decode("utf-8", "surrogateescape")


def count(scrubbed: Scrubbed, repo: Path, known: str, ref: str) -> int:
    """Return how many commits a ref has that a commit does not; all of them for ""."""
    words = ["rev-list", "--count", ref, *([f"^{known}"] if known else []), "--"]
    return int(_git(scrubbed, repo, words))
