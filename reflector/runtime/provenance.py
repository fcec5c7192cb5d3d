"""Where a line of the memory comes from: from blame to the words that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from reflector.core.ambient import instant
from reflector.core.errors import NotFoundError
from reflector.core.redact import redact
from reflector.core.run import Run
from reflector.memory.commit_message import parse
from reflector.memory.tools import place
from reflector.runtime.documents import relative
from reflector.runtime.wiring import Context
from reflector.store import provenance, reservations
from reflector.store.provenance import Seen
from reflector.vcs.blame import Origin, blame, touches
from reflector.vcs.port import MAIN, CommitInfo
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

Writer = Literal["run", "person", "agent", "reflector"]
_MOST = 1_000_000
_TOLD = "Conversation"
"""The trailer of what an agent wrote through its tools, in the middle of a conversation."""

_SNAPSHOT = re.compile(r"(\S+) (\S+)\.\.(\S+)\Z")


@dataclass(frozen=True, slots=True)
class Signed:
    """A commit and who wrote it. `run` is the id of the run it came from, "" if from none."""

    commit: CommitInfo
    writer: Writer
    run: str
    merge: CommitInfo | None
    path: str

    @property
    def subject(self) -> str:
        """Return the first line of its message."""
        return self.commit.message.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Word:
    """An entry that a line may rest on. `note` says why there is no text."""

    entry: Seen
    cited: bool
    note: str


@dataclass(frozen=True, slots=True)
class Why:
    """A line, its commit, the run's row if the ledger has it, and what that run read.

    `trigger` and `engine` come from the merge in git, and hold when the ledger was lost.
    """

    origin: Origin
    signed: Signed
    run: Run | None
    trigger: str
    engine: str
    conversations: tuple[str, ...]
    words: tuple[Word, ...]
    missing: tuple[str, ...]


def log(context: Context, path: str) -> list[Signed]:
    """Return the commits that changed a document, newest first, renames followed."""
    context.require()
    with Reads(context.agent.repo) as reads:
        head = _head(reads)
        name = place(relative(context, path))
        found = touches(Scrubbed(context.environ), context.agent.repo, head, name)
        if not found:
            raise _nowhere(path)
        merges = _Merges(reads, head)
        return [merges.signed(reads.commit(each.commit), each.path) for each in found]


def why(context: Context, path: str, line: int) -> Why:
    """Walk from a committed line to the entries that it rests on, those it names first."""
    context.require()
    if line < 1:
        raise NotFoundError(f"{path} has no line {line}.", hint="Lines count from 1.")
    with Reads(context.agent.repo) as reads:
        head = _head(reads)
        name = place(relative(context, path))
        origin = blame(Scrubbed(context.environ), context.agent.repo, head, name, line)
        signed = _Merges(reads, head).signed(reads.commit(origin.commit), origin.path)
    return _why(context, origin, signed)


def _head(reads: Reads) -> str:
    head = reads.resolve(MAIN)
    if head is None:
        raise NotFoundError("The memory has no commit on main.", hint="`reflector doctor`.")
    return head


def _nowhere(path: str) -> NotFoundError:
    return NotFoundError(
        f"There never was a document {path} in the memory.",
        hint="`reflector memory ls` lists what there is.",
    )


class _Merges:
    """Which run brought a commit into main."""

    def __init__(self, reads: Reads, head: str) -> None:
        self._known: dict[str, CommitInfo] = {
            each.sha: each for each in reads.log(head, limit=_MOST)
        }
        self._trunk: set[str] = set()
        sha = head
        while sha in self._known:
            self._trunk.add(sha)
            sha = next(iter(self._known[sha].parents), "")

    def signed(self, commit: CommitInfo, path: str) -> Signed:
        merge = self._merge_of(commit)
        said = parse(commit.message)
        writer: Writer = "person"
        if merge is not None:
            writer = "run"
        elif said.trailer("Memory-Writer") == "agent":
            writer = "agent"
        elif not commit.parents and said.trailer("Generated-By"):
            writer = "reflector"
        return Signed(commit, writer, _run_of(merge), merge, path)

    def _merge_of(self, commit: CommitInfo) -> CommitInfo | None:
        if _run_of(commit) and len(commit.parents) == 2:
            return commit
        if commit.sha in self._trunk:
            return None
        for merge in self._known.values():
            if len(merge.parents) == 2 and _run_of(merge) and self._brought(merge, commit.sha):
                return merge
        return None

    def _brought(self, merge: CommitInfo, wanted: str) -> bool:
        sha = merge.parents[1]
        while sha in self._known and sha not in self._trunk:
            if sha == wanted:
                return True
            sha = next(iter(self._known[sha].parents), "")
        return False


def _run_of(merge: CommitInfo | None) -> str:
    return (parse(merge.message).trailer("Reflector-Run") or "") if merge else ""


def _why(context: Context, origin: Origin, signed: Signed) -> Why:
    said = parse(signed.merge.message) if signed.merge else parse("")
    ranges = list(_ranges(said.trailers))
    marks = _cited(signed, origin.text)
    told = [value for name, value in parse(signed.commit.message).trailers if name == _TOLD]
    with context.state() as state:
        connection = state.connection
        run = reservations.known(connection, signed.run) if signed.run else None
        if run is not None:
            ranges = [(s.conversation, s.first_entry, s.last_entry) for s in run.snapshots]
        named = list(provenance.cited(connection, marks))
        read = [one for each in ranges for one in provenance.read_between(connection, *each)]
    known = {one.id for one in named}
    words = [_word(context, one, cited=True) for one in named]
    words += [_word(context, one, cited=False) for one in read if one.id not in known]
    return Why(
        origin=origin,
        signed=signed,
        run=run,
        trigger=said.trailer("Trigger") or "",
        engine=said.trailer("Engine") or "",
        conversations=tuple(dict.fromkeys([*(key for key, _, _ in ranges), *told])),
        words=tuple(words),
        missing=tuple(mark for mark in marks if mark not in known),
    )


def _ranges(trailers: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    for name, value in trailers:
        found = _SNAPSHOT.fullmatch(value) if name == "Snapshot" else None
        if found:
            yield found[1], found[2], found[3]


def _cited(signed: Signed, line: str) -> tuple[str, ...]:
    """Return the entries named by the items about this document: those that quote the line first."""
    items = [each for each in parse(signed.commit.message).updates if each.path == signed.path]
    plain = line.strip().removeprefix("- ")
    exact = [each for each in items if each.said and each.said in plain]
    return tuple(dict.fromkeys(mark for each in exact or items for mark in each.evidence))


def _word(context: Context, one: Seen, *, cited: bool) -> Word:
    note = ""
    match one.state:
        case "expired":
            days = timedelta(days=context.settings.number("journal.keep_days"))
            note = f"text expired on {instant(one.at) + days:%Y-%m-%d}"
        case "forgotten":
            note = "forgotten: a person had this removed"
        case "hidden":
            note = "kept off the record, or withdrawn"
        case _:
            pass
    return Word(one, cited, note)


def why_json(found: Why) -> dict[str, object]:
    """Return the machine form; the run itself is for whoever shows runs."""
    commit = found.signed.commit
    return {
        "path": found.origin.path,
        "line": found.origin.line,
        "text": redact(found.origin.text).text,
        "commit": commit.sha,
        "subject": redact(found.signed.subject).text,
        "at": commit.at,
        "author": commit.author,
        "writer": found.signed.writer,
        "run_id": found.signed.run or None,
        "merge_commit": found.signed.merge.sha if found.signed.merge else None,
        "trigger": found.trigger,
        "engine": found.engine,
        "conversations": list(found.conversations),
        "entries": [_word_json(each) for each in found.words],
        "missing_entries": list(found.missing),
    }


def _word_json(word: Word) -> dict[str, object]:
    """Return the machine form of one entry."""
    one = word.entry
    return {
        "id": one.id,
        "kind": one.kind,
        "at": one.at,
        "conversation": one.conversation,
        "title": redact(one.title).text,
        "harness": one.harness,
        "text": redact(one.text).text,
        "cited": word.cited,
        "state": one.state,
        "note": word.note,
    }
