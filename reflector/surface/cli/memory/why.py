"""`reflector memory why`."""

from __future__ import annotations

import argparse

from reflector.core.errors import UsageError
from reflector.core.redact import redact
from reflector.runtime.present import run_json
from reflector.runtime.provenance import Why, Word, why, why_json
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe

_SHOWN = 10
_LONGEST = 600


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which line."""
    parser.description = (
        "Where a line of the memory comes from: its commit, the run, the conversation, and what "
        "was said there."
    )
    parser.add_argument("place", metavar="PATH:LINE", help="a committed line, counted from 1")


def run(args: argparse.Namespace, out: Output) -> int:
    """Walk back from a line and say what is found."""
    path, colon, number = args.place.rpartition(":")
    if not (colon and path and number.isascii() and number.isdecimal() and 0 < int(number) < 10**9):
        raise UsageError(
            f"{args.place!r} names no line.", hint="Say PATH:LINE, like system/human.md:9."
        )
    found = why(context(args.home, args.identity), path, int(number))
    _origin(found, args.place, out)
    _words(found, out)
    machine = {"run": run_json(found.run) if found.run else None}
    out.object(why_json(found) | machine)
    return 0


def _origin(found: Why, place: str, out: Output) -> None:
    signed = found.signed
    out.say(
        f"{safe(place)}  {_text(found.origin.text)}",
        f"  commit {signed.commit.sha[:12]} of {signed.commit.at[:16]}: {_text(signed.subject)}",
    )
    match signed.writer:
        case "run":
            ledger = "" if found.run else " (the ledger does not know it; git does)"
            by = f" by {safe(found.engine)}, {safe(found.trigger)}" if found.engine else ""
            out.say(f"  learned in run {safe(signed.run)}{by}{ledger}")
        case "reflector":
            out.say("  planted when this memory was made")
        case "agent":
            out.say(f"  written by an agent ({safe(signed.commit.author)})")
        case _:
            out.say(f"  written by a person ({safe(signed.commit.author)})")


def _words(found: Why, out: Output) -> None:
    cited = [each for each in found.words if each.cited]
    shown = cited or found.words[:_SHOWN]
    for conversation in found.conversations:
        titles = {w.entry.title for w in found.words if w.entry.conversation == conversation}
        title = next(filter(None, titles), "")
        out.say(f"  read {safe(conversation)}{f', {_text(title)}' if title else ''}")
    if cited:
        out.say("  it rests on:")
    for each in shown:
        _entry(each, out)
    for mark in found.missing:
        out.say(f"    entry {safe(mark)}: not in the journal any more")
    if rest := len(found.words) - len(shown):
        others = counted(rest, "other entry was", "other entries were")
        out.say(f"  and {others} read; --json lists them")


def _entry(word: Word, out: Output) -> None:
    one = word.entry
    said = word.note or _text(one.text)
    out.say(f"    {one.at[:16]} {safe(one.harness)} {one.kind}: {said}")


def _text(text: str) -> str:
    plain = safe(redact(" ".join(text.split())).text)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]} […]"
