"""What a search found, as it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.runtime.recall import Found
from reflector.surface.cli.output import Output, safe


def tell(out: Output, results: Sequence[Found]) -> None:
    """Show results, the best first, in the form asked for."""
    for each in results:
        where = each.path or f"{each.conversation}  {each.entry} ({each.kind})"
        about = f"  {safe(each.about)}" if each.about else ""
        out.say(
            f"{out.style(safe(where), 'bold')}{about}",
            f"  {safe(each.excerpt)}",
            out.style(f"  {each.updated_at[:10]}  {safe(each.why)}", "dim"),
        )
    if not results:
        out.say("Nothing was found.")
    out.object({"results": [each.as_json() for each in results]})
