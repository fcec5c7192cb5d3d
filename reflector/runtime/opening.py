"""The first message of a run: the memory at its base, and the conversations under review."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.agent.engine import PayloadConversation
from reflector.agent.transcript import render
from reflector.core.errors import DocumentError
from reflector.core.redact import redact
from reflector.memory.document import parse
from reflector.memory.tree import Tree, is_document, tier
from reflector.pipelines.prompts import OpeningContext, OpeningDocument, Words
from reflector.runtime.wiring import data_folder

_WHOLE = 24_000
_HEAD = 6_000


def opening(tree: Tree, conversations: Sequence[PayloadConversation], file: str = "") -> str:
    """Render the message. A transcript longer than 24 000 characters shows its beginning only.

    `file` is where whoever has tools of its own finds the rest.
    """
    text = render(conversations)
    shown = text if len(text) <= _WHOLE else text[: text.rfind("\n", 0, _HEAD) + 1]
    documents = sorted(map(_shown, _documents(tree)), key=lambda one: one.path)
    return Words(data_folder()).opening(
        OpeningContext(
            tree=documents,
            system=[one for one in documents if tier(one.path) == "system"],
            transcript=shown,
            lines=text.count("\n"),
            rest=len(shown) < len(text),
            file=file,
        )
    )


def _documents(tree: Tree) -> list[tuple[str, bytes]]:
    return [
        (leaf.path, tree.reader.content(leaf.oid))
        for leaf in tree.leaves()
        if leaf.regular and is_document(leaf.path)
    ]


def _shown(found: tuple[str, bytes]) -> OpeningDocument:
    path, raw = found
    try:
        description = parse(path, raw).description
    except DocumentError:
        description = ""
    # Old text may predate a rule of the redactor.
    text = redact(raw.decode(errors="replace")).text if tier(path) == "system" else ""
    return OpeningDocument(path, len(raw), redact(description).text, text)
