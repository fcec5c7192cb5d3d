"""`reflector ingest`."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from reflector.core.errors import UsageError
from reflector.runtime.backfill import Imported, Wish, backfill
from reflector.runtime.history import HISTORIES, stores
from reflector.runtime.since import since
from reflector.runtime.wiring import Context, context, plain_terminal
from reflector.surface.cli.imported import machine, show
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output
from reflector.surface.cli.stop import Stop, stoppable
from reflector.surface.cli.watch import TerminalWatch

_LINE_SECONDS = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the files and how to read them."""
    parser.description = (
        "Journal transcripts; nothing is reflected on. Safe to repeat: what is known adds nothing, "
        "and an interrupted file goes on where it stopped. Of a folder, or with --since, the past "
        "is imported: it waits for no run, unless --reflect says so."
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", type=_path, help="a transcript, or a folder of them")
    add("--history", choices=HISTORIES, help="import what this harness keeps")
    add("--since", metavar="WHEN", help="only with activity since: 2026-11-30, 30d, 2h")
    add("--dry-run", action="store_true", help="show what would be read, and write nothing")
    add("--settle", action="store_true", help="take what is held back at the end of a file")
    add("--reflect", action="store_true", help="then reflect on what was imported")


def _path(text: str) -> Path:
    if not text:  # a variable that was not set: it would mean the working directory
        raise argparse.ArgumentTypeError("an empty text names no file")
    return Path(text)


def run(args: argparse.Namespace, out: Output) -> int:
    """Journal every file; one that cannot be read never keeps the others out."""
    if not (args.files or args.history):
        raise UsageError("There is nothing to read.", hint="Name a file, a folder, or --history.")
    found = context(args.home, args.identity)
    wish = Wish(_since(args, found), args.dry_run, args.settle, keep_backlog=args.reflect)
    paths = [*args.files, *(stores(args.history, found.environ) if args.history else ())]
    with stoppable() as stop:
        watch = _Watch(out, stop, found)
        done = backfill(found, paths, wish, watch)
        out.done()
        show(done, wish, out)
        code = 1 if done.refused else 0
        more: dict[str, Any] = {}
        if args.reflect and not (args.dry_run or stop()):
            code, more = _reflect(found, done, watch, out)
    out.object(machine(done, wish) | more)
    return INTERRUPTED if stop() else code


def _since(args: argparse.Namespace, found: Context) -> datetime | None:
    try:
        return since(args.since, found.ambient.clock.now()) if args.since is not None else None
    except ValueError as error:
        raise UsageError(f"--since: {error}.", hint=f"`{args.prog} --help` explains it.") from error


def _reflect(
    found: Context, done: Imported, watch: TerminalWatch, out: Output
) -> tuple[int, dict[str, Any]]:
    """Start runs on what was imported, as `reflect` would; return the exit code and the runs."""
    from reflector.core.run import exit_code  # noqa: PLC0415 - most imports reflect on nothing
    from reflector.runtime.present import run_json  # noqa: PLC0415
    from reflector.runtime.reflect import Options, reflect  # noqa: PLC0415

    code = 1 if done.refused else 0
    if not done.conversations:
        return code, {"runs": []}
    ended = reflect(found, Options(conversations=tuple(done.conversations)), watch)
    out.done()
    for each in ended.runs:
        out.say(f"Run {each.id}: {each.outcome or each.phase}")
    if ended.over:
        out.refusal(ended.over)
        code = ended.over.exit_code
    elif ended.runs and (last := ended.runs[-1].outcome):
        code = exit_code(last) or code
    out.say("`reflector status` shows what still waits; `reflector reflect` goes on with it.")
    return code, {"runs": [run_json(each) for each in ended.runs]}


class _Watch(TerminalWatch):
    """Shows progress where it can be written over, else a line now and then."""

    def __init__(self, out: Output, stop: Stop, found: Context) -> None:
        super().__init__(out, stop)
        self._clock = found.ambient.clock
        self._lines = not sys.stderr.isatty() or plain_terminal()
        self._told = self._clock.monotonic()

    def progress(self, line: str) -> None:
        """Show what is going on right now."""
        super().progress(line)
        now = self._clock.monotonic()
        if self._lines and now - self._told >= _LINE_SECONDS:
            self._told = now
            self.say(line)
