"""Where a statement goes in memory, which line says it already, and which line it corrects."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from reflector.agent.statements import Statement, find_statements, words
from reflector.memory.budget import estimate_tokens

HUMAN = "system/human.md"
PREFERENCES = "reference/preferences.md"
FACTS = "reference/facts.md"
DECISIONS = "reference/decisions.md"
TARGETS = (HUMAN, PREFERENCES, FACTS, DECISIONS)
HUMAN_LIMIT = 3000
_HEADING = 8  # tokens that a new section and line ends take beside a line
DESCRIPTIONS: Mapping[str, str] = {
    HUMAN: "Who I work with, and the preferences and corrections that hold in every conversation.",
    PREFERENCES: "More preferences and corrections of the person; read before choosing tools or style.",
    FACTS: "Facts that the person asked to remember, by project; read before assuming or asking.",
    DECISIONS: "Decisions that the person reported, by project; read before proposing another way.",
}

Refusal = Literal["already in memory", "replaced later in this run", "document is protected"]

_OURS = re.compile(r"- (?P<text>.+) \(\d{4}-\d\d-\d\d\)\Z")
_SECTION = re.compile(r"## (?P<name>.*\S)\s*\Z")


@dataclass(frozen=True, slots=True)
class Note:
    """A statement with its origin. `text` has absolute dates, `day` is when it was said."""

    statement: Statement
    text: str
    project: str
    day: str
    conversation: str
    entry: str
    at: str = ""

    @property
    def line(self) -> str:
        """Return the line of the document."""
        return f"- {self.text} ({self.day})"


@dataclass(frozen=True, slots=True)
class Written:
    """A line that a note became. `replaced` is the line that stood there before the run, or ""."""

    note: Note
    path: str
    replaced: str = ""


@dataclass(slots=True)
class Memory:
    """The bodies of the target documents while notes are entered, by path.

    A path that is in `protected` is not written. What was entered is in `written`, in order. `left`
    are the tokens by which what is always shown may still grow, None for any number.
    """

    bodies: dict[str, str]
    protected: frozenset[str] = frozenset()
    left: int | None = None
    written: list[Written] = field(default_factory=list)
    refused: list[tuple[Note, Refusal]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Note what the documents say already."""
        self.said |= {normalised(one) for body in self.bodies.values() for one in body.split("\n")}

    def enter(self, notes: Iterable[Note]) -> None:
        """Enter notes in the order in which they were said."""
        for note in notes:
            refusal = self._enter(note)
            if refusal:
                self.refused.append((note, refusal))

    def _enter(self, note: Note) -> Refusal | None:
        said = normalised(note.text)
        if said in self.said:
            return "already in memory"
        self.said.add(said)
        for path, line in self._candidates(note):
            if supersedes(note.statement, line):
                self._replace(note, path, line)
                return None
        path = self._home(note)
        if not path:
            return "document is protected"
        self._add(note, path)
        self._grow(note, path)
        self.written.append(Written(note, path))
        return None

    def _candidates(self, note: Note) -> Iterator[tuple[str, str]]:
        """Yield the lines that an engine like this one wrote and that this note may correct."""
        for path in TARGETS:
            if path in self.protected:
                continue
            section = note.project if path in (FACTS, DECISIONS) else ""
            yield from ((path, line) for line in own_lines(self.bodies.get(path, ""), section))

    def _replace(self, note: Note, path: str, line: str) -> None:
        lines = self.bodies[path].split("\n")
        place = (
            path if self._fits(note, path, line) or PREFERENCES in self.protected else PREFERENCES
        )
        at = lines.index(line)
        # Where there is no room for the longer line, the old one goes all the same.
        lines[at : at + 1] = [note.line] if place == path else []
        self.said.discard(normalised(line))
        self.bodies[path] = "\n".join(lines)
        self._grow(note, path, line)
        if place != path:
            self._add(note, place)
        earlier = next(
            (one for one in self.written if (one.path, one.note.line) == (path, line)), None
        )
        if earlier is None:
            self.written.append(Written(note, place, replaced=line))
            return
        self.written.remove(earlier)
        self.refused.append((earlier.note, "replaced later in this run"))
        self.written.append(Written(note, place, replaced=earlier.replaced))

    def _add(self, note: Note, path: str) -> None:
        body = self.bodies.get(path, f"# {_title(path)}\n")
        self.bodies[path] = with_line(body, _section(note, path), note.line)

    def _fits(self, note: Note, path: str, instead: str = "") -> bool:
        """Tell whether a document takes a line; only what is always shown has a limit."""
        if path != HUMAN or self.left is None:
            return True
        return estimate_tokens(note.line) - estimate_tokens(instead) <= self.left - _HEADING

    def _grow(self, note: Note, path: str, instead: str = "") -> None:
        if path == HUMAN and self.left is not None and self._fits(note, path, instead):
            self.left -= estimate_tokens(note.line) - estimate_tokens(instead) + _HEADING

    def _home(self, note: Note) -> str:
        """Return the document for a new line, "" when all that fit are protected."""
        paths: tuple[str, ...]
        match note.statement.kind:
            case "fact":
                paths = (FACTS,)
            case "decision":
                paths = (DECISIONS,)
            case "preference" | "correction":
                full = len(self.bodies.get(HUMAN, "")) + len(note.line) > HUMAN_LIMIT
                full = full or not self._fits(note, HUMAN)
                paths = (PREFERENCES,) if full else (HUMAN, PREFERENCES)
        return next((path for path in paths if path not in self.protected), "")


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").capitalize()


def _section(note: Note, path: str) -> str:
    if path in (FACTS, DECISIONS):
        return note.project
    return "Corrections" if note.statement.kind == "correction" else "Preferences"


def with_line(body: str, section: str, line: str) -> str:
    """Return a body with a line at the end of a section, which is made when it is not there."""
    lines = body.rstrip("\n").split("\n")
    heads = [at for at, one in enumerate(lines) if _names(one, section)]
    if not heads:
        start = "" if lines == [""] else "\n".join(lines) + "\n\n"
        return f"{start}## {section}\n\n{line}\n"
    end = next(
        (at for at in range(heads[0] + 1, len(lines)) if lines[at].startswith(("# ", "## "))),
        len(lines),
    )
    last = max(at for at in range(heads[0], end) if lines[at].strip())
    gap = [""] if last == heads[0] else []
    after = lines[last + 1 :]
    return "\n".join([*lines[: last + 1], *gap, line, *after]).rstrip("\n") + "\n"


def own_lines(body: str, section: str = "") -> Iterator[str]:
    """Yield the lines of a body that carry our date mark, of one section or of all.

    Lines without the mark are a person's own, and are left alone.
    """
    inside = not section
    for line in body.split("\n"):
        if section and line.startswith("## "):
            inside = _names(line, section)
        if inside and _OURS.match(line):
            yield line


def _names(line: str, section: str) -> bool:
    match = _SECTION.match(line)
    return match is not None and match["name"] == section


def normalised(text: str) -> str:
    """Return what two lines that say the same have in common."""
    match = _OURS.match(text)
    plain = unicodedata.normalize("NFKC", match["text"] if match else text).casefold()
    # `C`, `C++` and `C#` are three things.
    return "".join(sign for sign in plain if sign.isalnum() or sign in "+#")


@dataclass(frozen=True, slots=True)
class _Line:
    """What a line of ours says."""

    words: frozenset[str]
    subject: frozenset[str]
    kind: str
    negative: bool
    chosen: frozenset[str]


@lru_cache(maxsize=4096)
def _parsed(line: str) -> _Line | None:
    match = _OURS.match(line)
    if match is None:
        return None
    there = words(match["text"])
    found = find_statements(match["text"])
    if not found:
        return _Line(there, there - _ARTICLES, kind="", negative=False, chosen=frozenset())
    one = found[0]
    return _Line(there, one.subject, one.kind, one.negative, words(one.chosen))


def supersedes(statement: Statement, line: str) -> bool:
    """Tell whether a statement corrects what a line of ours says, rather than adding to it."""
    known = _parsed(line)
    if known is None:
        return False
    if statement.rejected and not known.negative and _rejects(statement, known):
        return True
    if known.kind == statement.kind == "preference" and known.negative != statement.negative:
        return _close(statement.subject, known.subject)
    return statement.kind == "correction" and _other_value(statement.subject, known.subject)


def _close(one: frozenset[str], other: frozenset[str]) -> bool:
    same = one & other
    return len(same) >= 2 and same in (one, other) and len(same) * 10 >= len(one | other) * 8


def _rejects(statement: Statement, known: _Line) -> bool:
    """Tell whether a line stands for what the statement turns away ("use X, not Y")."""
    old = words(statement.rejected) - _ARTICLES  # cached: one statement meets many lines
    there = known.chosen or known.words
    if not old or not old <= there:
        return False
    new = words(statement.chosen) - _ARTICLES
    if new and new <= there:
        return False
    rest = known.words - old - _ARTICLES
    return bool(known.chosen) or len(rest) <= 2 or bool(rest & (statement.subject - old - new))


def _other_value(new: frozenset[str], old: frozenset[str]) -> bool:
    """Tell whether two subjects differ in one value only (`5432` and `5433`)."""
    added, gone = new - old, old - new
    return (
        len(new & old) >= 2
        and len(added) == len(gone) == 1
        and all(any(sign.isdigit() for sign in word) for word in added | gone)
    )


_ARTICLES = frozenset(("a", "an", "the", "for", "in", "to", "use", "with", "of", "we", "please"))
