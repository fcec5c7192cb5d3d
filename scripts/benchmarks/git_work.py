"""The git work of a run inside one warm process, against the same steps by plain git."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from benchmarks.measure import Cost, Row, Series, both, cost, interleaved, ms, table
from benchmarks.memories import document, fill, git
from benchmarks.place import environment
from reflector.vcs import merge, porcelain, worktree
from reflector.vcs.merge import Bring, Integrated, Integration
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import Identity
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed
from reflector.vcs.worktree import Inspected, Worktree

_FOLDERS = ("reference", "projects", "facts")
_GOALS = {50: 0.6, 1000: 0.75}
_ROUNDS = {50: 40, 1000: 15, 10_000: 5}


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Compare at each number of documents."""
    sizes = {20: 2} if quick else _ROUNDS
    return [_compared(folder / f"git-{size}", size, rounds) for size, rounds in sizes.items()]


def _compared(folder: Path, documents: int, rounds: int) -> Row:
    environ = environment(folder.parent / "person")
    folder.mkdir()
    ours, plain = twins(folder, documents, environ)
    parts: dict[str, float] = {}
    doors = Doors(ours, folder / "worktrees", environ, parts)
    by_hand = PlainGit(plain, folder / "tree", environ)
    doors(), by_hand()  # both warm
    parts.clear()
    found = interleaved(rounds, {"ours": doors, "plain": by_hand})
    for repo in (ours, plain):
        prove_clean(repo, environ)
    _print_parts(documents, parts, rounds)
    shutil.rmtree(folder)
    return _row(documents, found["ours"], found["plain"])


def twins(folder: Path, documents: int, environ: Mapping[str, str]) -> tuple[Path, Path]:
    """Make one memory, and a copy of it for plain git."""
    ours, plain = folder / "ours", folder / "plain"
    porcelain.init(Scrubbed(environ), ours)
    fill(ours, documents, environ)
    shutil.copytree(ours, plain, symlinks=True)
    for repo in (ours, plain):
        git(repo, environ, "update-index", "-q", "--refresh")
    return ours, plain


def prove_clean(repo: Path, environ: Mapping[str, str]) -> None:
    """Fail unless the repository is sound, its files are at HEAD and no worktree is left."""
    git(repo, environ, "fsck", "--strict")
    dirty = git(repo, environ, "status", "--porcelain")
    trees = git(repo, environ, "worktree", "list").count("\n")
    branches = git(repo, environ, "for-each-ref", "refs/heads").count("\n")
    if dirty or trees != 1 or branches != 1:
        raise RuntimeError(f"{repo} is not clean after the benchmark: {dirty}")


def _row(documents: int, ours: Series, plain: Series) -> Row:
    name = f"git work in one warm process, {documents} documents"
    wall, cpu = ours.least / plain.least, ours.cpu / plain.cpu
    if documents <= 1000:
        note = f"CPU ratio {cpu:.2f}, ratio of medians {ours.middle / plain.middle:.2f}"
        return Row(name, both(ours), both(plain), wall, _GOALS.get(documents), note=note)
    note = f"wall ratio {wall:.2f}: {both(ours)} against {both(plain)}"
    return Row(name, f"{ms(ours.cpu)} CPU", f"{ms(plain.cpu)} CPU", cpu, 1.0, note=note)


def _print_parts(documents: int, parts: Mapping[str, float], rounds: int) -> None:
    total = sum(parts.values())
    rows = [(name, ms(spent / rounds), f"{spent / total:.0%}") for name, spent in parts.items()]
    print(f"\nOur git work at {documents} documents, mean of {rounds} rounds:\n")
    print(table(("step", "wall", "share"), rows))


@dataclass(slots=True)
class Doors:
    """One cycle through our doors: create, commit, inspect, compare, integrate, close."""

    repo: Path
    worktrees: Path
    environ: Mapping[str, str]
    parts: dict[str, float]
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __call__(self) -> Cost:
        """Do it once."""
        number = next(self._numbers)
        run_id = f"20261130T120000-{number:08x}"
        git = Porcelain(Scrubbed(self.environ), self.repo)
        with cost() as found:
            with self._part("look at main"), Reads(self.repo) as reads:
                base = reads.resolve("refs/heads/main") or ""
            place = worktree.planned(self.repo, self.worktrees, 1, run_id, base)
            with self._part("create"):
                worktree.create(git, place)
            write_three(place.path, number)
            with self._part("commit"):
                tip = _commit(place, base, number)
            with self._part("inspect"):
                seen = worktree.inspect(self.repo, place)
            with self._part("compare"), place.reads() as reads:
                reads.diff_text(base, tip)
            with self._part("integrate"):
                done = _integrate(git, Integration(Bring(base, tip), "m\n", _now(), run_id, "t"))
            with self._part("close"):
                worktree.close(git, place, tip)
        if not (isinstance(seen, Inspected) and seen.disposable and isinstance(done, Integrated)):
            raise RuntimeError("the cycle did not go as it should")
        return found

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        with cost() as spent:
            yield
        self.parts[name] = self.parts.get(name, 0) + spent.wall


def write_three(tree: Path, number: int) -> None:
    """Change two documents and add one, as a run does."""
    places = [tree / folder / f"news-{turn}.md" for turn, folder in enumerate(_FOLDERS[:2])]
    for place in (*places, tree / _FOLDERS[2] / f"new-{number}.md"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(document(number), "utf-8")


def _commit(place: Worktree, base: str, number: int) -> str:
    message = f"feat(reflection): lesson {number}\n"
    with place.writes() as writes:
        return writes.commit_worktree(place.branch, base, _FOLDERS, message, Identity(), _now())


def _integrate(git: Porcelain, job: Integration) -> Integrated | merge.Refused:
    return merge.integrate(git, job, save_merge=lambda _: None, sleep=lambda _: None)


def _now() -> datetime:
    return datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass(slots=True)
class PlainGit:
    """The same cycle by the git command, one process per step, with its own defaults."""

    repo: Path
    tree: Path
    environ: Mapping[str, str]
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __call__(self) -> Cost:
        """Do it once."""
        number = next(self._numbers)
        branch = f"memory/by-hand-{number}"
        with cost() as found:
            self._git(self.repo, "worktree", "add", "-q", "-b", branch, str(self.tree), "main")
            write_three(self.tree, number)
            self._git(self.tree, "status", "--porcelain")
            self._git(self.tree, "add", "-A")
            self._git(self.tree, "commit", "-q", "-m", f"lesson {number}")
            self._git(self.tree, "diff", f"main..{branch}")
            self._git(self.repo, "merge", "-q", "--no-ff", "-m", f"merge {number}", branch)
            self._git(self.repo, "worktree", "remove", str(self.tree))
            self._git(self.repo, "branch", "-q", "-d", branch)
        return found

    def _git(self, folder: Path, *words: str) -> None:
        git(folder, self.environ, *words)
