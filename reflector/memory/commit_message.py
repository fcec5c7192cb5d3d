"""The commit contract: what a run's commit message says, written and read back.

    <fix|feat|chore>(<pipeline>): <summary>

    Updates:
    - system/human.md: prefers short answers [entry claude-code:4f1c:0]
    - forget: reference/old.md: the user asked for it [entry claude-code:4f1d:0]

    Generated-By: agent memory
    Agent-ID: <id>

An item begins with the repository path that it is about; `forget:` or `wrong:` may stand before
or after the path and explains a deletion. `[entry ID]` marks name the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, cast, get_args

from reflector.core.errors import DocumentError

Kind = Literal["fix", "feat", "chore"]
Reason = Literal["", "forget", "wrong"]
KINDS: Final = get_args(Kind)
PIPELINES: Final = ("reflection", "dream", "decisions", "experiences", "facts", "diary")
GENERATED_BY: Final = ("Generated-By", "agent memory")

_SUBJECT = re.compile(rf"({'|'.join(KINDS)})\(({'|'.join(PIPELINES)})\): (\S.*)\Z")
_MARK = re.compile(r"\s*\[entry ([^\s\[\]:]+:[^\s\[\]:]+:[0-9]+)\]")
_REASON = re.compile(r"(forget|wrong):\s*")
_PATH = re.compile(
    r"`?((?:system|reference|projects|experiences|facts|skills)/[^:`]*[^:`\s]|ARCHIVE\.md)`?(?::\s*|\Z)"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): *(.*)\Z")


class Item(Protocol):
    """What a caller gives for one line of the list (an engine's `Update` is one)."""

    @property
    def text(self) -> str:
        """Return what changed and why, beginning with the path."""
        ...

    @property
    def evidence(self) -> Sequence[str]:
        """Return the ids of the user entries that it rests on."""
        ...


@dataclass(frozen=True, slots=True)
class Update:
    """One item of the list as it was read. `text` is without marks; `path` "" when none is named."""

    text: str
    evidence: tuple[str, ...] = ()
    path: str = ""
    reason: Reason = ""

    @property
    def said(self) -> str:
        """Return what it says about its path, without the conversation that it comes from."""
        return self.text.partition(": ")[2].partition(" (from ")[0]


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A message as far as it could be read: what is missing is empty."""

    kind: str
    pipeline: str
    summary: str
    updates: tuple[Update, ...]
    trailers: tuple[tuple[str, str], ...]
    separated: bool

    def trailer(self, key: str) -> str | None:
        """Return the last trailer of a name, None when there is none."""
        return next((value for name, value in reversed(self.trailers) if name == key), None)


def render(kind: str, pipeline: str, summary: str, updates: Sequence[Item], agent_id: str) -> str:
    """Write a message; an empty `agent_id` leaves its trailer out.

    Raises DocumentError when the parts make no valid message.
    """
    subject = f"{kind}({pipeline}): {_one_line(summary)}"
    if not _SUBJECT.match(subject):
        raise DocumentError(
            "The subject needs a kind, a pipeline and a summary.", code="message_subject"
        )
    items = [_item(one) for one in updates if _one_line(one.text)]
    if not items:
        raise DocumentError("A commit needs at least one update.", code="message_updates")
    trailers = [": ".join(GENERATED_BY)]
    if agent := _one_line(agent_id):
        trailers.append(f"Agent-ID: {agent}")
    return "\n".join([subject, "", "Updates:", *items, "", *trailers]) + "\n"


def parse(message: str) -> CommitMessage:
    """Read a message; never fails."""
    subject, *body = message.replace("\r\n", "\n").rstrip().split("\n")
    match = _SUBJECT.match(subject.rstrip())
    kind, pipeline, summary = match.groups() if match else ("", "", "")
    return CommitMessage(
        kind=kind,
        pipeline=pipeline,
        summary=summary,
        updates=tuple(_update(text) for text in _items(body)),
        trailers=_trailers(body),
        separated=not body or not body[0].strip(),
    )


def problems(message: str, pipeline: str) -> Iterator[tuple[str, int]]:
    """Yield the codes and line numbers of what is wrong; `pipeline` "" takes any of the set."""
    read = parse(message)
    if not read.kind:
        yield "message_subject", 1
    elif pipeline and read.pipeline != pipeline:
        yield "message_pipeline", 1
    if not read.separated:
        yield "message_body", 2
    if not read.updates:
        yield "message_updates", 0
    if read.trailer(GENERATED_BY[0]) != GENERATED_BY[1]:
        yield "message_generated_by", 0
    if read.trailer("Agent-ID") == "":
        yield "message_agent_id", 0


def _items(body: list[str]) -> list[str]:
    """Return the texts of the list; an indented line goes on with the item before it."""
    heads = [number for number, line in enumerate(body) if line.strip() == "Updates:"]
    items: list[str] = []
    for line in body[heads[0] + 1 :] if heads else ():
        if line.startswith("- ") and line[2:].strip():
            items.append(line[2:].strip())
        elif items and line[:1] in (" ", "\t") and line.strip():
            items[-1] += " " + line.strip()
        elif line.strip():
            break
    return items


def _update(text: str) -> Update:
    evidence = tuple(_MARK.findall(text))
    plain = _MARK.sub("", text).strip()
    reason, rest = _leading_reason(plain)
    match = _PATH.match(rest)
    if match and not reason:
        reason, _ = _leading_reason(rest[match.end() :])
    return Update(plain, evidence, match.group(1) if match else "", reason)


def _leading_reason(text: str) -> tuple[Reason, str]:
    match = _REASON.match(text)
    return (cast("Reason", match.group(1)), text[match.end() :]) if match else ("", text)


def _trailers(body: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the `Key: value` lines of the last paragraph."""
    last = "\n".join(body).rstrip().rpartition("\n\n")[2]
    found = [_TRAILER.match(line.rstrip()) for line in last.split("\n")]
    return tuple((one.group(1), one.group(2)) for one in found if one)


def _item(item: Item) -> str:
    text = _one_line(item.text)
    held = set(_MARK.findall(text))
    marks = [f"[entry {_one_line(one)}]" for one in dict.fromkeys(item.evidence) if one not in held]
    return " ".join(["-", text, *marks])


def _one_line(text: str) -> str:
    """Collapse white space and drop control characters: no part may begin a line of its own."""
    return _CONTROL.sub("", " ".join(text.split())).strip()
