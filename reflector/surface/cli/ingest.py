"""`reflector ingest`."""

from __future__ import annotations

import argparse
from pathlib import Path

from reflector.core.errors import ReflectorError, TranscriptError
from reflector.runtime.ingest import Ingested, ingest
from reflector.runtime.wiring import context
from reflector.surface.cli.left_out import left_out
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output, counted, safe
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.watch import TerminalWatch


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the files."""
    parser.description = (
        "Journal transcripts; nothing is reflected on. Safe to repeat: what is known adds nothing, "
        "and an interrupted file goes on where it stopped."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="a transcript")


def run(args: argparse.Namespace, out: Output) -> int:
    """Journal every file; one that cannot be read never keeps the others out."""
    found = context(args.home, args.identity)
    done: list[Ingested] = []
    refused: list[ReflectorError] = []
    with stoppable() as stop:
        watch = TerminalWatch(out, stop)
        for path in args.files:
            if stop():
                break
            try:
                done.append(ingest(found, path, watch))
            except TranscriptError as error:
                refused.append(error)
    out.done()
    for each in done:
        out.say(
            f"{safe(each.path)}: {counted(each.entries, 'new entry', 'new entries')}, "
            f"{counted(each.steps, 'step')}, {each.skipped} skipped, "
            f"{counted(each.bad_lines, 'bad line')} ({each.format}, {each.conversation})"
        )
        if each.left_out:
            out.say(f"  {left_out(each.left_out)}")
    for refusal in refused:
        out.refusal(refusal)
    out.object(
        {
            "files": [each.as_json() for each in done],
            "refused": [{"code": each.code, "message": each.message} for each in refused],
        }
    )
    return INTERRUPTED if stop() else (1 if refused else 0)
