"""`reflector prompt`."""

from __future__ import annotations

import argparse

from reflector.memory.compile import Block
from reflector.runtime import block_cache
from reflector.runtime.compiled import Wanted, compile_block, limits
from reflector.runtime.wiring import Context, context, context_for
from reflector.surface.cli.here import start
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output

_COLUMNS = ("tokens", "floor", "ceiling", "omitted")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add for whom and how large, and the explanation."""
    parser.description = (
        "Print the compiled memory block, exactly as an agent would get it, from the committed"
        " memory and the MEMORY.md files of a session that starts in DIR."
    )
    parser.add_argument("--cwd", metavar="DIR", help="where the session starts, instead of here")
    parser.add_argument("--query", metavar="TEXT", help="what the session is about")
    parser.add_argument(
        "--budget", type=positive, metavar="N", help="tokens, instead of the setting"
    )
    parser.add_argument("--explain", action="store_true", help="a table of sections and sizes")
    parser.add_argument("--hook", action="store_true", help=argparse.SUPPRESS)


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the block, and keep it for the hooks when it is what they would print."""
    found = context(args.home, args.identity)
    here = start(args.cwd)
    if args.cwd is not None and args.identity is None:
        found = context_for(found, str(here or "/"))
    wanted = Wanted(here, args.budget or 0, by_hook=args.hook, query=args.query or "")
    stamps = block_cache.stamped(found, here)
    revision, block = compile_block(found, wanted)
    usual = Wanted(here, by_hook=True)
    if not args.query and limits(found.settings, wanted) == limits(found.settings, usual):
        block_cache.save(found, here, stamps, revision, block)
    _print(found, wanted, revision, block, args, out)
    return 0


def _print(
    found: Context,
    wanted: Wanted,
    revision: str,
    block: Block,
    args: argparse.Namespace,
    out: Output,
) -> None:
    if args.explain:
        out.say(*_table(block), f"revision {revision[:12]}, for {wanted.start or 'no folder'}")
        tokens, chars = limits(found.settings, wanted)
        out.say(f"at most {tokens} tokens and {chars} characters; this has {len(block.text)}")
    else:
        out.exact(block.text)
    rows = [
        {"name": each.name} | {column: getattr(each, column) for column in _COLUMNS}
        for each in block.sections
    ]
    out.object({"revision": revision, "text": block.text, "tokens": block.tokens, "sections": rows})


def _table(block: Block) -> list[str]:
    head = f"{'section':<22}" + "".join(f"{column:>9}" for column in _COLUMNS)
    rows = [
        f"{each.name:<22}" + "".join(f"{getattr(each, column):>9}" for column in _COLUMNS)
        for each in block.sections
    ]
    return [head, *rows, f"{'all':<22}{block.tokens:>9}"]
