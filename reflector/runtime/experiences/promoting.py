"""The experiences that a reflection is shown as possible skills."""

from __future__ import annotations

from reflector.core.redact import redact
from reflector.memory.experiences.kept import kept_in
from reflector.memory.experiences.promotion import ripe
from reflector.memory.tree import Tree
from reflector.pipelines.contexts import OpeningExperience
from reflector.store import recall_uses
from reflector.store.state import State


def offered(state: State, tree: Tree) -> tuple[OpeningExperience, ...]:
    """Return what is offered now; without experiences nothing is read."""
    folders = tree.folders("")
    if "experiences" not in folders:
        return ()
    uses = recall_uses.uses(state.connection)
    skills = folders["skills"].leaves() if "skills" in folders else ()
    texts = [
        tree.reader.content(leaf.oid).decode("utf-8", "replace")
        for leaf in skills
        if leaf.regular and leaf.path.endswith(".md")
    ]
    used = {path: use.sessions for path, use in uses.items()}
    return tuple(
        OpeningExperience(each.experience.path, redact(each.experience.about).text, each.sessions)
        for each in ripe(kept_in(tree, "experience").known, used, texts)
    )
