"""`reflector experiences history`, and the same for facts."""

from __future__ import annotations

import argparse

from reflector.memory.experiences.chains import chain
from reflector.memory.experiences.form import Layer
from reflector.runtime.experiences.reading import held
from reflector.runtime.wiring import context
from reflector.surface.cli.experiences.rows import as_json, line, text_of
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser, layer: Layer = "experience") -> None:
    """Add whose."""
    parser.description = f"What one {layer} took the place of and what took its, the oldest first."
    parser.add_argument("id", metavar="ID", help="its id, the beginning of it, or its path")


def run(args: argparse.Namespace, out: Output, layer: Layer = "experience") -> int:
    """Show the whole chain, whichever of its links was named."""
    here = held(context(args.home, args.identity), layer)
    one = here.named(args.id)
    links = chain(here.kept.known, one.id)
    for each in links:
        out.say(line(each, out), *text_of(each))
    out.object(
        {
            "revision": here.revision,
            "id": one.id,
            "current": [each.id for each in links if each.status == "active"],
            "chain": [{**as_json(each), "text": each.body} for each in links],
        }
    )
    return 0
