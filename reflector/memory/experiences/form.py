"""One experience or fact as its document: rendered and read back without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal, NoReturn, cast

from reflector.core.ambient import stamp
from reflector.core.ellipsis import shortened
from reflector.core.errors import DocumentError
from reflector.core.experience import CONFIDENCE
from reflector.core.visible import visible
from reflector.memory.document import MAX_DESCRIPTION, Document, new
from reflector.memory.document import parse as parse_document
from reflector.memory.document import render as render_document
from reflector.memory.experiences import plain

Layer = Literal["experience", "fact"]
Status = Literal["active", "superseded"]

FOLDERS: Mapping[Layer, str] = {"experience": "experiences/", "fact": "facts/"}
ID_DIGITS = 8
DETAILS = "## Details"

_HEAD = 200
_SLUG = 48
_ID = re.compile(r"(?:\A|-)([0-9a-f]{8})\.md\Z")
_DETAILS = re.compile(r"^## Details[ \t]*$", re.MULTILINE)
# What the rules refuse in any document: a literal variable, and what looks like a merge conflict.
_AGENT_ID = re.compile(r"\$(AGENT_ID\b|\{AGENT_ID\})")
_CONFLICT = re.compile(r"^(?=<<<<<<< )", re.MULTILINE)
_TEXTS = ("supersedes", "evidence", "search_keys", "files", "boundary_envs")
_OURS = frozenset(
    {*_TEXTS, "description", "subject", "status", "confidence", "verified", "project", "branch"}
    | {"created", "updated", "superseded_by", "source"}
)


@dataclass(frozen=True, slots=True)
class Stored:
    """An experience or a fact as the memory keeps it. `project` is the key of a bank.

    `title` is the task of an experience, or the subject of a fact, "" when it has none; `body` the
    solution, or the statement. `created` and `updated` are instants as `stamp` writes them,
    `supersedes` and `superseded_by` ids, `evidence` ids of entries. `details` a fact keeps only.
    `more` are the lines of other keys, which a person wrote: no run may change or drop them. What
    is `read_only`, or has lines that cannot be kept as they are, no run may change at all.
    """

    layer: Layer
    id: str
    path: str
    title: str
    body: str
    created: str
    updated: str = ""
    project: str = ""
    branch: str = ""
    confidence: float = CONFIDENCE
    verified: bool = True
    status: Status = "active"
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    boundary_envs: str = ""
    search_keys: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    source: str = "auto"
    details: str = ""
    more: str = ""
    read_only: bool = False

    @property
    def about(self) -> str:
        """Return what its document says it is about: the task, or the subject and what is known."""
        title, text = _line(self.title), _line(self.body)
        if self.layer == "experience":
            return shortened(title or text, MAX_DESCRIPTION)
        head = shortened(text, _HEAD)
        return f"{title}: {head}" if title else head


def path_for(layer: Layer, title: str, which: str, created: str) -> str:
    """Return where an item lies. Of a title in a script without letters a to z its id is left."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_SLUG].strip("-")
    month = f"{created[:7]}/" if layer == "fact" else ""
    return f"{FOLDERS[layer]}{month}{f'{slug}-' if slug else ''}{which}.md"


def layer_of(path: str) -> Layer | None:
    """Return which layer a path belongs to, None for any other document."""
    return next((layer for layer, folder in FOLDERS.items() if path.startswith(folder)), None)


def id_of(path: str) -> str:
    """Return the id in a path, "" when there is none."""
    found = _ID.search(path.rpartition("/")[2])
    return found[1] if found else ""


def render(stored: Stored) -> bytes:
    """Write an item's document. Raises DocumentError for what no header can hold."""
    values: dict[str, object] = {
        "subject": _line(stored.title) if stored.layer == "fact" else "",
        "status": stored.status,
        "confidence": stored.confidence,
        "verified": stored.verified,
        "project": stored.project,
        "branch": _line(stored.branch),
        "created": stored.created,
        "updated": stored.updated,
        "supersedes": stored.supersedes,
        "superseded_by": stored.superseded_by,
        "search_keys": tuple(map(_line, stored.search_keys)),
        "boundary_envs": tuple(filter(None, map(_line, stored.boundary_envs.split("\n")))),
        "files": tuple(map(_line, stored.files)),
        "evidence": tuple(map(_line, stored.evidence)),
        "source": stored.source,
    }
    kept = {key: value for key, value in values.items() if value not in ("", ())}
    made = new(stored.about, _body(stored), **kept)
    if not stored.more:
        return render_document(made)
    header = made.header.removesuffix("---\n")
    raw = render_document(replace(made, header=f"{header}{stored.more}\n---\n"))
    parse_document(stored.path, raw)  # what they were written among may have given them their form
    return raw


def parse(path: str, raw: bytes) -> Stored:
    """Read an item's document.

    Raises DocumentError with the facts `path`, `line` and `code`, also for a document that a person
    wrote there and that lacks what makes it an item.
    """
    # Thousands are read at once, and nearly all are as they were written: for those YAML is slow.
    quick = plain.read(raw, _OURS)
    if quick is not None:
        try:
            return _stored(_Header(path, quick[0], {}), quick[1])
        except DocumentError:
            pass  # YAML knows the line
    document = parse_document(path, raw)
    fields = document.fields
    values = {key: one.value for key, one in fields.items()}
    head = _Header(path, values, {key: one.line for key, one in fields.items()})
    found = _stored(head, document.body, document.header.count("\n") + 1)
    more = _more(document)
    return replace(found, more=more, read_only=document.read_only or not _repeatable(more))


def _stored(head: _Header, text: str, text_at: int = 0) -> Stored:
    path = head.path
    layer, which = layer_of(path), id_of(path)
    if layer is None:
        _refuse(path, 1, "It lies neither in experiences/ nor in facts/.")
    if not which:
        _refuse(path, 1, f"Its name does not end with an id of {ID_DIGITS} digits (0-9, a-f).")
    body, details = parts(layer, text)
    if not body.strip():
        _refuse(path, text_at, "It has no text below the header.")
    status = head.text("status") or "active"
    if status not in ("active", "superseded"):
        head.refuse("status", "is neither 'active' nor 'superseded'")
    created = head.instant("created")
    if not created:
        _refuse(path, 1, "The header has no 'created'.")
    supersedes, evidence, keys, files, envs = map(head.texts, _TEXTS)
    return Stored(
        layer,
        which,
        path,
        title=head.text("subject") if layer == "fact" else str(head.values["description"]),
        body=body,
        created=created,
        updated=head.instant("updated"),
        project=head.text("project"),
        branch=head.text("branch"),
        confidence=head.share("confidence"),
        verified=head.flag("verified"),
        status=cast("Status", status),
        supersedes=supersedes,
        superseded_by=head.text("superseded_by"),
        boundary_envs="\n".join(envs),
        search_keys=keys,
        evidence=evidence,
        files=files,
        source=head.text("source") or "auto",
        details=details,
    )


def parts(layer: Layer, body: str) -> tuple[str, str]:
    """Return the text of a body, and what a fact keeps word for word."""
    found = _DETAILS.search(body) if layer == "fact" else None
    if found is None:
        return body.strip("\n"), ""
    return body[: found.start()].strip("\n"), body[found.end() :].strip("\n")


def superseded(document: Document) -> bool:
    """Tell whether something took a document's place; a person may have written one side alone."""
    return bool(document.value("superseded_by")) or document.value("status") == "superseded"


def _more(document: Document) -> str:
    return "\n".join(one.source for key, one in document.fields.items() if key not in _OURS)


def _repeatable(more: str) -> bool:
    """Tell whether lines mean the same wherever they stand: not all of YAML does."""
    try:
        return not more or _more(parse_document("", _header_of(more))) == more
    except DocumentError:
        return False


def _header_of(more: str) -> bytes:
    return f"---\ndescription: x\n{more}\n---\n".encode()


@dataclass(frozen=True, slots=True)
class _Header:
    """What the keys of a header say, as what they are to be, and on which lines they stand."""

    path: str
    values: Mapping[str, object]
    lines: Mapping[str, int]

    def refuse(self, key: str, what: str) -> NoReturn:
        _refuse(self.path, self.lines.get(key, 0), f"The key '{key}' {what}.")

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if value is None:
            return ""
        if isinstance(value, bool | float | list | dict | date):
            self.refuse(key, "is no text; put it in quotes")
        return str(value).strip()  # an id of digits alone, unless it is quoted, is a number

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        found = value if isinstance(value, list) else str(value).split("\n") if value else []
        if not all(isinstance(one, str | int) for one in found):
            self.refuse(key, "is no list of texts")
        return tuple(text for one in found if (text := str(one).strip()))

    def instant(self, key: str) -> str:
        value = self.values.get(key)
        text = value.isoformat() if isinstance(value, date) else str(value or "")
        if not text:
            return ""
        try:
            moment = datetime.fromisoformat(text)
            return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        except (ValueError, OverflowError):  # no year 10000, were it only in another zone
            self.refuse(key, "is no instant such as 2026-11-30T12:00:00Z")

    def share(self, key: str) -> float:
        value = self.values.get(key)
        if value is None:
            return CONFIDENCE
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.refuse(key, "is no number from 0 to 1")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value not in (None, True, False, "true", "false"):
            self.refuse(key, "is neither true nor false")
        return value in (None, True, "true")


def _body(stored: Stored) -> str:
    text = _plain(stored.body)
    if stored.layer == "experience":
        return f"{text}\n"
    # Only the host's own heading divides what is searched from what is kept word for word.
    text = _DETAILS.sub(f"#{DETAILS}", text)
    details = _plain(stored.details)
    return f"{text}\n\n{DETAILS}\n\n{details}\n" if details else f"{text}\n"


def _line(text: str) -> str:
    return _AGENT_ID.sub(r"\1", visible(text))


def _plain(text: str) -> str:
    """Return a text that may stand in a document, without blank lines around it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    text = _AGENT_ID.sub(r"\1", text.encode("utf-8", "replace").decode())
    return _CONFLICT.sub(" ", text).strip("\n")


def _refuse(path: str, line: int, sentence: str) -> NoReturn:
    raise DocumentError(
        f"{path}:{line}: {sentence}", path=path, line=line, code="stored_broken", sentence=sentence
    )
