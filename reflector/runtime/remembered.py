"""What of the diary comes to mind when a person searches: beside the documents, and never scored."""

from __future__ import annotations

from reflector.runtime.recall import DIARY, Found
from reflector.runtime.wiring import Context


def remembered(context: Context, query: str) -> list[Found]:
    """Return what comes to mind; nothing while no diary is kept. It does not count as mentioned."""
    if not context.settings.flag("diary.enabled"):
        return []
    from reflector.pipelines.diary import block  # noqa: PLC0415 - most keep no diary
    from reflector.runtime.diary.shown import recalled, today_of  # noqa: PLC0415

    today = today_of(context)
    return [
        Found(
            0, block.line(each, today).removeprefix("- "), "", "", item=each.entry.id, layer=DIARY
        )
        for each in recalled(context, query, "")
    ]
