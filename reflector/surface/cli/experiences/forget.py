"""`reflector experiences forget`, and the same for facts."""

from __future__ import annotations

import argparse
from shlex import quote

from reflector.memory.experiences.form import Layer
from reflector.runtime.experiences.forgetting import forget
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser, layer: Layer = "experience") -> None:
    """Add which one."""
    parser.description = (
        f"Remove one {layer} from the memory, what it took the place of, and every sentence that"
        " what followed took over from these. One commit; git history keeps what was there. It is"
        " not taken from that conversation again."
    )
    parser.add_argument("id", metavar="ID", help="its id, the beginning of it, or its path")


def run(args: argparse.Namespace, out: Output, layer: Layer = "experience") -> int:
    """Forget it, and say what history still has."""
    done = forget(context(args.home, args.identity), layer, args.id)
    out.say(f"Removed from memory by commit {done.commit}.")
    out.say(*(f"  {safe(path)}: the whole file" for path in done.removed))
    out.say(*(f"  {safe(path)}: what it had taken over" for path in done.changed))
    commands = [f"reflector memory forget {quote(path)} --history" for path in done.removed]
    out.say(
        "Git history still has it, and the journal what was said. This removes it there too:",
        *(f"  {safe(command)}" for command in commands),
    )
    out.object(
        {
            "forgotten": True,
            "id": done.item.id,
            "commit": done.commit,
            "removed": list(done.removed),
            "changed": list(done.changed),
            "in_git_history": commands,
        }
    )
    return 0
