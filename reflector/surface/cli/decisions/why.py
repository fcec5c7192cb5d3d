"""`reflector decisions why`."""

from __future__ import annotations

import argparse

from reflector.core.cleaning import clean
from reflector.core.decision import Told
from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.grounds import Ground, Grounds, why
from reflector.runtime.wiring import context
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.decisions.rows import recorded_json, tell
from reflector.surface.cli.output import Output, safe

_LONGEST = 600


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which decision."""
    parser.description = (
        "Why a decision is kept: the deltas it rests on, what a person said, in which conversation, "
        "and the decisions whose place it took."
    )
    parser.add_argument("bullet", metavar="BULLET", help="a part of its words, or FILE.md:LINE")
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Walk back from a decision to the words that it rests on."""
    found = why(context(args.home, args.identity), chosen(args.bank, here()), args.bullet)
    _told(found, out)
    out.object(
        {
            "bank": found.bank,
            "text": found.text,
            "place": found.place or None,
            "file": found.told.file if found.told else None,
            "run": found.told.run if found.told else None,
            "at": found.told.at if found.told else None,
            "deltas": [_json(each) for each in found.deltas],
            "earlier": [_earlier(each) for each in found.earlier],
        }
    )
    return 0


def _told(found: Grounds, out: Output) -> None:
    where = safe(found.place) or "no longer there"
    out.say(f"{where}  {safe(clean(found.text))}")
    told = found.told
    if told is None:
        out.say(
            "  no run wrote it: a person did, by hand",
            f"  `reflector memory why {safe(found.place)}` tells its commit",
        )
        return
    by = "in run" if "-" in told.run else "by hand, with commit"
    out.say(f"  written {told.at[:16]} {by} {safe(told.run)[:40]}")
    if missing := len(told.deltas) - len(found.deltas):
        out.say(f"  {missing} of what it rested on was forgotten")
    for each in found.deltas:
        tell(each.recorded, "", out)
        if each.entry is not None:
            title = f" {safe(clean(each.entry.title))}" if each.entry.title else ""
            said = safe(clean(" ".join(each.entry.text.split())))[:_LONGEST]
            out.say(f"      entry {safe(each.entry.id)}{title}: {said or each.entry.state}")
    for old in found.earlier:
        out.say(f"  in the place of: {safe(clean(old.text))} ({old.at[:10]})")


def _json(ground: Ground) -> dict[str, object]:
    entry = ground.entry
    said = {"title": entry.title, "text": entry.text, "state": entry.state} if entry else None
    return recorded_json(ground.recorded) | {"said": said}


def _earlier(told: Told) -> dict[str, object]:
    return {"text": told.text, "run": told.run, "at": told.at, "deltas": list(told.deltas)}
