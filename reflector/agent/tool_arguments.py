"""What the tools of an in-process engine are called with: the schemas that a model is shown."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reflector.agent.folder import MAX_BYTES


class Arguments(BaseModel):
    """What a tool is called with; nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid")


class List(Arguments):
    """List the documents below a folder, with their sizes and descriptions."""

    folder: str = Field("", description="such as system or skills/name; empty lists everything")


class Read(Arguments):
    """Read lines of a document, or of the transcript under review (path: transcript)."""

    path: str
    first_line: int = Field(1, ge=1)
    lines: int = Field(400, ge=1, le=2000)


class Search(Arguments):
    """Find lines that hold a text, in all documents or, with path, in one (or in transcript)."""

    text: str = Field(min_length=1, max_length=200)
    path: str = ""


class Write(Arguments):
    """Write a whole document. For one that exists prefer str_replace or insert."""

    path: str
    content: str = Field(max_length=MAX_BYTES)


class StrReplace(Arguments):
    """Replace a text that occurs exactly once in a document."""

    path: str
    old: str = Field(min_length=1)
    new: str


class Insert(Arguments):
    """Insert lines after a line of a document; 0 inserts at the top."""

    path: str
    after_line: int = Field(ge=0)
    text: str


class Move(Arguments):
    """Move a document to another path that is free."""

    path: str
    to: str


class Delete(Arguments):
    """Delete a document."""

    path: str


class Diff(Arguments):
    """Show everything that you have changed so far."""


class Item(Arguments):
    """One change, for the commit message."""

    text: str = Field(description="begins with the path: what changed and why")
    evidence: list[str] = Field(
        default_factory=list, description="ids of the user entries it rests on, without [entry …]"
    )


class CommitChanges(Arguments):
    """Commit all changes at once."""

    type: Literal["fix", "feat", "chore"]
    summary: str = Field(min_length=1, max_length=200)
    updates: list[Item] = Field(min_length=1)


class End(Arguments):
    """End the run with a report in six parts: summary, memory, skills, skipped, commit, issues."""

    report: str = Field(min_length=1)


def schema(model: type[Arguments]) -> dict[str, Any]:
    """Return a schema without the titles, which cost tokens and say nothing."""
    made: dict[str, Any] = _untitled(model.model_json_schema())
    return {"type": "object"} | made


def _untitled(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _untitled(each)
            for key, each in value.items()
            if key != "title" or not isinstance(each, str)
        }
    return [_untitled(each) for each in value] if isinstance(value, list) else value
