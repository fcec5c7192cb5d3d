"""Real repositories for tests, built and judged with the git command line alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reflector.vcs.merge import Bring, Integration
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.scrub import Scrubbed

WHEN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RUN = f"20261130T120000-{os.getpid():08x}"
"""Every test process its own: recovery ends whatever on the machine carries a run's mark."""
TOKEN = "f" * 32


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository or worktree, as a person at a terminal sees it."""

    path: Path

    def git(self, *words: str, env: Mapping[str, str] | None = None, ok: bool = True) -> str:
        done = self.attempt(*words, env=env)
        if ok and done.returncode != 0:
            raise AssertionError(f"git {' '.join(words)}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def attempt(
        self, *words: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words],
            cwd=self.path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str], message: str = "a person's commit") -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.sha()

    def sha(self, ref: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", ref)

    def branch_with(self, branch: str, files: Mapping[str, str | None], base: str = "HEAD") -> str:
        """Make a branch off `base` with one commit, touching neither index nor files."""
        index = {"GIT_INDEX_FILE": str(self.path / ".git" / "scratch-index")}
        self.git("read-tree", base, env=index)
        for name, text in files.items():
            if text is None:
                self.git("update-index", "--force-remove", "--", name, env=index)
                continue
            scratch = self.path / ".git" / "scratch"
            scratch.write_text(text, encoding="utf-8")
            blob = self.git("hash-object", "-w", "--no-filters", str(scratch))
            self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=index)
        tree = self.git("write-tree", env=index)
        made = self.git(
            "commit-tree", tree, "-p", self.sha(base), "-m", "fix(reflection): a lesson"
        )
        self.git("update-ref", f"refs/heads/{branch}", made)
        for leftover in ("scratch-index", "scratch"):
            (self.path / ".git" / leftover).unlink(missing_ok=True)
        return made

    def status(self) -> str:
        return self.git("-c", "core.quotepath=false", "status", "--porcelain", "-uall")

    def assert_sound(self) -> None:
        assert self.attempt("fsck", "--strict").returncode == 0

    def everything(self) -> dict[str, bytes]:
        """Return HEAD, the index and every working file, byte for byte."""
        files = {
            str(file.relative_to(self.path)): file.read_bytes()
            for file in sorted(self.path.rglob("*"))
            if file.is_file() and ".git" not in file.relative_to(self.path).parts
        }
        index = (self.path / ".git" / "index").read_bytes()
        return files | {"<HEAD>": self.sha().encode(), "<index>": index}


def scrubbed() -> Scrubbed:
    return Scrubbed(dict(os.environ))


def fresh(path: Path, files: Mapping[str, str] | None = None) -> Repo:
    """Make a repository with one commit, the way a person would."""
    path.mkdir(parents=True, exist_ok=True)
    repo = Repo(path)
    repo.git("init", "-q", "-b", "main")
    repo.commit(files if files is not None else {"system/a.md": "one\n", "system/b.md": "b\n"})
    return repo


def door(repo: Repo) -> Porcelain:
    return Porcelain(scrubbed(), repo.path)


def bringing(base: str, tip: str) -> Integration:
    message = f"merge(reflection): a lesson\n\nReflector-Run: {RUN}\nTrigger: manual\n"
    return Integration(Bring(base, tip), message, WHEN, RUN, TOKEN)
