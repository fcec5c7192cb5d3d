"""`reflector memory log`."""

from __future__ import annotations

import argparse

from reflector.core.redact import redact
from reflector.runtime.provenance import Signed, log
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.vcs.port import Identity

_OURS = f"{Identity().name} <{Identity().email}>"
"""Who signs what was written through Reflector; then the trailer alone tells who asked for it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which document."""
    parser.description = (
        "The commits that changed a document, newest first, also under names it had before."
    )
    parser.add_argument("path", metavar="PATH", help="a document, also one that was deleted")


def run(args: argparse.Namespace, out: Output) -> int:
    """List them."""
    found = log(context(args.home, args.identity), args.path)
    for each in found:
        named = "" if each.path == found[0].path else f"  (as {safe(each.path)})"
        out.say(
            f"{out.style(each.commit.sha[:12], 'yellow')} {each.commit.at[:16]} {_by(each)}",
            f"    {safe(redact(each.subject).text)}{named}",
        )
    out.object({"path": found[0].path, "commits": [_json(each) for each in found]})
    return 0


def _by(each: Signed) -> str:
    match each.writer:
        case "run":
            return f"run {safe(each.run)}"
        case "reflector":
            return "reflector init"
        case _:
            named = each.commit.author != _OURS
            return f"{each.writer} ({safe(each.commit.author)})" if named else each.writer


def _json(each: Signed) -> dict[str, object]:
    return {
        "commit": each.commit.sha,
        "path": each.path,
        "at": each.commit.at,
        "writer": each.writer,
        "run": each.run or None,
        "author": each.commit.author,
        "subject": redact(each.subject).text,
    }
