"""`reflector diary read`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from reflector.core.diary import Diary, Entry
from reflector.pipelines.diary.view import leafed
from reflector.runtime.diary.reading import read
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe

_SHOWN = ("id", "date", "kind", "text", "tags", "resolved")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what it is for."""
    parser.description = (
        "Print the diary to leaf through. What you edited in persona.md and NOTES.md is taken in "
        "first. With --json entries and traits come with the ids that `forget` takes."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Print it."""
    found = read(context(args.home, args.identity))
    for line in leafed(found).rstrip("\n").split("\n"):
        out.say(safe(line))
    out.object(_json(found))
    return 0


def _json(diary: Diary) -> dict[str, Any]:
    entries = sorted(diary.entries.values(), key=_order, reverse=True)
    return {
        "entries": [{name: asdict(each)[name] for name in _SHOWN} for each in entries],
        "traits": [
            {"id": each.id, "about": each.about, "text": each.text, "evidence": each.evidence}
            for each in sorted(diary.traits.values(), key=lambda one: one.id)
        ],
        "terms": sorted(each.term for each in diary.lexicon.values()),
        "notes": list(diary.notes),
        "persona": diary.persona,
        "damaged": list(diary.damaged),
    }


def _order(entry: Entry) -> tuple[str, str, str]:
    return entry.date, entry.updated_at, entry.id
