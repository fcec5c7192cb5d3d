"""Who wrote a line, and which commits changed a file: renames followed, asked of git itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError, NotFoundError
from reflector.vcs.porcelain import run
from reflector.vcs.scrub import Scrubbed


@dataclass(frozen=True, slots=True)
class Origin:
    """The commit that a line comes from, its place there, and its text. Lines count from 1."""

    commit: str
    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Touch:
    """A commit that changed a file, and the file's path in it."""

    commit: str
    path: str


def blame(scrubbed: Scrubbed, repo: Path, revision: str, path: str, line: int) -> Origin:
    """Return where a line of a file in a commit comes from; NotFoundError if there is none."""
    words = ["blame", "--porcelain", f"-L{line},{line}", revision, "--", path]
    code, out, err = _git(scrubbed, repo, words)
    if code != 0:
        if "no such path" in err or "has only" in err:
            raise NotFoundError(
                f"There is no line {line} of {path} in the memory.",
                hint=f"`reflector memory cat {path}` shows what is committed."
                if "has only" in err
                else "`reflector memory ls` lists the documents.",
            )
        raise GitError(f"git could not blame {path}.", detail=err)
    head, *lines = out.decode("utf-8", "surrogateescape").split("\n")
    sha, number = head.split(" ")[:2]
    named = next((one[9:] for one in lines if one.startswith("filename ")), path)
    text = next((one[1:] for one in lines if one.startswith("\t")), "")
    return Origin(sha, path if named.startswith('"') else named, int(number), text)


def touches(scrubbed: Scrubbed, repo: Path, revision: str, path: str) -> list[Touch]:
    """Return the commits that changed a file, newest first, under the names that it had."""
    words = [
        "log",
        "--topo-order",
        "--follow",
        "--name-status",
        "-z",
        "--format=%x01%H",
        revision,
        "--",
        path,
    ]
    code, out, err = _git(scrubbed, repo, words)
    if code != 0:
        raise GitError(f"git could not tell the history of {path}.", detail=err)
    found = []
    for part in out.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        sha, *fields = part.rstrip("\0").split("\0")
        # Status, name; of a rename the old and the new name.
        found.append(Touch(sha, fields[-1] if fields else path))
    return found


def _git(scrubbed: Scrubbed, repo: Path, words: Sequence[str]) -> tuple[int, bytes, str]:
    git_dir = (repo / ".git").resolve()
    where = [f"--git-dir={git_dir}", f"--work-tree={repo.resolve()}", "-c", "core.quotePath=false"]
    return run(scrubbed, repo, [*where, *words])
