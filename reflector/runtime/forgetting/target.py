"""What a person wants forgotten: a text, a document or a conversation, told apart by its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from reflector.core.errors import NotFoundError, UsageError
from reflector.core.needle import matching, passages
from reflector.memory.commit_message import parse
from reflector.memory.purge import Purge
from reflector.memory.tree import Tree, is_document
from reflector.runtime.experiences.forgetting import resting_on
from reflector.runtime.wiring import Context
from reflector.store import forgetting, journal
from reflector.store.state import State
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

Kind = Literal["text", "document", "conversation"]
_SENTENCE = re.compile(r"\n|(?<=[.!?])\s+|[。！？]")
_SHORTEST_TEXT = 2
_SHORTEST = 24
_SHORTEST_LESSON = 8
_PASSAGES = 200
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants forgotten, in their words."""

    words: str
    regex: bool = False
    history: bool = False

    @property
    def command(self) -> str:
        """Return what makes it the same command when it is given again."""
        return f"{'regex' if self.regex else ''} {'history' if self.history else ''} {self.words}"


@dataclass(frozen=True, slots=True)
class Target:
    """What that is: `purge` for memory and files, `conversation` and `runs` for the rest."""

    kind: Kind
    purge: Purge
    conversation: str = ""
    runs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def target_of(context: Context, state: State, asked: Asked, kind: str = "") -> Target:
    """Tell what the words name: a conversation, a document or folder, else a text.

    `kind` is what they named when this command began. Raises NotFoundError for a document that is
    nowhere, UsageError for words that would fit everything.
    """
    if asked.regex:
        return Target("text", Purge(matching(asked.words)))
    if len(asked.words.strip()) < _SHORTEST_TEXT:
        raise UsageError(
            f"{asked.words!r} is too short: it would be found everywhere.",
            hint="Name a document, a conversation, or a text of two characters or more.",
        )
    if kind in ("", "conversation") and journal.conversation(state.connection, asked.words):
        return _conversation(context, state, asked.words)
    path = asked.words.rstrip("/")
    if "/" in path and not _in_memory(context, path) and is_document(f"{path}.md"):
        path = f"{path}.md" if _in_memory(context, f"{path}.md") else path
    if kind == "document" or (not kind and _in_memory(context, path)):
        return _document(context, path)
    if not kind and is_document(path) and not asked.history:
        raise NotFoundError(
            f"There is no document {path} in the memory now.",
            hint="With --history it is looked for in all that was; `--regex` takes it as a text.",
        )
    return Target("text", Purge(passages([asked.words])))


def _longest_first(line: str) -> tuple[int, str]:
    return -len(line), line


def _conversation(context: Context, state: State, key: str) -> Target:
    """Name a conversation, what was said in it, and what was learned from it alone."""
    said = forgetting.texts_of(state.connection, key)
    lines = (line.strip(" .!?") for text in said for line in _SENTENCE.split(text))
    long = sorted({line for line in lines if len(line) >= _SHORTEST}, key=_longest_first)
    learned = _learned(context, forgetting.entries_of(state.connection, key))
    return Target(
        "conversation",
        Purge(passages([*learned, *long[:_PASSAGES]])),
        key,
        tuple(forgetting.runs_of(state.connection, key)),
        tuple(path for path, of in forgetting.sources_of(state.connection) if of == key),
    )


def _learned(context: Context, entries: frozenset[str]) -> list[str]:
    """Return what was written down on the evidence of these entries alone.

    Of documents what commits say of them; of experiences and facts their paths: they go whole.
    """
    with Reads(context.agent.repo) as reads:
        head = reads.resolve(MAIN) or ""
        history = reads.log(head, limit=_ALL)
        items = [each for commit in history for each in parse(commit.message).updates]
        paths = resting_on(reads.tree(head), items, entries)
    rested = (each.said for each in items if each.evidence and entries.issuperset(each.evidence))
    return sorted({*paths, *(text for text in rested if len(text) >= _SHORTEST_LESSON)})


def _in_memory(context: Context, path: str) -> bool:
    if not path:
        return False
    with Reads(context.agent.repo) as reads:
        tree: Tree = reads.tree(reads.resolve(MAIN) or "")
        return tree.holds(path)


def _document(context: Context, path: str) -> Target:
    """Name the document, and the lines by which its text is known elsewhere."""
    mine: set[str] = set()
    others: set[str] = set()
    with Reads(context.agent.repo) as reads:
        tree = reads.tree(reads.resolve(MAIN) or "")
        for leaf in tree.leaves():
            if leaf.regular:
                own = leaf.path == path or leaf.path.startswith(f"{path}/")
                text = tree.reader.content(leaf.oid).decode("utf-8", "replace")
                (mine if own else others).update(line.strip() for line in text.split("\n"))
    lines = sorted(line for line in mine - others if len(line) >= _SHORTEST)
    return Target("document", Purge(passages(lines), path))
