"""Hand edits that fail the lint and therefore stay as they are, named for `status` without a git library."""

from __future__ import annotations

from reflector.memory.finding import Finding
from reflector.memory.tree import Tree, tier
from reflector.runtime.hand_edits import judge_edits, read_edits
from reflector.runtime.wiring import Context
from reflector.vcs.glance import Glance, texts
from reflector.vcs.scrub import Scrubbed


def unadopted(context: Context, git: Glance, committed: dict[str, int]) -> list[Finding]:
    """Return what is wrong with the person's uncommitted documents, each with file and line.

    `committed` are the files of HEAD. Only the edited documents are looked at.
    """
    dirty = [path for path in git.dirty if tier(path) is not None and "\n" not in path]
    edits, left = read_edits(context.agent.repo, dirty)
    known = [path for path in edits if path in committed]
    before = texts(Scrubbed(context.environ), context.agent.repo, git.head, known) if known else []
    tree = Tree.of(
        {path: text.encode("utf-8", "replace") for path, text in zip(known, before, strict=True)}
    )
    _, refused = judge_edits(tree, edits)
    return [*left, *refused]
