"""`reflector experiences show`, and the same for facts."""

from __future__ import annotations

import argparse

from reflector.core.cleaning import clean
from reflector.memory.experiences.form import Layer, Stored
from reflector.runtime.experiences.reading import held
from reflector.runtime.wiring import context
from reflector.surface.cli.experiences.rows import as_json, line, text_of
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser, layer: Layer = "experience") -> None:
    """Add which one."""
    parser.description = f"One {layer}, with what it depends on and what it rests on."
    parser.add_argument("id", metavar="ID", help="its id, the beginning of it, or its path")
    parser.add_argument(
        "--details", action="store_true", help="also what it keeps word for word (facts do)"
    )


def run(args: argparse.Namespace, out: Output, layer: Layer = "experience") -> int:
    """Show it."""
    here = held(context(args.home, args.identity), layer)
    one = here.named(args.id)
    details = one.details if args.details else ""
    out.say(line(one, out), *text_of(one), *_facts(one, out))
    if details:
        out.say(out.style("Details", "bold"))
        out.say(*(f"  | {safe(each)}" for each in clean(details).expandtabs(4).split("\n")))
    elif one.details:
        out.say("--details shows what was kept word for word.")
    out.object(
        {
            "revision": here.revision,
            **as_json(one),
            "text": one.body,
            "boundary_envs": [each for each in one.boundary_envs.split("\n") if each],
            "search_keys": list(one.search_keys),
            "files": list(one.files),
            "evidence": list(one.evidence),
            "source": one.source,
            "has_details": bool(one.details),
            "details": details or None,
        }
    )
    return 0


def _facts(one: Stored, out: Output) -> list[str]:
    told = {
        "path": [one.path],
        "project": [one.project],
        "branch": [one.branch],
        "depends on": one.boundary_envs.split("\n"),
        "also asked as": one.search_keys,
        "files": one.files,
        "rests on": one.evidence,
        "supersedes": one.supersedes,
    }
    return [
        f"{out.style(name, 'dim')}  {safe(clean(', '.join(filter(None, values))))}"
        for name, values in told.items()
        if any(values)
    ]
