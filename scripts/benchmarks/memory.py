"""The lint of everything, a validation that reads what changed, and short memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Cost, Row, both, cost, interleaved
from benchmarks.memories import document, fill, git, path_of
from benchmarks.place import environment
from reflector.memory.chain import CommitView, RunView
from reflector.memory.edit import Scope
from reflector.memory.rules import check_memory, check_run
from reflector.memory.short_memory import parse
from reflector.memory.tree import Tree
from reflector.vcs import porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

_GOAL = 0.05
_MESSAGE = """feat(reflection): one more lesson

Updates:
- {path}: one more lesson [bench:said:0]

Generated-By: agent memory
Agent-ID: bench
"""


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Lint and validate a large memory, parse a full MEMORY.md."""
    documents, rounds = (40, 2) if quick else (10_000, 5)
    return [
        _linted(folder, documents, rounds),
        _validated(folder, documents, rounds),
        _short_memory(rounds),
    ]


def _linted(folder: Path, documents: int, rounds: int) -> Row:
    repo, head = _memory(folder / "lint", documents)

    def read() -> Cost:
        with cost() as found, Reads(repo) as reads:
            _read_all(reads.tree(head))
        return found

    def lint() -> Cost:
        with cost() as found, Reads(repo) as reads:
            check_memory(reads.tree(head))
        return found

    found = interleaved(rounds, {"lint": lint, "read": read})
    ratio = found["lint"].least / found["read"].least
    name = f"lint {documents} documents against reading them"
    return Row(name, both(found["lint"]), both(found["read"]), ratio)


def _short_memory(rounds: int) -> Row:
    entry = "- [entry-{}] " + "Prefers short answers, and reasons after them. " * 2
    text = "# Memory\n" + "".join(f"{entry.format(number).rstrip()}\n" for number in range(20))
    raw, times = text.encode(), 100

    def parsed() -> Cost:
        with cost() as found:
            for _ in range(times):
                parse(raw.decode())
        return found

    def decoded() -> Cost:
        with cost() as found:
            for _ in range(times):
                raw.decode().split("\n")
        return found

    found = interleaved(rounds, {"parse": parsed, "decode": decoded})
    ratio = found["parse"].least / found["decode"].least
    name = f"parse a full MEMORY.md {times} times against decoding it"
    return Row(name, both(found["parse"]), both(found["decode"]), ratio)


def _validated(folder: Path, documents: int, rounds: int) -> Row:
    repo, base = _memory(folder / "validate", documents)
    path = path_of(0)
    (repo / path).write_text(document(0) + "- one more lesson\n", "utf-8")
    environ = environment(folder / "person")
    git(repo, environ, "commit", "-q", "-a", "-m", _MESSAGE.format(path=path))
    tip = git(repo, environ, "rev-parse", "HEAD").strip()

    def validate() -> Cost:
        with cost() as found, Reads(repo) as reads:
            verdict = check_run(_view(reads, base, tip))
        if verdict.outcome != "accept":
            raise RuntimeError(f"the change was not accepted: {verdict}")
        return found

    def read() -> Cost:
        with cost() as found, Reads(repo) as reads:
            _read_all(reads.tree(tip))
        return found

    found = interleaved(rounds, {"validate": validate, "read": read})
    ratio = found["validate"].least / found["read"].least
    name = f"validate one document changed of {documents} against reading all"
    return Row(name, both(found["validate"]), both(found["read"]), ratio, _GOAL)


def _view(reads: Reads, base: str, tip: str) -> RunView:
    commits = reads.chain(base, tip) or ()
    return RunView(
        branch="main",
        head="main",
        base=base,
        base_tree=reads.tree(base),
        tip=tip,
        commits=[
            CommitView(each.sha, each.parents, each.message, Tree(each.tree, reads))
            for each in commits
        ],
        scope=Scope(pipeline="reflection", writer="run", user_entries=frozenset({"bench:said:0"})),
    )


def _read_all(tree: Tree) -> int:
    content: Callable[[str], bytes] = tree.reader.content
    return sum(len(content(leaf.oid)) for leaf in tree.leaves())


def _memory(repo: Path, documents: int) -> tuple[Path, str]:
    environ = environment(repo.parent / "person")
    porcelain.init(Scrubbed(environ), repo)
    fill(repo, documents, environ)
    return repo, git(repo, environ, "rev-parse", "HEAD").strip()
