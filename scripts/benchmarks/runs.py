"""A whole reflect run, interpreter starts included, against plain git doing the same git steps."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

from benchmarks.git_work import PlainGit, prove_clean
from benchmarks.measure import Cost, Row, Series, both, interleaved, ms, table
from benchmarks.memories import fill, git, talk
from benchmarks.place import environment

_ROUNDS = {50: 9, 1000: 7, 10_000: 5}
_SECOND = 1.0
_SHARE = 1.2
_OWN = "engine"


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Compare at each number of documents."""
    rows: list[Row] = []
    parts: dict[int, dict[str, float]] = {}
    for documents, rounds in ({20: 2} if quick else _ROUNDS).items():
        row, parts[documents] = _compared(folder / f"runs-{documents}", documents, rounds)
        rows.append(row)
    _print_parts(parts)
    return rows


def _compared(folder: Path, documents: int, rounds: int) -> tuple[Row, dict[str, float]]:
    folder.mkdir()
    environ = environment(folder / "person")
    home, plain = folder / "home", folder / "plain"
    _reflector(environ, "init", "--home", str(home))
    (repo,) = home.glob("agents/*/repo")
    fill(repo, documents, environ)
    shutil.copytree(repo, plain, symlinks=True)
    for place in (repo, plain):
        git(place, environ, "update-index", "-q", "--refresh")
    ours = Runs(folder, home, environ)
    by_hand = PlainGit(plain, folder / "tree", environ)
    ours(), by_hand()
    ours.parts.clear()
    found = interleaved(rounds, {"ours": ours, "plain": by_hand})
    for place in (repo, plain):
        prove_clean(place, environ)
    shutil.rmtree(folder)
    return _row(documents, found["ours"], found["plain"]), _medians(ours.parts)


def _row(documents: int, ours: Series, plain: Series) -> Row:
    name = f"reflect run without its engine, {documents} documents"
    ratio = ours.least / plain.least
    note = f"ratio of medians {ours.middle / plain.middle:.2f}"
    if documents > 1000:
        return Row(name, both(ours), both(plain), ratio, _SHARE, "≤ 1.2 × git", note)
    met = ours.least <= plain.least + _SECOND
    note = f"git + {ms(ours.least - plain.least)}"
    return Row(name, both(ours), both(plain), ratio, None, "≤ git + 1.0 s", note, met)


@dataclass(slots=True)
class Runs:
    """One whole run after another, each of a fresh small conversation."""

    folder: Path
    home: Path
    environ: Mapping[str, str]
    parts: list[dict[str, float]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __call__(self) -> Cost:
        """Do one; its cost is the wall time of the command less what the engine itself took."""
        number = next(self._numbers)
        said = [f"Remember that service number {number} listens on port {20_000 + number}.",
                f"We use library-{number}, not library-{number + 1}.",
                "Thank you, that is all for this morning."]  # fmt: skip
        file = talk(self.folder / f"talk-{number}.jsonl", f"talk-{number}", said)
        times = self.folder / "times.json"
        script = Path(__file__).with_name("timed_reflect.py")
        began = time.monotonic()
        words = [str(began), str(times), "reflect", str(file), "--home", str(self.home), "--json"]
        done = _python(self.environ, str(script), *words)
        wall = time.monotonic() - began
        outcome = json.loads(done)["run"]
        if outcome is None or outcome["outcome"] != "merged":
            raise RuntimeError(f"the run was not merged: {outcome}")
        parts = self._taken(times, began + wall)
        self.parts.append(parts)
        return Cost(wall - parts[_OWN], 0.0)

    def _taken(self, times: Path, ended: float) -> dict[str, float]:
        told = json.loads(times.read_text("utf-8"))
        parts: dict[str, float] = told["parts"]
        parts["end of Python"] += ended - told["ended"]
        (file,) = self.home.glob("agents/*/runs/*/out/times.json")
        own = json.loads(file.read_text("utf-8"))
        file.unlink()
        parts["child work"] -= own["engine"] + own["commit"]
        return {**parts, "child commit (with its validation)": own["commit"], _OWN: own["engine"]}


def _reflector(environ: Mapping[str, str], *words: str) -> str:
    return _python(environ, "-m", "reflector", *words)


def _python(environ: Mapping[str, str], *words: str) -> str:
    places = f"{environ['PYTHONPATH']}:{Path(__file__).resolve().parents[1]}"
    command = [sys.executable, *words]
    paths = {**environ, "PYTHONPATH": places}
    done = subprocess.run(command, env=paths, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode()


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(each.get(name, 0.0) for each in rounds) for name in rounds[0]}


def _print_parts(parts: Mapping[int, Mapping[str, float]]) -> None:
    sizes = list(parts)
    names = list(parts[sizes[0]])
    rows = [(name, *(ms(parts[size].get(name, 0)) for size in sizes)) for name in names]
    own = {size: sum(parts[size].values()) - parts[size][_OWN] for size in sizes}
    rows.append(("all but the engine", *(ms(own[size]) for size in sizes)))
    print("\nParts of a run, medians (a part inside another counts once):\n")
    print(table(("part", *(f"{size} documents" for size in sizes)), rows))
