"""What a search through every byte of the home found, told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reflector.runtime.diary.search import Searched
from reflector.runtime.forgetting.proof import shown
from reflector.surface.cli.output import counted, safe


def lines(found: Searched) -> Iterator[str]:
    """Yield what was looked at, and where it still is."""
    if not found.texts:
        yield "Nothing of it is long enough to be looked for elsewhere: it would be found by chance."
        return
    looked = (
        f"{counted(found.files, 'file')}, {counted(found.objects, 'git object')} and "
        f"{counted(found.tables, 'database')} for {counted(found.texts, 'text')}"
    )
    if found.still:
        yield f"Searched {looked}: it is still in"
        yield from (f"  {safe(place)}" for place in shown(list(found.still)))
    else:
        yield f"Searched {looked}: found nowhere."


def as_json(found: Searched) -> dict[str, Any]:
    """Return the machine form."""
    return {
        "texts": found.texts,
        "files": found.files,
        "git_objects": found.objects,
        "databases": found.tables,
        "still_in": list(found.still),
    }
