"""The compiled block: everything read anew, against one commit later, against nothing changed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Cost, Row, Series, both, cost, interleaved
from benchmarks.memories import document, fill, git, path_of
from benchmarks.place import environment
from reflector.runtime import birth, view_cache
from reflector.runtime.compiled import Wanted, compile_block
from reflector.runtime.wiring import Context, context

_GOAL = 0.05
_LARGE = 10_000


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Compile at two sizes."""
    sizes, rounds = ((20, 40), 2) if quick else ((1000, _LARGE), 5)
    return [row for size in sizes for row in _compiled(folder / f"compile-{size}", size, rounds)]


def _compiled(folder: Path, documents: int, rounds: int) -> list[Row]:
    folder.mkdir()
    environ = environment(folder / "person")
    found = _memory(folder, documents, environ)
    compile_block(found, Wanted())  # what is imported only once belongs to no side
    changed = [0]

    def cold() -> Cost:
        view_cache.drop(found)
        return _measured(found)

    def after_one_commit() -> Cost:
        changed[0] += 1
        path = path_of(changed[0])
        (found.agent.repo / path).write_text(document(changed[0]) + "- one more lesson\n", "utf-8")
        git(found.agent.repo, environ, "commit", "-q", "-a", "-m", "chore(bench): one more")
        return _measured(found)

    sides = {"cold": cold, "after": after_one_commit, "same": lambda: _measured(found)}
    costs = interleaved(rounds, sides)
    # A small memory is read so soon that what every compilation costs is a larger part of it.
    goal = _GOAL if documents >= _LARGE else None
    return [
        _row(
            f"compile {documents} documents after one commit", costs["after"], costs["cold"], goal
        ),
        _row(f"compile {documents} documents, nothing changed", costs["same"], costs["cold"], goal),
    ]


def _row(name: str, ours: Series, against: Series, goal: float | None) -> Row:
    ratio = ours.least / against.least
    return Row(f"{name}, against cold", both(ours), both(against), ratio, goal)


def _measured(found: Context) -> Cost:
    with cost() as spent:
        compile_block(found, Wanted())
    return spent


def _memory(folder: Path, documents: int, environ: dict[str, str]) -> Context:
    found = context(str(folder / "home"))
    birth.init(found)
    fill(found.agent.repo, documents, environ)
    return found
