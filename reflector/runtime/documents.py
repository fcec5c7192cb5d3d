"""Documents as they are on main, for whoever lists or reads them; the working files are not read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import DocumentError, GitError, NotFoundError, PathError
from reflector.memory.budget import estimate_tokens
from reflector.memory.document import parse
from reflector.memory.tools import place, source
from reflector.memory.tree import Tree, is_document, parse_path, tier
from reflector.runtime.wiring import Context
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads


@dataclass(frozen=True, slots=True)
class Listing:
    """One document. `problem` says why its header cannot be read, "" if it can."""

    path: str
    description: str
    tokens: int
    size: int
    read_only: bool
    problem: str = ""

    @property
    def in_context(self) -> bool:
        """Whether its whole text is in the compiled block."""
        return tier(self.path) == "system"


@dataclass(frozen=True, slots=True)
class Shown:
    """One file and the revision that it was read from. `text` has LF line ends."""

    path: str
    revision: str
    text: str


@contextmanager
def _main_tree(context: Context) -> Iterator[tuple[str, Tree]]:
    """Open the memory as main has it: its revision and its tree."""
    context.require()
    with Reads(context.agent.repo) as reads:
        revision = reads.resolve(MAIN)
        if revision is None:
            raise GitError(f"The memory {context.agent.repo} has no commit on main.")
        yield revision, reads.tree(revision)


def listed(context: Context, below: str = "") -> tuple[str, list[Listing]]:
    """Return the revision and its documents, sorted by path; `below` names a folder or a document."""
    wanted = parse_path(relative(context, below.rstrip("/"))) if below else ""
    with _main_tree(context) as (revision, tree):
        found = [
            _listing(leaf.path, tree.reader.content(leaf.oid))
            for leaf in tree.leaves()
            if leaf.regular and is_document(leaf.path) and _among(leaf.path, wanted)
        ]
    if wanted and not found:
        raise NotFoundError(
            f"There is no document at {wanted}.", hint="`reflector memory ls` lists all."
        )
    return revision, sorted(found, key=lambda each: each.path)


def shown(context: Context, path: str) -> Shown:
    """Return one file. A document whose header cannot be read is given as it is."""
    wanted = place(relative(context, path))
    with _main_tree(context) as (revision, tree):
        try:
            text = source(tree, wanted)
        except DocumentError:
            text = (tree.read(wanted) or b"").decode("utf-8", "replace")
    return Shown(wanted, revision, text)


def relative(context: Context, path: str) -> str:
    """Return a path below the memory as it is called there; an absolute one must lead into it.

    Real paths are compared with real ones: a home may lie behind a link. Raises PathError.
    """
    if not path.startswith("/"):
        return path
    root = Path(os.path.realpath(context.agent.repo))
    real = Path(os.path.realpath(Path(path).parent)) / Path(path).name
    if not real.is_relative_to(root):
        raise PathError(
            f"{path} is not in the memory {context.agent.repo}.",
            hint="Name a file below it, like reference/name.md.",
            path=path,
            line=0,
            code="path_escapes",
            sentence="The path is not in the memory.",
        )
    return str(real.relative_to(root)) + ("/" if path.endswith("/") else "")


def _among(path: str, wanted: str) -> bool:
    return not wanted or path in (wanted, wanted + ".md") or path.startswith(wanted + "/")


def _listing(path: str, raw: bytes) -> Listing:
    text = raw.decode("utf-8", "replace")
    tokens = estimate_tokens(text)
    try:
        document = parse(path, raw)
    except DocumentError as error:
        sentence = f"line {error.facts['line']}: {error.facts['sentence']}"
        return Listing(path, "", tokens, len(raw), read_only=False, problem=sentence)
    return Listing(path, document.description, tokens, len(raw), document.read_only)
