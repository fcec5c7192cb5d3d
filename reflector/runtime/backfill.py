"""An import of whole histories: what is new of many transcripts, oldest first, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reflector.core.ambient import instant
from reflector.core.errors import ReflectorError, TranscriptError, UnknownFormatError
from reflector.runtime.history import Candidate, find
from reflector.runtime.ingest import Ingested, ingest_into
from reflector.runtime.look import Look, last_said, look
from reflector.runtime.transcripts import source_name
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import imports
from reflector.store.imports import Known
from reflector.store.state import State

_MB = 1_000_000
_TELL_SECONDS = 0.2

_USUAL = frozenset(
    {
        "",
        "a JSON array",
        "a single JSON object",
        "one event of OpenHands",
        "plain text",
        "the prompt log of Gemini CLI",
        "the side file of a Claude Code subagent",
    }
)
"""What folders of transcripts are full of: settings, caches, side files."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How to import; `settled` is as `ingest_into` has it.

    `since` leaves out conversations without activity after it. `keep_backlog` leaves cursors alone
    even where a history is imported.
    """

    since: datetime | None = None
    dry_run: bool = False
    settled: bool = False
    keep_backlog: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; `looks` instead of `files` when it was to change nothing.

    `named` are those of `files` that a person named one by one, where no history was asked for.
    `conversations` and `passed_by` count new entries, the latter of conversations whose cursor was
    set to their end.
    """

    files: tuple[Ingested, ...] = ()
    looks: tuple[Look, ...] = ()
    refused: tuple[ReflectorError, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)
    conversations: Mapping[str, int] = field(default_factory=dict)
    passed_by: Mapping[str, int] = field(default_factory=dict)
    named: tuple[Ingested, ...] = ()
    is_sum: bool = False
    bytes: int = 0


def backfill(context: Context, paths: Sequence[Path], wish: Wish, watch: Watch) -> Imported:
    """Import every transcript of these files and below these folders.

    One that cannot be read never keeps the others out. What is finished stays when it is stopped
    or killed; the next import goes on from there. Raises only what is no single file's fault.
    """
    context.require()
    found = find(paths, context.home.path)
    with _journal(context, wish) as (state, known):
        run = _Import(context, wish, watch, state, known)
        run.passed_over.update(found.passed_over)
        run.refused += found.refused
        return run.over(list(run.worth(found.files)))


@contextmanager
def _journal(context: Context, wish: Wish) -> Iterator[tuple[State | None, Mapping[str, Known]]]:
    """Open the database once for all files, and tell what it knows of its sources.

    Whoever closes it last empties its log into it: after every file that costs more than many a
    file does. Who only looks opens nothing.
    """
    if wish.dry_run:
        yield None, imports.glimpsed(context.agent.state)
        return
    with context.state(durability="NORMAL") as state:
        yield state, imports.known(state.connection)


@dataclass(slots=True)
class _Import:
    context: Context
    wish: Wish
    watch: Watch
    state: State | None
    known: Mapping[str, Known]
    files: list[Ingested] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    refused: list[ReflectorError] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    named: list[Ingested] = field(default_factory=list)
    is_sum: bool = False

    def worth(self, files: Sequence[Candidate]) -> Iterator[Candidate]:
        """Leave out what a look at the file's own dates shows to be known or too old."""
        asked = self.wish.since is not None or self.wish.dry_run
        self.is_sum = asked or not all(each.named for each in files) or not files
        since = self.wish.since.timestamp() if self.wish.since else None
        for each in files:
            if since is not None and 0 < each.changed < since:
                self.passed_over["older"] += 1
            elif each.named:
                yield each
            elif unchanged(self._of(each), each, settled=self.wish.settled):
                self.passed_over["unchanged"] += 1
            else:
                yield each

    def _of(self, file: Candidate) -> Known | None:
        return self.known.get(source_name(file.path))

    def over(self, files: Sequence[Candidate]) -> Imported:
        """Import these files."""
        along = _Along(self.context, self.watch, len(files), sum(each.size for each in files))
        for each in files:
            if along.stop():
                break
            self._one(each, along)
            along.passed(each.size)
        return self._imported(along.bytes)

    def _imported(self, size: int) -> Imported:
        added: Counter[str] = Counter()
        read: list[Ingested | Look] = [*self.files, *self.looks]
        for each in read:
            added.update(each.conversations)
        passed = {key for each in self.files for key in each.passed_by}
        return Imported(
            files=tuple(self.files),
            looks=tuple(self.looks),
            refused=tuple(self.refused),
            passed_over=dict(sorted(self.passed_over.items())),
            conversations=dict(sorted(added.items())),
            passed_by={key: added[key] for key in sorted(passed)},
            named=tuple(self.named),
            is_sum=self.is_sum,
            bytes=size,
        )

    def _one(self, file: Candidate, along: _Along) -> None:
        try:
            if self.wish.since and self._silent_since(self.wish.since, file.path):
                self.passed_over["older"] += 1
            elif self.state is None:
                self.looks.append(
                    look(self.context, file.path, self._of(file), settled=self.wish.settled)
                )
            else:
                along.entries += self._read(self.state, file, along)
        except TranscriptError as error:
            self._refuse(error, file)

    def _read(self, state: State, file: Candidate, along: Watch) -> int:
        history = self.wish.since is not None or not file.named
        done = ingest_into(
            self.context,
            state,
            file.path,
            along,
            settled=self.wish.settled,
            passing_by=history and not self.wish.keep_backlog,
            history=history or self.wish.settled,  # a file that is closed is no live session
        )
        self.files.append(done)
        if not history:
            self.named.append(done)
        return done.entries

    def _silent_since(self, since: datetime, path: Path) -> bool:
        said = last_said(path)
        return bool(said) and instant(said) < since

    def _refuse(self, error: TranscriptError, file: Candidate) -> None:
        likeness = error.facts.get("looks_like") or ""
        telling = isinstance(error, UnknownFormatError) and likeness not in _USUAL
        if file.named or telling or "errno" in error.facts or error.facts.get("familiar"):
            self.refused.append(error)
        else:
            self.passed_over["not_a_transcript"] += 1


def unchanged(known: Known | None, file: Candidate, *, settled: bool) -> bool:
    """Tell whether a file needs no reading, by its dates alone.

    Whoever takes what is held back must read a file once more whose last rows are open.
    """
    if known is None or known.degraded or (settled and known.resume_at < known.read_to):
        return False
    same = (known.device, known.inode, known.size) == (file.device, file.inode, file.size)
    return same and known.read_to >= file.size and file.changed < instant(known.read_at).timestamp()


class _Along:
    """Watches one file after the other, and tells how far all of them are."""

    def __init__(self, context: Context, watch: Watch, files: int, size: int) -> None:
        self._clock = context.ambient.clock
        self._watch = watch
        self._files = files
        self._size = size
        self._began = self._told = self._clock.monotonic()
        self.done = self.bytes = self.entries = 0

    def say(self, line: str) -> None:
        self._watch.say(line)

    def progress(self, line: str) -> None:
        self._watch.progress(line)

    def reading(self, path: Path, done: int, total: int) -> None:
        del path, total
        now = self._clock.monotonic()
        if now - self._told >= _TELL_SECONDS:
            self._told = now
            self._watch.progress(self._sentence(self.bytes + done, now - self._began))

    def stop(self) -> bool:
        return self._watch.stop()

    def passed(self, size: int) -> None:
        self.done += 1
        self.bytes += size
        self.reading(Path(), 0, 0)

    def _sentence(self, size: int, seconds: float) -> str:
        return progress(self.done, self._files, size, self._size, self.entries, seconds)


def progress(done: int, files: int, size: int, whole: int, entries: int, seconds: float) -> str:
    """Say how far an import is: files, bytes, speed, entries, and what is left to wait."""
    speed = size / seconds if seconds > 0 else 0.0
    left = (whole - size) / speed if speed else 0.0
    waits = f", {_lasting(left)} left" if left > 1 else ""
    return (
        f"{done} of {files} files, {size / _MB:.1f} of {whole / _MB:.1f} MB, "
        f"{speed / _MB:.1f} MB/s, {entries} new entries{waits}"
    )


def _lasting(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
