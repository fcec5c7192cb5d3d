"""Search over a memory and its journal: what is searched is brought up to date, then asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from reflector.core.ambient import instant
from reflector.core.cleaning import clean
from reflector.core.days import between
from reflector.core.errors import NotFoundError, ReflectorError, UsageError
from reflector.core.matching import excerpt, why, without_repeat
from reflector.core.tokens import asked
from reflector.memory.indexed import ACTIVE, LAYERS, SUPERSEDED, details_of
from reflector.runtime import searched
from reflector.runtime.banks import bank_of
from reflector.runtime.searched import Told, ask
from reflector.runtime.wiring import Context
from reflector.store import journal as journals
from reflector.store import recall_journal, recall_memory, recall_uses
from reflector.store.recall import Connection
from reflector.store.recall_journal import Asked, Said
from reflector.store.recall_memory import Only
from reflector.store.recall_order import Hit

if TYPE_CHECKING:
    from reflector.memory.tree import Tree

LIMIT = 10

DIARY = "diary"
"""The layer of what comes to mind of the diary: it has a text and an id, no score and no reason."""

_LONGEST_QUERY = 20_000
_BUSY_SECONDS = 0.2
_DAY = len("2026-11-30")


@dataclass(frozen=True, slots=True)
class Sought:
    """Which documents may be found; "" is any of them.

    `path` and `outside` are beginnings of paths, `since` and `until` days or instants as `stamp`
    writes them, `layer` one of `LAYERS`. With a `project`, the key of a bank, only what is bound to
    it.
    """

    path: str = ""
    outside: str = ""
    since: str = ""
    until: str = ""
    status: str = ACTIVE
    branch: str = ""
    layer: str = ""
    project: str = ""


ANYTHING = Sought()


@dataclass(frozen=True, slots=True)
class Found:
    """One result. A document has a `path`, an entry its `conversation`, `entry` and `kind`.

    `updated_at` is when main last changed the document, or when the entry was said, and `age_days`
    counts the calendar days since. `item` is the id of an experience or a fact. `details` is what a
    fact keeps word for word, None unless it was asked for.
    """

    score: float
    excerpt: str
    updated_at: str
    why: str
    path: str = ""
    about: str = ""
    item: str = ""
    layer: str = ""
    status: str = ""
    age_days: int = 0
    details: str | None = None
    conversation: str = ""
    entry: str = ""
    kind: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the machine form."""
        if self.layer == DIARY:
            return {"id": self.item, "layer": self.layer, "excerpt": self.excerpt}
        told: dict[str, object] = {"score": round(self.score, 4), "excerpt": self.excerpt}
        told |= {"updated_at": self.updated_at, "why": self.why}
        if not self.path:
            where = {"conversation": self.conversation, "entry": self.entry, "kind": self.kind}
            return {**where, **told}
        item = {"path": self.path, "id": self.item or None, "layer": self.layer}
        more = {} if self.details is None else {"details": self.details}
        return {**item, "status": self.status, **told, "age_days": self.age_days, **more}


def recall(
    context: Context,
    query: str,
    sought: Sought = ANYTHING,
    *,
    cwd: Path | None = None,
    limit: int = LIMIT,
    details: bool = False,
    told: Told = lambda _: None,
) -> list[Found]:
    """Return the documents of main that answer a query best; none when nothing does.

    Items that are bound to a project are found from its folders only: `cwd` says where we are.
    `told` hears what takes long.
    """
    context.require()
    wanted = asked(query[:_LONGEST_QUERY])
    only = _only(sought, cwd)
    today = instant(context.ambient.now())

    def find(index: Connection) -> list[Found]:
        chosen = recall_memory.telling(index, wanted)
        hits = recall_memory.find(index, chosen, only, limit)
        found = [_document(hit, chosen) for hit in hits]
        return [
            replace(each, age_days=max(between(instant(each.updated_at), today), 0))
            for each in found
        ]

    found = ask(context, searched.memory(context, told), find)
    return _detailed(context, found) if details else found


def serve(
    context: Context,
    query: str,
    sought: Sought = ANYTHING,
    cwd: Path | None = None,
    *,
    limit: int = LIMIT,
    details: bool = False,
    session: str = "",
) -> list[Found]:
    """Recall for an agent: what it is given counts as used, in its session if that is known."""
    found = recall(context, query, sought, cwd=cwd, limit=limit, details=details)
    note_uses(context, (each.path for each in found), session)
    return found


def note_uses(context: Context, paths: Iterable[str], session: str) -> None:
    """Note which items an agent was given. What cannot be noted now is not: it holds up nobody."""
    items = [path for path in paths if recall_uses.is_item(path)]
    if not items:
        return
    with (
        contextlib.suppress(ReflectorError, OSError),
        context.state(durability="NORMAL", busy_seconds=_BUSY_SECONDS) as state,
        state.transaction() as connection,
    ):
        recall_uses.note(connection, items, session, context.ambient.now())


def search(
    context: Context,
    query: str,
    *,
    conversation: str = "",
    kind: str = "",
    since: str = "",
    limit: int = LIMIT,
    told: Told = lambda _: None,
) -> list[Found]:
    """Return the journal's entries that answer a query best; none when nothing does.

    What was hidden, aged out or forgotten is never found. `kind` is an entry's kind. Raises
    NotFoundError for a conversation that is not in the journal.
    """
    wanted = dict(islice(asked(query[:_LONGEST_QUERY]).items(), recall_journal.MOST_TERMS))
    only = Asked(conversation, kind, since)
    with context.state() as state:
        journal = state.connection
        if conversation and journals.conversation(journal, conversation) is None:
            raise NotFoundError(
                f"There is no conversation {conversation[:200]} in the journal.",
                hint="`reflector search QUERY` without --conversation names those with a hit.",
            )
        hits = ask(
            context,
            searched.journal(context, state, told),
            lambda index: recall_journal.find(index, journal, wanted, only, limit),
        )
    return [_entry(hit, wanted) for hit in hits]


def _only(sought: Sought, cwd: Path | None) -> Only:
    for name, value, known in (
        ("layer", sought.layer, LAYERS),
        ("status", sought.status, (ACTIVE, SUPERSEDED)),
    ):
        if value and value not in known:
            raise UsageError(
                f"There is no {name} {value[:40]!r} in a memory.", hint=f"Use {', '.join(known)}."
            )
    # Instants are compared as texts: a day ends behind all that begin with it.
    until = f"{sought.until}T24" if len(sought.until) == _DAY else sought.until
    return Only(
        path=sought.path,
        bank=sought.project or bank_of(cwd),
        since=sought.since,
        outside=sought.outside,
        until=until,
        status=sought.status,
        branch=sought.branch,
        layer=sought.layer,
        bound=bool(sought.project),
    )


def _detailed(context: Context, found: list[Found]) -> list[Found]:
    """Add what facts keep word for word: it is in no index."""
    from reflector.vcs.port import MAIN  # noqa: PLC0415 - git is read on request alone
    from reflector.vcs.reads import Reads  # noqa: PLC0415

    with Reads(context.agent.repo) as reads:
        tip = reads.resolve(MAIN)
        tree = reads.tree(tip) if tip else None
        return [replace(each, details=_details(tree, each.path) if tree else "") for each in found]


def _details(tree: Tree, path: str) -> str:
    leaf = tree.find(path)
    return details_of(tree.reader.content(leaf.oid), path) if leaf and leaf.regular else ""


def _document(hit: Hit, wanted: dict[str, str]) -> Found:
    fields = {
        "path": hit.path.removesuffix(".md"),
        "description": hit.about,
        "heading": hit.passage.heading,
        "text": hit.passage.text,
    }
    about = clean(without_repeat(hit.about.partition("\n")[0], hit.passage.text))
    shown = excerpt(hit.passage.text, wanted) or excerpt(hit.about, wanted)
    told = clean(why(fields, wanted))
    item, status = hit.standing.item, hit.standing.status
    document = Found(hit.score, shown, hit.at, told, path=hit.path, about=about)
    return replace(document, item=item, layer=hit.layer, status=status)


def _entry(hit: Said, wanted: dict[str, str]) -> Found:
    name = "tool" if hit.kind == "tool_call" else hit.kind
    return Found(
        hit.score,
        excerpt(hit.text, wanted),
        hit.at,
        clean(why({name: hit.text}, wanted)),
        conversation=hit.conversation,
        entry=hit.entry,
        kind=hit.kind,
    )
