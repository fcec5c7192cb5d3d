"""The compiled block of an identity, from a committed revision only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from reflector.core.errors import DocumentError, GitError
from reflector.memory.compile import Block, BlockOptions, MemoryView, Named, Shown, Skill
from reflector.memory.compile import compile_block as compile_view
from reflector.memory.document import Document, parse
from reflector.memory.tree import Tree, is_document, tier
from reflector.pipelines.prompts import PrefaceContext, Words
from reflector.runtime.wiring import Context, data_folder
from reflector.vcs.reads import Reads

_SKILL = "SKILL.md"


def compile_block(context: Context, budget_tokens: int | None = None) -> tuple[str, Block]:
    """Compile the block of HEAD; return the revision it was built from and the block.

    The working tree is never read: an edit shows once it is committed.
    """
    context.require()
    preface = Words(data_folder()).preface(PrefaceContext(folder=str(context.agent.repo)))
    options = BlockOptions(
        preface=preface.rstrip("\n").split("\n"),
        read_more=f"cat {context.agent.repo}/PATH",
        budget_tokens=budget_tokens or context.settings.number("prompt.budget_tokens"),
        max_chars=context.settings.number("prompt.max_chars"),
    )
    with Reads(context.agent.repo) as reads:
        revision = reads.resolve("refs/heads/main")
        if revision is None:
            raise GitError(f"The memory {context.agent.repo} has no commit on main.")
        view = view_of(context.agent.slug, revision, reads.tree(revision))
    return revision, compile_view(view, options)


def view_of(identity: str, revision: str, tree: Tree) -> MemoryView:
    """Return what of a tree a block is compiled from. A document that cannot be read is named."""
    view = MemoryView(identity, revision[:12])
    system: list[Shown] = []
    others: list[Named] = []
    skills: list[Skill] = []
    for path, document in _documents(tree):
        place = PurePosixPath(path)
        if tier(path) == "system":
            system.append(Shown(path, document.description, document.body))
        elif place.name == _SKILL:
            name = str(document.value("name") or place.parent.name)
            skills.append(Skill(name, document.description, path))
        elif tier(path) != "skills":
            others.append(Named(path, document.description))
    return replace(view, system=tuple(system), others=tuple(others), skills=tuple(skills))


def _documents(tree: Tree) -> Iterator[tuple[str, Document]]:
    for leaf in tree.leaves():
        if not is_document(leaf.path):
            continue
        try:
            yield leaf.path, parse(leaf.path, tree.reader.content(leaf.oid))
        except DocumentError:
            continue  # a person's commit that does not lint is not shown; `doctor` names it
