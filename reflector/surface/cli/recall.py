"""`reflector recall`."""

from __future__ import annotations

import argparse
import re
import sys

from reflector.core.errors import UsageError
from reflector.memory.indexed import ACTIVE, LAYERS, SUPERSEDED
from reflector.runtime.recall import ANYTHING, LIMIT, Sought, recall
from reflector.runtime.remembered import remembered
from reflector.runtime.wiring import context, context_for
from reflector.surface.cli import streams
from reflector.surface.cli.found import tell
from reflector.surface.cli.here import start
from reflector.surface.cli.numbers import moment, positive
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to look for and where."""
    parser.description = (
        "Search the committed memory; the documents that answer best come first. What belongs to a"
        " project is found from its own folders only."
    )
    parser.add_argument("query", nargs="*", metavar="QUERY", help="words, in any language")
    parser.add_argument("--cwd", metavar="DIR", help="the project's folder, instead of this one")
    parser.add_argument("--layer", choices=LAYERS, default="", help="only this part of the memory")
    parser.add_argument("--path", default="", metavar="PREFIX", help="only paths that begin so")
    parser.add_argument(
        "--project", default="", metavar="BANK", help="only what is bound to it, wherever you are"
    )
    parser.add_argument("--branch", default="", metavar="NAME", help="only items of this branch")
    parser.add_argument(
        "--since", type=moment, metavar="TIME", help="changed since: 2026-11-30, 7d"
    )
    parser.add_argument("--until", type=_until, metavar="TIME", help="not changed after: the same")
    status = parser.add_mutually_exclusive_group()
    status.add_argument(
        "--status", choices=(ACTIVE, SUPERSEDED), default=ACTIVE, help="its status (active)"
    )
    status.add_argument(
        "--all", action="store_true", help="also what something else took the place of"
    )
    parser.add_argument("--details", action="store_true", help="what facts keep word for word")
    parser.add_argument(
        "--limit", type=positive, default=LIMIT, metavar="N", help="at most so many"
    )
    parser.add_argument("--beside", metavar="SESSION", help=argparse.SUPPRESS)


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what is found; nothing found is no error."""
    if args.beside is not None:
        return _beside(args, out)
    if not args.query:
        raise UsageError("What is to be found?", hint="`reflector recall --help` explains it.")
    found = context(args.home, args.identity)
    here = start(args.cwd)
    if args.cwd is not None and args.identity is None:
        found = context_for(found, str(here or "/"))
    query, sought = " ".join(args.query), _sought(args)
    results = recall(
        found,
        query,
        sought,
        cwd=here,
        limit=args.limit,
        details=args.details,
        told=out.progress,
    )
    if sought == ANYTHING:
        results += remembered(found, query)
    out.done()
    tell(out, results)
    return 0


def _until(text: str) -> str:
    """Read a time; a day counts up to its end."""
    instant = moment(text)
    return text if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else instant


def _sought(args: argparse.Namespace) -> Sought:
    return Sought(
        path=args.path,
        since=args.since or "",
        until=args.until or "",
        status="" if args.all else args.status,
        branch=args.branch,
        layer=args.layer,
        project=args.project,
    )


def _beside(args: argparse.Namespace, out: Output) -> int:
    """Answer a hook that has a prompt: see `runtime.prompt_hook`."""
    from reflector.runtime import too_late  # noqa: PLC0415 - for hooks alone
    from reflector.runtime.prompt_hook import answer, served  # noqa: PLC0415 - for hooks alone

    here = start(args.cwd)
    found = context_for(context(args.home, args.identity), str(here or "/"))
    said = answer(found, args.beside, here, sys.stdin.buffer)
    try:
        out.raw(said.raw)
        streams.flush()
    except BrokenPipeError:  # the hook gave up: what nobody was shown is not used
        if said.shown.text:
            too_late.note(found, late=True)
        raise
    if said.shown.text:
        too_late.note(found, late=False)
    served(found, args.beside, said)
    return 0
