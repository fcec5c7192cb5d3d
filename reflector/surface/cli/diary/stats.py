"""`reflector diary stats`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from reflector.runtime.diary.reading import Stats, stats
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what it is for."""
    parser.description = "Count what the diary holds, and name what stands in its way."


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the counts."""
    found = stats(context(args.home, args.identity))
    out.say(*_lines(found))
    out.object(_json(found))
    return 0


def _lines(found: Stats) -> Iterator[str]:
    if not found.enabled:
        yield "diary.enabled is false: nothing is kept or shown."
    kinds = ", ".join(counted(count, kind) for kind, count in found.entries.items() if count)
    total = sum(found.entries.values())
    yield f"{counted(total, 'entry', 'entries')}{f' ({kinds})' if kinds else ''}"
    if found.open:
        yield f"{counted(found.open, 'failure')} still open"
    yield from _others(found)
    waiting = found.queue.heard + found.queue.judged
    yield f"{counted(waiting, 'turn waits', 'turns wait') if waiting else 'nothing waits'} to be read"
    yield from (f"cannot be read, stays as it is: {safe(path)}" for path in found.damaged)
    yield from (safe(each) for each in found.left)
    yield from (f"a remote was added by hand: {safe(each)}" for each in found.remotes)


def _others(found: Stats) -> Iterator[str]:
    counts = (
        (sum(found.traits.values()), "trait", "traits"),
        (found.terms, "shared phrase", "shared phrases"),
        (found.notes, "line of your own", "lines of your own"),
        (found.tombstones, "tombstone", "tombstones"),
    )
    if said := ", ".join(counted(*each) for each in counts if each[0]):
        yield said


def _json(found: Stats) -> dict[str, object]:
    return {
        "enabled": found.enabled,
        "head": found.head,
        "entries": found.entries,
        "open": found.open,
        "traits": found.traits,
        "terms": found.terms,
        "notes": found.notes,
        "tombstones": found.tombstones,
        "damaged": list(found.damaged),
        "not_taken_in": list(found.left),
        "remotes": list(found.remotes),
        "waiting": found.queue.heard + found.queue.judged,
        "done": found.queue.done,
        "skipped": dict(found.queue.skipped),
    }
