"""The first message of a run: the memory at its base, and the conversations under review."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.agent.engine import PayloadConversation
from reflector.agent.transcript import render
from reflector.core.errors import DocumentError
from reflector.core.redact import redact
from reflector.memory.document import parse
from reflector.memory.experiences import listing
from reflector.memory.experiences.form import layer_of
from reflector.memory.tree import Tree, is_document, tier
from reflector.memory.view import gist
from reflector.pipelines.contexts import OpeningContext, OpeningDocument, OpeningExperience
from reflector.runtime.words import open_words

_WHOLE = 24_000
_HEAD = 6_000


def opening(
    tree: Tree,
    conversations: Sequence[PayloadConversation],
    file: str = "",
    ripe: Sequence[OpeningExperience] = (),
) -> str:
    """Render the message. A transcript longer than 24 000 characters shows its beginning only.

    `file` is where whoever has tools of its own finds the rest, `ripe` what may become a skill.
    """
    text = render(conversations)
    shown = text if len(text) <= _WHOLE else text[: text.rfind("\n", 0, _HEAD) + 1]
    found = _documents(tree)
    left_out, counted = _facts(found)
    named = [_shown(each) for each in found if each[0] not in left_out]
    documents = sorted([*named, *counted], key=lambda one: one.path)
    return open_words().opening(
        OpeningContext(
            tree=documents,
            system=[one for one in documents if tier(one.path) == "system"],
            transcript=shown,
            lines=text.count("\n"),
            rest=len(shown) < len(text),
            file=file,
            ripe=ripe,
        )
    )


def _documents(tree: Tree) -> list[tuple[str, bytes]]:
    return [
        (leaf.path, tree.reader.content(leaf.oid))
        for leaf in tree.leaves()
        if leaf.regular and is_document(leaf.path)
    ]


def _facts(found: list[tuple[str, bytes]]) -> tuple[set[str], list[OpeningDocument]]:
    """Return which facts and replaced items are not named, and lines that count them.

    A memory gains a fact with every part of a conversation: all of them would be most of a message.
    """
    items = {path: gist(path, raw) for path, raw in found if layer_of(path)}
    living = {path: known for path, known in items.items() if known}
    facts = [path for path in sorted(living) if layer_of(path) == "fact"]
    newest, more = listing.facts(facts, living, None)
    named = {*newest, *(path for path in living if layer_of(path) == "experience")}
    counted = [OpeningDocument(path, 0, says.partition(";")[0]) for path, (says, _) in more.items()]
    return set(items) - named, counted


def _shown(found: tuple[str, bytes]) -> OpeningDocument:
    path, raw = found
    try:
        description = parse(path, raw).description
    except DocumentError:
        description = ""
    # Old text may predate a rule of the redactor.
    text = redact(raw.decode(errors="replace")).text if tier(path) == "system" else ""
    return OpeningDocument(path, len(raw), redact(description).text, text)
