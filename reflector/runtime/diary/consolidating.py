"""Turns written into the diary, in order: one call and one commit each, nothing lost or doubled.

The commit names its job. Which job is being written is noted before the commit is made, so that
whoever comes after a death between commit and database looks whether the commit is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from reflector.core import off_peak
from reflector.core.ambient import instant, stamp
from reflector.core.days import local_day
from reflector.core.decision import Message
from reflector.core.diary import Diary
from reflector.core.errors import GitError
from reflector.pipelines.decisions.envelope import skipped
from reflector.pipelines.diary import consolidation, decay, judge, mood, time_words
from reflector.pipelines.diary.consolidation import Answer, Came, Host
from reflector.pipelines.diary.continuing import continued
from reflector.runtime.calls.names import GAVE_UP
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary import words
from reflector.runtime.diary.asking import Caller, Fault, Question, Told
from reflector.runtime.diary.names import AWAKE, CAME, JOB, WRITING
from reflector.runtime.diary.privacy import private
from reflector.runtime.diary.repository import Repository
from reflector.runtime.scheduling import midnight
from reflector.runtime.wiring import Context
from reflector.store import diary, diary_said, scheduling
from reflector.store.diary import Job
from reflector.store.state import Connection, State
from reflector.vcs.port import trailers
from reflector.vcs.reads import Reads

_NO_TALK = ("program", "command", "empty")
_UNREADABLE = "unreadable"
_LOOKED_AT = 1000
"""Commits in which the one of a dead writer is looked for."""

Dropped = Callable[[str], None]
"""Told why a turn was dropped, and nothing of what it said."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a model was shown of a diary, and what it said to it. `known` are traits by number."""

    known: tuple[str, ...]
    heard: tuple[str, ...]


def consolidate_all(
    caller: Caller, stop: Callable[[], bool], dropped: Dropped = lambda _why: None
) -> Waits | None:
    """Write every judged turn down; return what one has to wait for, None when none does."""
    heal(caller.context, caller.state)
    while not stop() and (found := diary.jobs(caller.state.connection, "judged", limit=1)):
        if hold := closed(caller.context):
            return hold
        if hold := _one(caller, found[0], dropped):
            return hold
    return None


def closed(context: Context) -> Waits | None:
    """Return until when what can wait has to, None while it may be done."""
    hours = off_peak.parse(context.settings.text("jobs.off_peak"))
    opens = off_peak.opens(hours, context.ambient.clock.now().astimezone())
    return Waits("off_peak", opens) if opens else None


def _one(caller: Caller, job: Job, dropped: Dropped) -> Waits | None:
    context, connection = caller.context, caller.state.connection
    messages = [each for each in diary_said.window(connection, job) if _spoken(each)]
    if not messages:
        _end(caller, job, "gone")
        return None
    known = Repository(context).read()
    going_on = continued(known.entries.values(), job.conversation, job.turn)
    if going_on is None and not _may_add(context, connection, job):
        _end(caller, job, "session_full")
        return None
    if hold := caller.held():
        return hold
    traits = consolidation.shown_traits(known, _day(connection, job), decay.weight)
    text = words.window(messages, going_on.text if going_on else "", traits)
    said = caller.ask(
        Question(
            name="diary.consolidate",
            system=words.consolidation_rules(),
            text=text,
            limit=consolidation.MOST_OUTPUT_TOKENS,
            seconds=consolidation.SECONDS,
            conversation=job.conversation,
        )
    )
    answer = consolidation.read(said.text) if isinstance(said, Told) else None
    if answer is None:
        return _failed(caller, job, said if isinstance(said, Fault) else None, dropped)
    heard = tuple(judge.typed(each.text) for each in messages if each.role == "user")
    _write(caller, job, answer, _Shown(tuple(each.id for each in traits), heard))
    return None


def _spoken(message: Message) -> bool:
    """Tell whether somebody said it: commands and what programs put in are no talk."""
    return message.role != "user" or skipped(message.text, after_assistant=True) not in _NO_TALK


def _may_add(context: Context, connection: Connection, job: Job) -> bool:
    """Tell whether a session may give one more entry. What goes on for months has one each day."""
    since = stamp(midnight(context.ambient.clock.now()))
    made = diary.new_entries(connection, job.conversation, since)
    return made < consolidation.MOST_ENTRIES


def _end(caller: Caller, job: Job, why: str) -> None:
    with caller.state.transaction() as connection:
        diary.skip(connection, job, why, caller.context.ambient.now())


def _failed(caller: Caller, job: Job, fault: Fault | None, dropped: Dropped) -> Waits | None:
    """Ask once more where the answer was no good, then let it be; while nobody answers, wait."""
    ours = fault is None or fault.ours
    why = fault.reason.value if fault else _UNREADABLE
    gives_up = ours and job.attempts + 1 >= consolidation.TRIES
    now = caller.context.ambient.clock.now()
    with caller.state.transaction() as connection:
        diary.fail(connection, job, why, strike=ours)
        if gives_up:
            diary.skip(connection, job, f"{GAVE_UP}_{why}", caller.context.ambient.now())
    if gives_up:
        dropped(why)
    return None if ours else caller.held() or Waits("back_off", now)


# One commit


def cleaner(context: Context) -> Callable[[str], str]:
    """Return what takes out of a text whatever may not reach the disk, and words for time."""

    def clean(text: str) -> str:
        return time_words.strip(private(context, text)) if text else ""

    return clean


def _day(connection: Connection, job: Job) -> date:
    return local_day(instant(diary_said.said_at(connection, job)))


def _write(caller: Caller, job: Job, answer: Answer, shown: _Shown) -> None:
    """Commit what an answer gives and end the job. A person's word in between comes first."""
    context, state = caller.context, caller.state
    kept = consolidation.cleaned(answer, cleaner(context), shown.heard)
    host = _host(context, state.connection, job, shown.known)
    repository = Repository(context)
    with state.transaction() as connection:
        if not diary.waits(connection, job):
            return
        told = json.dumps({"entry": job.entry, "base": repository.head()})
        scheduling.set_mark(connection, WRITING, told)
    came: list[Came] = ["nothing"]

    def change(now: Diary) -> Diary:
        if not diary.waits(state.connection, job):
            return now
        after, came[0] = consolidation.written(now, kept, host)
        return after

    _, expected = consolidation.written(repository.read(adopt=False), kept, host)
    names = [(JOB, job.entry), (CAME, expected)]
    repository.change("write in the diary", "consolidate", change, trailers=names)
    _finish(context, state, job, came[0], kept.mood)


def _host(context: Context, connection: Connection, job: Job, known: Sequence[str]) -> Host:
    chance = context.ambient.chance
    return Host(
        conversation=job.conversation,
        turn=job.turn,
        day=_day(connection, job).isoformat(),
        now=context.ambient.now(),
        ids=[chance.hex(16) for _ in range(1 + consolidation.MOST_TRAITS)],
        known=known,
        may_add=_may_add(context, connection, job),
    )


def _finish(context: Context, state: State, job: Job, came: str, nudge: float) -> None:
    now = context.ambient.clock.now()
    today = local_day(now)
    known = Repository(context).read(adopt=False).mood if nudge else None
    with state.transaction() as connection:
        diary.finish(connection, job, came, context.ambient.now())
        scheduling.clear_mark(connection, WRITING)
        if came != "nothing" and scheduling.mark(connection, AWAKE) is None:
            scheduling.set_mark(connection, AWAKE, today.isoformat())
        if known is not None:
            before = diary.mood(connection) or known
            diary.set_mood(connection, mood.moved(before, today, nudge))


# After a death


def heal(context: Context, state: State) -> None:
    """End the job whose commit was made by somebody who died before saying so."""
    found = scheduling.facts(state.connection, WRITING)
    if not found:
        return
    entry, base = str(found.get("entry", "")), str(found.get("base", ""))
    repository = Repository(context)
    repository.recover()
    came = _came(repository, entry, base)
    jobs = (job for job in diary.jobs(state.connection, "judged") if job.entry == entry)
    job = next(jobs, None)
    if came is None or job is None:
        with state.transaction() as connection:
            scheduling.clear_mark(connection, WRITING)
    else:
        _finish(context, state, job, came, 0.0)


def _came(repository: Repository, entry: str, base: str) -> str | None:
    """Return what came of a job, as its commit says; None when it has none."""
    head = repository.head()
    if not head or head == base:
        return None
    with Reads(repository.path) as reads:
        try:
            commits = reads.log(head, since=base or None, limit=_LOOKED_AT)
        except GitError:  # the history was rewritten meanwhile
            commits = reads.log(head, limit=_LOOKED_AT)
    for commit in commits:
        lines = trailers(commit.message)
        if f"{JOB}: {entry}" in lines:
            return next((line[len(CAME) + 2 :] for line in lines if line.startswith(CAME)), "new")
    return None
