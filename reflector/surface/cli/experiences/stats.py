"""`reflector experiences stats`, and the same for facts."""

from __future__ import annotations

import argparse
from collections import Counter

from reflector.memory.experiences.form import Layer
from reflector.runtime.experiences.reading import held
from reflector.runtime.wiring import context
from reflector.store import recall_uses
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser, layer: Layer = "experience") -> None:
    """Say what is counted."""
    parser.description = f"How many {layer}s there are, of which projects, and how many were used."


def run(args: argparse.Namespace, out: Output, layer: Layer = "experience") -> int:
    """Count a layer."""
    found = context(args.home, args.identity)
    here = held(found, layer)
    every = here.kept.of(layer)
    with found.state() as state:
        used = recall_uses.uses(state.connection)
    active = [one for one in every if one.status == "active"]
    projects = Counter(one.project for one in active)
    recalled = sum(one.path in used for one in active)
    unverified = sum(not one.verified for one in active)
    out.say(
        f"{counted(len(active), layer)}, {len(every) - len(active)} superseded",
        f"unverified: {unverified}; recalled at least once: {recalled}",
        *(f"  {safe(name or 'no project')}: {n}" for name, n in sorted(projects.items())),
    )
    out.object(
        {
            "revision": here.revision,
            "active": len(active),
            "superseded": len(every) - len(active),
            "unverified": unverified,
            "recalled": recalled,
            "others": len(here.kept.others),
            "projects": {name: n for name, n in sorted(projects.items()) if name},
            "without_project": projects[""],
            "sources": dict(sorted(Counter(one.source for one in active).items())),
            "oldest": every[-1].created if every else None,
            "newest": every[0].created if every else None,
        }
    )
    return 0
