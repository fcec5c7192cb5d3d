"""The fact that is made of a user's own words when no model could say it better."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.entry import Kind
from reflector.core.experience import EpisodicFact
from reflector.core.redact import redact_record
from reflector.pipelines.experiences.rows import Row, contents, spoken

MOST = 600


def fallback(rows: Sequence[Row]) -> EpisodicFact | None:
    """Return the head of what the user said, else of the segment; None when nothing was said.

    Whoever keeps it marks it unverified.
    """
    theirs = spoken(rows)
    shown = theirs or [one for one in rows if one.kind != Kind.REASONING]
    said = [one.text for one in theirs] or [each for one in shown for each in contents(one)]
    redacted, _ = redact_record(said)
    text = "\n\n".join(each.strip() for each in redacted if each.strip())
    if not text:
        return None
    head = text if len(text) <= MOST else f"{text[:MOST].rstrip()}…"
    return EpisodicFact(statement=head, evidence=tuple(one.id for one in shown))
