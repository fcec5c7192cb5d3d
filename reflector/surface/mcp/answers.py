"""What the tools answer: models with stable keys, each bounded in size, without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from reflector.runtime.recall import Found
from reflector.surface.api.values import Decided, Document, Reflected, Written
from reflector.surface.mcp.words import MOST_CHARACTERS, MOST_DOCUMENTS

_MOST_ROWS = 20
_MOST_PATHS = 50
_LONGEST_TEXT = 1000


class Listed(BaseModel):
    """One document in a list."""

    path: str
    description: str
    tokens: int
    in_context: bool
    read_only: bool
    problem: str | None


class Listing(BaseModel):
    """Documents, sorted by path. `next` says behind which path to go on, None at the end."""

    documents: list[Listed]
    next: str | None


class Text(BaseModel):
    """A part of a document: the lines from `from_line` to `to_line` of `lines` in all."""

    path: str
    text: str
    from_line: int
    to_line: int
    lines: int
    next_line: int | None


class Passage(BaseModel):
    """A passage of a document that fits a query; `why` says which words stand where.

    `id` is that of an experience or a fact, `details` what a fact keeps word for word, if asked for.
    """

    path: str
    id: str | None
    layer: str
    status: str
    excerpt: str
    score: float
    updated_at: str
    age_days: int
    why: str
    details: str | None = None


class Passages(BaseModel):
    """Passages, the best first."""

    results: list[Passage]


class Saying(BaseModel):
    """What somebody said in a conversation, or a tool answered, that fits a query."""

    conversation: str
    entry: str
    kind: str
    excerpt: str
    score: float
    updated_at: str
    why: str


class Sayings(BaseModel):
    """What was said, the best first."""

    results: list[Saying]


class Change(BaseModel):
    """The commit of a change. `more_paths` counts those that are not named."""

    commit: str
    paths: list[str]
    more_paths: int
    warnings: list[str]


class Note(BaseModel):
    """A note as it was kept: without secrets, other people made general."""

    text: str


class Word(BaseModel):
    """Something that was said or done in a conversation, and whether the line names it."""

    kind: str
    at: str
    conversation: str
    title: str
    text: str
    cited: bool
    note: str


class Origin(BaseModel):
    """Where a line comes from. `more_entries` counts what was read besides `entries`."""

    path: str
    line: int
    text: str
    commit: str
    subject: str
    at: str
    author: str
    writer: str
    run: str | None
    conversations: list[str]
    entries: list[Word]
    more_entries: int


class Reflection(BaseModel):
    """What came of asking for a reflection; what lies behind `run` is filled once it ended."""

    decision: str = Field(description="reserved, queued, refused or nothing")
    run: str | None
    why: str | None
    until: str | None
    supervisor: str
    outcome: str | None
    detail: str
    learned: dict[str, list[str]]


class Status(BaseModel):
    """How the memory is; lists hold the first rows only, and counts all."""

    identity: str
    revision: str | None
    documents: int
    system_tokens: int
    budget_tokens: int
    recording: bool
    parked: bool
    engine: str
    active: list[dict[str, Any]]
    pending: list[dict[str, Any]]
    last_runs: list[dict[str, Any]]
    conversations: list[dict[str, Any]]
    conversations_in_all: int
    problems: list[dict[str, Any]]
    notices: list[dict[str, Any]]


def passages(found: Sequence[Found]) -> Passages:
    """Put what a memory recalls into the form of an answer."""
    return Passages(results=[Passage.model_validate(each.as_json()) for each in found])


def sayings(found: Sequence[Found]) -> Sayings:
    """Put what a journal holds into the form of an answer."""
    return Sayings(results=[Saying.model_validate(each.as_json()) for each in found])


def listing(found: Sequence[Document], after: str) -> Listing:
    """Return as many documents behind `after` as one answer holds."""
    rest = [_listed(each) for each in found if each.path > after]
    shown: list[Listed] = []
    size = 0
    for each in rest[:MOST_DOCUMENTS]:
        size += len(each.path) + len(each.description)
        if shown and size > MOST_CHARACTERS:
            break
        shown.append(each)
    return Listing(documents=shown, next=shown[-1].path if len(rest) > len(shown) else None)


def _listed(each: Document) -> Listed:
    return Listed(
        path=each.path,
        description=cut(each.description, _LONGEST_TEXT),
        tokens=each.tokens,
        in_context=each.in_context,
        read_only=each.read_only,
        problem=each.problem or None,
    )


def text(path: str, whole: str, from_line: int) -> Text:
    """Return lines from this one on, as many as one answer holds; a single huge line is cut."""
    lines = whole.removesuffix("\n").split("\n")
    shown: list[str] = []
    size = 0
    for line in lines[from_line - 1 :]:
        if shown and size + len(line) > MOST_CHARACTERS:
            break
        shown.append(cut(line, MOST_CHARACTERS))
        size += len(line) + 1
    last = from_line - 1 + len(shown)
    return Text(
        path=path,
        text="\n".join(shown),
        from_line=from_line,
        to_line=last,
        lines=len(lines),
        next_line=last + 1 if last < len(lines) else None,
    )


def cut(text: str, most: int, rest: str = "") -> str:
    """Keep the beginning of a text and say how much is left out; `rest` says how to read on."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… [{len(text) - most} characters left out{rest}]"


def change(done: Written) -> Change:
    """Return what a change became."""
    return Change(
        commit=done.commit,
        paths=list(done.paths[:_MOST_PATHS]),
        more_paths=max(0, len(done.paths) - _MOST_PATHS),
        warnings=[cut(each, _LONGEST_TEXT) for each in done.warnings[:_MOST_ROWS]],
    )


def origin(found: Mapping[str, Any]) -> Origin:
    """Return where a line comes from: the entries that it names, else the first that were read."""
    entries: Sequence[Mapping[str, Any]] = found["entries"]
    shown = ([each for each in entries if each["cited"]] or list(entries))[:_MOST_ROWS]
    words = [
        Word(
            **{name: each[name] for name in ("kind", "at", "conversation", "cited", "note")},
            title=cut(each["title"], _LONGEST_TEXT),
            text=cut(each["text"], _LONGEST_TEXT),
        )
        for each in shown
    ]
    plain = ("path", "line", "commit", "subject", "at", "author", "writer")
    return Origin(
        **{name: found[name] for name in plain},
        text=cut(found["text"], _LONGEST_TEXT),
        run=found["run_id"],
        conversations=list(found["conversations"][:_MOST_ROWS]),
        entries=words,
        more_entries=len(entries) - len(shown),
    )


def reflection(asked: Decided, done: Reflected | None = None) -> Reflection:
    """Return what was decided, and what a run that ended has learned."""
    run = done.runs[0] if done and done.runs else {}
    learned = done.learned if done else {}
    return Reflection(
        decision=asked.decision,
        run=asked.run,
        why=asked.why,
        until=asked.until,
        supervisor=asked.supervisor,
        outcome=run.get("outcome"),
        detail=cut(str(run.get("detail") or ""), _LONGEST_TEXT),
        learned={
            path: [cut(line, _LONGEST_TEXT) for line in lines[:_MOST_ROWS]]
            for path, lines in list(learned.items())[:_MOST_ROWS]
        },
    )


_RUN = ("id", "pipeline", "trigger", "phase", "outcome", "reason", "detail", "ended_at")
_TALK = ("id", "title", "steps_since_reflection", "unreflected_bytes", "next_eligible_at")


def status(found: Mapping[str, Any]) -> Status:
    """Return the part of the status that a model can do something with."""
    memory = found["memory"]
    return Status(
        identity=found["identity"],
        revision=memory["head"],
        documents=memory["documents"],
        system_tokens=memory["system_tokens"],
        budget_tokens=memory["budget_tokens"],
        recording=found["consent"]["recording"],
        parked=found["park"]["parked"],
        engine=found["engine"]["selected"],
        active=_rows(found["active"], _RUN),
        pending=_rows(found["pending"], _RUN),
        last_runs=_rows(found["last_runs"], _RUN),
        conversations=_rows(found["conversations"], _TALK),
        conversations_in_all=len(found["conversations"]),
        problems=_rows(found["problems"], ("code", "message", "hint")),
        notices=_rows(found["notices"], ("code", "message")),
    )


def _rows(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    return [{key: _short(each.get(key)) for key in keys} for each in rows[:_MOST_ROWS]]


def _short(value: Any) -> Any:
    return cut(value, _LONGEST_TEXT) if isinstance(value, str) else value


def noted(text: str) -> Note:
    """Return a note that was kept."""
    return Note(text=text)
