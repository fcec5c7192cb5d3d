"""What a search found, as it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.memory.indexed import SUPERSEDED
from reflector.runtime.recall import DIARY, Found
from reflector.surface.cli.output import Output, safe


def tell(out: Output, results: Sequence[Found]) -> None:
    """Show results, the best first, in the form asked for."""
    for each in results:
        if each.layer == DIARY:
            out.say(f"{out.style(DIARY, 'bold')}  {safe(each.excerpt)}")
            continue
        where = each.path or f"{each.conversation}  {each.entry} ({each.kind})"
        about = f"  {safe(each.about)}" if each.about else ""
        out.say(
            f"{out.style(safe(where), 'bold')}{about}",
            f"  {safe(each.excerpt)}",
            out.style(f"  {_standing(each)}{safe(each.why)}", "dim"),
        )
        if each.details:
            out.say(*(f"  | {safe(line)}" for line in each.details.split("\n")))
    if not results:
        out.say("Nothing was found.")
    out.object({"results": [each.as_json() for each in results]})


def _standing(each: Found) -> str:
    gone = "superseded  " if each.status == SUPERSEDED else ""
    name = f"{safe(each.item)}  " if each.item else ""
    return f"{each.updated_at[:10]}  {gone}{name}"
