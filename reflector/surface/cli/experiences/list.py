"""`reflector experiences list`, and the same for facts."""

from __future__ import annotations

import argparse

from reflector.memory.experiences.form import FOLDERS, Layer
from reflector.runtime.experiences.reading import held
from reflector.runtime.wiring import context
from reflector.surface.cli.experiences.rows import as_json, line
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output, counted

_LIMIT = 20


def configure(parser: argparse.ArgumentParser, layer: Layer = "experience") -> None:
    """Add which of them."""
    parser.description = (
        f"The {layer}s of this memory as committed, the newest first; what something else took the"
        " place of is left out."
    )
    parser.add_argument("--project", metavar="BANK", help="only what is bound to this project")
    status = parser.add_mutually_exclusive_group()
    status.add_argument(
        "--status", choices=("active", "superseded"), default="active", help="its status (active)"
    )
    status.add_argument("--all", action="store_true", help="whatever their status is")
    parser.add_argument(
        "--limit", type=positive, default=_LIMIT, metavar="N", help=f"at most so many ({_LIMIT})"
    )


def run(args: argparse.Namespace, out: Output, layer: Layer = "experience") -> int:
    """List them; none is no error."""
    here = held(context(args.home, args.identity), layer)
    found = [
        one
        for one in here.kept.of(layer)
        if (args.all or one.status == args.status) and args.project in (None, one.project)
    ]
    shown = found[: args.limit]
    out.say(*(line(one, out) for one in shown))
    if not found:
        out.say(_none(layer) if not here.kept.of(layer) else f"There is no {layer} like that.")
    elif len(found) > len(shown):
        out.say(f"{len(found) - len(shown)} more; --limit shows them.")
    if here.kept.others:
        out.say(
            f"{counted(len(here.kept.others), 'other document')} in {FOLDERS[layer]}:"
            " `reflector memory lint` says why."
        )
    out.object(
        {
            "revision": here.revision,
            "total": len(found),
            "others": len(here.kept.others),
            f"{layer}s": [as_json(one) for one in shown],
        }
    )
    return 0


def _none(layer: Layer) -> str:
    return f"There are no {layer}s yet; `reflector experiences extract` reads what waits."
