"""The Python API: a memory as a program that embeds Reflector sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reflector.core.cleaning import clean, clean_values
from reflector.core.errors import NotFoundError
from reflector.core.schedule import Event, Manual, Settled
from reflector.memory import tools
from reflector.memory.indexed import ACTIVE
from reflector.runtime import birth, documents, front
from reflector.runtime import recall as find
from reflector.runtime.compiled import Wanted, compile_block
from reflector.runtime.present import run_json
from reflector.runtime.provenance import why as why_of
from reflector.runtime.provenance import why_json
from reflector.runtime.recall import LIMIT, Found, Sought
from reflector.runtime.reflect import Options
from reflector.runtime.reflect import reflect as reflect_now
from reflector.runtime.review import asking
from reflector.runtime.settings import with_flags
from reflector.runtime.status import status as status_of
from reflector.runtime.wiring import Context, context, context_for
from reflector.runtime.writing import Change, Writer, write
from reflector.store import journal, reservations
from reflector.surface.api import journaling
from reflector.surface.api.formed import asked_for, decided, document, reflected
from reflector.surface.api.values import Appended, Decided, Document, Reflected, Written
from reflector.surface.api.watching import Eyes, never, nobody

_NOT_RECORDED = Decided("nothing", "not_recorded")


class Memory:
    """The memory of one identity, and the conversations that it learns from.

    Everything is synchronous. An object holds settings and paths alone: files, database and git are
    opened within each call, so one object may be used from several threads, and several processes
    may work on one memory. Whatever can go wrong raises a `ReflectorError` with `code`, a sentence,
    and a `hint` that says what to do.
    """

    def __init__(self, found: Context, cwd: Path | None = None, writer: Writer = "agent") -> None:
        """Use `Memory.open`; this takes what was opened already."""
        self._context = found
        self._cwd = cwd
        self._writer = writer

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        identity: str | None = None,
        *,
        cwd: str | Path | None = None,
        create: bool = False,
    ) -> Self:
        """Open a memory.

        Without `home`: `$REFLECTOR_HOME`, else `~/.reflector`. Without `identity`: the one of the
        environment, else the one whose folder holds `cwd`, else `default`. `cwd` is the project
        that the conversations are about. `create` makes the memory if there is none, as
        `reflector init` does; otherwise that is a HomeError.
        """
        start = Path(cwd).absolute() if cwd is not None else None
        found = context(str(home) if home is not None else None, identity, make=create)
        if start is not None and identity is None:
            found = context_for(found, str(start))
        if create:
            birth.init(found)
        found.require()
        return cls(found, start)

    def __enter__(self) -> Self:
        """Use it in a block. Nothing is kept open between calls, so nothing can leak."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the block; the memory may go on being used."""

    @property
    def identity(self) -> str:
        """Return whose memory it is."""
        return self._context.agent.identity

    @property
    def home(self) -> Path:
        """Return the Reflector home."""
        return self._context.home.path

    # Conversations

    def append(self, conversation: str, messages: Iterable[object], *, title: str = "") -> Appended:
        """Journal what is new of a conversation; give all its messages so far, oldest first.

        Messages are mappings, or objects of the SDKs, in the form of Anthropic (content blocks) or
        OpenAI (`tool_calls`, role `tool`). The same list, or one that has grown, adds only what is
        new: a message with an `id` is known by that, any other by its text and by how many equal
        ones stand before it in the list. So a text that is said twice counts twice, and when only
        the newest messages are given each time, equal ones need ids. A call is journaled with its
        result, or once the user speaks again. `timestamp` (RFC 3339 or an epoch) is kept if given.
        Secrets are taken out before anything is written. While a person paused recording nothing is
        added, then or later. Raises UsageError for what is no message.
        """
        cwd = str(self._cwd) if self._cwd is not None else ""
        return journaling.append(self._context, conversation, messages, title=title, cwd=cwd)

    def settled(self, conversation: str | None = None, *, success: bool = True) -> Decided:
        """Tell that the agent's turn ended: decides whether a run is due, and starts it detached.

        Costs a few milliseconds when nothing is due; never waits for a run. A `conversation` of
        which nothing is recorded, as while a person paused recording, leads to nothing.
        """
        if conversation is not None and not self._records(conversation):
            return _NOT_RECORDED
        return self._told(Settled(success=success))

    def compaction(self, conversation: str, boundary: str = "") -> Decided:
        """Tell that a conversation was compacted: it is due at the next turn that settles.

        The same `boundary`, an id of that compaction, counts once; without one the newest entry
        stands for it. A conversation of which nothing is recorded leads to nothing.
        """
        if not self._records(conversation):
            return _NOT_RECORDED
        front.mark_compaction(self._context, journaling.full_id(conversation), boundary)
        return Decided("marked")

    # Reflection

    def reflect(
        self,
        focus: str | None = None,
        conversations: Sequence[str] = (),
        *,
        recent: int = 0,
        engine: str = "",
        model: str = "",
        dry_run: bool = False,
        review: bool = False,
        max_runs: int = 10,
        over_budget: bool = False,
        tell: Callable[[str], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Reflected:
        """Reflect here and now, until nothing is left to read: one run and one merge at a time.

        Without `conversations` all with something new are read; `recent` reads the last so many
        steps of each again. `review` lets what is learned wait for a person's approval. `tell` gets
        a line now and then, `stop` is asked between two steps whether to end. A run that fails is
        told in its `outcome`; a limit of the day that lets none start raises DayLimitError.
        """
        found = self._chosen(engine, model)
        options = Options(
            conversations=tuple(map(journaling.full_id, _each(conversations))),
            recent=recent,
            focus=focus or "",
            dry_run=dry_run,
            max_runs=max_runs,
            over_budget=over_budget,
        )
        eyes = Eyes(tell or nobody, stop or never)
        done = reflect_now(asking(found) if review else found, options, eyes)
        if done.over is not None and not done.runs:
            raise done.over
        return reflected(found, done.runs, limited=done.over is not None)

    def run(self, run_id: str) -> Reflected:
        """Return one run, as `reflect` tells of it: one that still works has no outcome yet."""
        with self._context.state() as state:
            found = reservations.find(state.connection, run_id)
        return reflected(self._context, [found])

    def ask(
        self,
        focus: str | None = None,
        conversations: Sequence[str] = (),
        *,
        over_budget: bool = False,
    ) -> Decided:
        """Ask for a reflection in the background and return at once, with the id of its run."""
        keys = tuple(self._known(conversations))
        event = Manual(
            "api", "reflection", focus or "", conversation_ids=keys, over_budget=over_budget
        )
        with self._context.state() as state:
            answer = front.handle(self._context, event, None)
            told = decided(answer)
            if told.decision not in ("reserved", "queued"):
                return told
            run = asked_for(state, told.decision)
        return replace(told, run=run, supervisor=front.launch(self._context))

    # Memory

    def prompt(
        self,
        query: str | None = None,
        budget: int | None = None,
        *,
        cwd: str | Path | None = None,
    ) -> str:
        """Return the compiled block, for an agent's system prompt.

        `budget` is in tokens; without one the settings say. `query` is what the session is about:
        what it recalls gets a section of its own. `cwd` is the session's folder, if not the one
        that the memory was opened with.
        """
        start = Path(cwd).absolute() if cwd is not None else self._cwd
        wanted = Wanted(start, budget or 0, query=query or "", note_tool="note")
        _, block = compile_block(self._context, wanted)
        return block.text

    def recall(
        self,
        query: str,
        *,
        limit: int = LIMIT,
        below: str = "",
        layer: str = "",
        status: str = ACTIVE,
        branch: str = "",
        project: str = "",
        since: str = "",
        until: str = "",
        details: bool = False,
        session: str = "",
    ) -> tuple[Found, ...]:
        """Return the passages of the memory that fit a query, the best first.

        `below` keeps to documents whose path begins so, `layer` to documents, decisions,
        experiences or facts, `status` to what is active, superseded or ("") either, `since` and
        `until` to when it was changed last: days, or RFC 3339 instants in UTC. What is bound to a
        project is found in that project alone (see `cwd` of `open`), or by `project`, its key. With
        `details`, facts come with what they keep word for word. What is returned counts as used in
        `session`. Raises UsageError for another layer or status.
        """
        only = Sought(below, "", since, until, status, branch, layer, project)
        found = find.serve(
            self._context, query, only, self._cwd, limit=limit, details=details, session=session
        )
        return tuple(found)

    def search(
        self, query: str, *, conversation: str = "", kind: str = "", limit: int = LIMIT
    ) -> tuple[Found, ...]:
        """Return what was said in conversations and fits a query, the best first.

        `conversation` is a full id; `kind` one of user, assistant, tool. Raises NotFoundError for a
        conversation that the journal does not know.
        """
        return tuple(
            find.search(self._context, query, conversation=conversation, kind=kind, limit=limit)
        )

    def documents(self, below: str = "") -> tuple[Document, ...]:
        """Return the documents, sorted by path; `below` names a folder or one of them."""
        _, found = documents.listed(self._context, below)
        return tuple(document(each) for each in found)

    def read(self, path: str) -> str:
        """Return one document as it is committed, without secrets. Raises NotFoundError."""
        return clean(documents.shown(self._context, path).text)

    def why(self, path: str, line: int) -> Mapping[str, Any]:
        """Return where a line of a document comes from, as `reflector memory why --json` does."""
        found = why_of(self._context, path, line)
        run = {"run": run_json(found.run) if found.run else None}
        return clean_values(why_json(found) | run)

    def create(
        self,
        path: str,
        text: str,
        description: str = "",
        *,
        reason: str,
        conversation: str = "",
    ) -> Written:
        """Make a document; `description` is one line on what it is about, unless the text has a header.

        This and the other changes are one commit each, with `reason` as its subject. They are held
        against the rules that hold for a run, and raise DocumentError with file and line.
        """
        place = self._at(path)
        return self._write(
            lambda tree: tools.create(tree, place, text, description), reason, conversation
        )

    def replace(
        self, path: str, old: str, new: str, *, reason: str, conversation: str = ""
    ) -> Written:
        """Replace the one place of a document that reads `old`."""
        place = self._at(path)
        return self._write(
            lambda tree: tools.str_replace(tree, place, old, new), reason, conversation
        )

    def insert(
        self,
        path: str,
        text: str,
        after: int | None = None,
        *,
        reason: str,
        conversation: str = "",
    ) -> Written:
        """Insert lines behind a line (1-based); 0 is the top of the body, None its end."""
        place = self._at(path)
        return self._write(
            lambda tree: tools.insert(tree, place, text, after), reason, conversation
        )

    def delete(self, path: str, *, reason: str, conversation: str = "") -> Written:
        """Delete a document, or all below a folder unless a protected one is among it."""
        place = self._at(path)
        return self._write(lambda tree: tools.delete(tree, place), reason, conversation)

    def rename(self, old: str, new: str, *, reason: str, conversation: str = "") -> Written:
        """Rename a document or a folder. Links to it are left as they are."""
        was, place = self._at(old), self._at(new)
        return self._write(lambda tree: tools.rename(tree, was, place), reason, conversation)

    @property
    def keeps_diary(self) -> bool:
        """Tell whether a diary is kept, so that `note` is there."""
        return self._context.settings.flag("diary.enabled")

    def note(self, text: str, *, conversation: str = "") -> str:
        """Leave a note in the diary for a later self; return it as it was kept.

        It is committed when this returns, without secrets and with nobody else in it by name.
        Raises DiaryOffError while no diary is kept.
        """
        from reflector.runtime.diary.notes import note  # noqa: PLC0415 - most keep no diary

        key = journaling.full_id(conversation) if conversation else ""
        return note(self._context, text, conversation=key).text

    def status(self) -> Mapping[str, Any]:
        """Return health at a glance, as `reflector status --json` does."""
        return clean_values(status_of(self._context).as_json())

    def _at(self, path: str) -> str:
        return documents.relative(self._context, path)

    def _write(self, change: Change, reason: str, conversation: str) -> Written:
        key = journaling.full_id(conversation) if conversation else ""
        done = write(self._context, change, reason, writer=self._writer, conversation=key)
        said = tuple(clean(f"{each.path}:{each.line} {each.message}") for each in done.warnings)
        return Written(done.commit, tuple(done.paths), said)

    def _chosen(self, engine: str, model: str) -> Context:
        flags = {"engine.name": ("engine=", engine), "engine.model": ("model=", model)}
        return replace(self._context, settings=with_flags(self._context.settings, flags))

    def _told(self, event: Event) -> Decided:
        return decided(front.handle(self._context, event))

    def _records(self, conversation: str) -> bool:
        with self._context.state() as state:
            key = journaling.full_id(conversation)
            return journal.conversation(state.connection, key) is not None

    def _known(self, conversations: Sequence[str]) -> list[str]:
        """Return full ids; raise NotFoundError for one that the journal does not know."""
        for each in _each(conversations):
            if not self._records(each):
                raise NotFoundError(
                    f"There is no conversation {each[:200]} in the journal.",
                    hint="`append` begins one; `status` lists them.",
                )
        return list(map(journaling.full_id, _each(conversations)))


def _each(conversations: Sequence[str]) -> Sequence[str]:
    """Return the names; a text alone is one of them, and no sequence of letters."""
    return [conversations] if isinstance(conversations, str) else conversations
