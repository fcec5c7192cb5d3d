"""Small memories, and runs over them, for tests of the validator."""

from __future__ import annotations

from typing import Any

from reflector.memory.chain import CommitView, RunView
from reflector.memory.edit import Scope
from reflector.memory.tree import Tree

Files = dict[str, Any]  # path to bytes, or to (mode, bytes)

SAID = "claude-code:said:0"
RUN = Scope(pipeline="reflection", user_entries=frozenset({SAID}))
PERSON = Scope(writer="person")
WHEN = "This skill should be used when something comes up again."


def doc(*lines: str, description: str = "what it is about", extra: str = "") -> bytes:
    """Return a document with these lines as its body."""
    body = "".join(f"{line}\n" for line in lines)
    return f"---\ndescription: {description}\n{extra}---\n{body}".encode()


def skill(name: str, *lines: str, description: str = WHEN, extra: str = "") -> bytes:
    """Return a SKILL.md with these lines as its body."""
    return doc(*lines, description=description, extra=f"name: {name}\n{extra}")


def message(*items: str, subject: str = "fix(reflection): learned something") -> str:
    """Return a message that keeps the contract."""
    listed = "".join(f"- {item}\n" for item in items or ("reference/x.md: noted",))
    return f"{subject}\n\nUpdates:\n{listed}\nGenerated-By: agent memory\nAgent-ID: agent-1\n"


def run(base: Files, *steps: tuple[Files, str], scope: Scope = RUN, **changed: object) -> RunView:
    """Return a run whose commits leave these files, one after the other."""
    commits: list[CommitView] = []
    parent = "base"
    for number, (files, text) in enumerate(steps):
        commits.append(CommitView(f"c{number}", (parent,), text, Tree.of(files)))
        parent = f"c{number}"
    values: dict[str, object] = {
        "branch": "memory/reflection-1-a",
        "head": "refs/heads/memory/reflection-1-a",
        "base": "base",
        "base_tree": Tree.of(base),
        "tip": parent,
        "commits": tuple(commits),
        "scope": scope,
    }
    return RunView(**(values | changed))  # type: ignore[arg-type]
