"""An experience or a fact as it is listed, in both forms."""

from __future__ import annotations

from reflector.core.cleaning import clean
from reflector.core.ellipsis import shortened
from reflector.memory.experiences.form import Stored
from reflector.surface.cli.output import Output, safe

_LONGEST = 160


def as_json(one: Stored) -> dict[str, object]:
    """Return the machine form, without the text."""
    name = "task" if one.layer == "experience" else "subject"
    return {
        "id": one.id,
        "layer": one.layer,
        "path": one.path,
        name: one.title or None,
        "description": one.about,
        "status": one.status,
        "verified": one.verified,
        "confidence": one.confidence,
        "project": one.project or None,
        "branch": one.branch or None,
        "created": one.created,
        "updated": one.updated or None,
        "supersedes": list(one.supersedes),
        "superseded_by": one.superseded_by or None,
    }


def line(one: Stored, out: Output) -> str:
    """Return it on one line for a person."""
    short = shortened(clean(one.about), _LONGEST)
    marks = "".join(f"  {out.style(mark, 'yellow')}" for mark in _marks(one))
    day = (one.updated or one.created)[:10]
    return f"{out.style(one.id, 'bold')}  {day}  {safe(short)}{marks}"


def _marks(one: Stored) -> list[str]:
    """Return what a reader must know before the text: what it is not."""
    gone = f"superseded by {safe(one.superseded_by)}" if one.superseded_by else "superseded"
    return [
        *([gone] if one.status == "superseded" else ()),
        *(["unverified"] if not one.verified else ()),
    ]


def text_of(one: Stored) -> list[str]:
    """Return the solution or the statement as lines that drive no terminal."""
    return [f"  {safe(each)}" for each in clean(one.body).expandtabs(4).split("\n")]
