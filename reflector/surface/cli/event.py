"""`reflector event`: what embedders and hooks call."""

from __future__ import annotations

import argparse

from reflector.core.errors import UsageError
from reflector.core.schedule import Event, Idle, Settled, Shutdown
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe

_NAMES = ("settled", "idle", "shutdown", "compaction")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what happened."""
    parser.description = (
        "Tell that something happened: an agent's turn settled, it is idle, it shuts down, it "
        "compacted. Decides, reserves and launches in one go. With --drain: deal with everything "
        "that hooks have spooled."
    )
    parser.add_argument("event", nargs="?", choices=_NAMES, help="what happened")
    parser.add_argument("--failed", action="store_true", help="the turn did not succeed")
    parser.add_argument("--conversation", default="", metavar="ID", help="whose it is")
    parser.add_argument("--boundary", default="", metavar="ID", help="which compaction")
    parser.add_argument("--drain", action="store_true", help="deal with the spool")


def run(args: argparse.Namespace, out: Output) -> int:
    """Handle one event, or the spool."""
    if args.drain == bool(args.event):
        raise UsageError(
            "Name an event, or --drain.", hint="`reflector event --help` explains them."
        )
    if args.drain:
        return _drain(args, out)
    from reflector.runtime.background.beginning import begin  # noqa: PLC0415
    from reflector.runtime.front import describe, handle, mark_compaction  # noqa: PLC0415

    found = context(args.home, args.identity)
    if args.event == "compaction":
        mark_compaction(found, args.conversation, args.boundary)
        begin(found)  # reflection waits for the turn's end, extraction does not
        out.say("marked")
        out.object({"decision": "marked", "why": None, "until": None, "supervisor": "none"})
        return 0
    answer = handle(found, _event(args))
    out.say(f"{describe(answer.decision)}; supervisor: {answer.supervisor}")
    out.object(answer.as_json())
    return 0


def _event(args: argparse.Namespace) -> Event:
    match args.event:
        case "settled":
            return Settled(success=not args.failed)
        case "idle":
            return Idle(origin="event")
        case _:
            return Shutdown(conversation=args.conversation)


def _drain(args: argparse.Namespace, out: Output) -> int:
    from reflector.runtime.spooled import drain_spool  # noqa: PLC0415 - imports what reads transcripts

    done = drain_spool(context(args.home, args.identity))
    out.say(f"{counted(done.events, 'event')}, {counted(done.entries, 'new entry', 'new entries')}")
    for sentence in done.trouble:
        out.note(safe(sentence))
    out.object(
        {
            "events": done.events,
            "entries": done.entries,
            "busy": done.busy,
            "trouble": list(done.trouble),
        }
    )
    return 0
