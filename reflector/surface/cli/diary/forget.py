"""`reflector diary forget`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from reflector.core.diary import Entry, Term, Trait
from reflector.runtime.diary.forgetting import Forgotten, Would, look, take_out
from reflector.runtime.wiring import context
from reflector.surface.cli.diary import searched
from reflector.surface.cli.diary.confirmed import confirmed
from reflector.surface.cli.output import Output, counted, safe

_LONGEST = 160


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what goes."""
    parser.description = (
        "Take an entry or a trait out by its id, or everything that says some words: out of the "
        "diary, its whole history, and every copy that Reflector made. Words are whole words, "
        'whatever their case: "tea" does not take "team". What would go is listed first. '
        "`diary read --json` shows the ids. A tombstone without a word stays, so that no pack and "
        "no old session brings it back."
    )
    parser.add_argument("what", metavar="ID|TEXT", help="what to forget")
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what would go, ask, take it out, look for it."""
    found = context(args.home, args.identity)
    would = look(found, args.what)
    out.say(*_shown(would))
    if args.dry_run:
        out.object(_json(would, None))
        return 0
    if not confirmed("Forget this, and what the diary's history says of it?", out, yes=args.yes):
        out.say("Nothing was changed.")
        return 0
    done = take_out(found, args.what)
    out.say(*_told(done))
    out.object(_json(would, done))
    return 1 if done.searched.still else 0


def _shown(would: Would) -> Iterator[str]:
    if would.items:
        yield "This goes:"
    else:
        yield "The diary does not say it now; what its history says of it goes."
    for _, kind, text in map(_about, would.items):
        yield f"  {kind}: {safe(_cut(text))}"
    if would.longer:
        stay = counted(would.longer, "item that has it", "items that have it")
        yield f"{stay} only inside a longer word stay{'s' if would.longer == 1 else ''}."


def _about(item: Entry | Trait | Term) -> tuple[str | None, str, str]:
    """Return the id of an item, what it is, and what it says; a shared phrase has no id."""
    match item:
        case Entry():
            return item.id, item.kind, item.text
        case Trait():
            return item.id, "trait", f"{item.text} ({item.evidence})"
        case Term():
            return None, "shared phrase", item.term


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _told(done: Forgotten) -> Iterator[str]:
    commits = counted(done.rewritten, "commit")
    yield f"{counted(len(done.ids), 'item')} forgotten; {commits} of the history written anew."
    yield from searched.lines(done.searched)
    for page in done.pages:
        yield f"{safe(page)} is your own page and still says it; edit it, then do this again."
    if done.twins:
        same = "1 other item says" if len(done.twins) == 1 else f"{len(done.twins)} others say"
        yield f"{same} the same and stayed: `reflector diary forget` with those words takes all."


def _json(would: Would, done: Forgotten | None) -> dict[str, object]:
    shown = [
        {"id": key, "kind": kind, "text": text} for key, kind, text in map(_about, would.items)
    ]
    told: dict[str, object] = {"would_go": shown, "only_in_longer_words": would.longer}
    if done is None:
        return {**told, "forgotten": []}
    return {
        **told,
        "forgotten": list(done.ids),
        "rewritten": done.rewritten,
        "your_pages": list(done.pages),
        "say_the_same": list(done.twins),
        "searched": searched.as_json(done.searched),
    }
