"""A night of the diary, at most one each local day: what is noted is folded in, and put in order.

What the model proposes is worked out on the diary as it was read, and brought by a three-way merge
onto what it is by then: a merge commit with two parents. A death before it leaves at most objects
that nothing names; a death after it is recognised by the trailer that names the night.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from reflector.core.ambient import instant
from reflector.core.days import local_day
from reflector.core.diary import Diary
from reflector.core.errors import GitError
from reflector.memory.tree import FILE
from reflector.pipelines.diary import folding, merging, proposals, records
from reflector.pipelines.diary.folding import Mentioned
from reflector.pipelines.diary.guard_rails import Proposal
from reflector.runtime.calls.names import ASKS
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary import words
from reflector.runtime.diary.asking import Caller, Question, Told
from reflector.runtime.diary.consolidating import cleaner
from reflector.runtime.diary.guard import propose
from reflector.runtime.diary.names import AWAKE, SLEEP, SLEEPING, SLEPT
from reflector.runtime.diary.repository import Repository
from reflector.runtime.wiring import Context
from reflector.store import diary as noted
from reflector.store import scheduling
from reflector.store.state import Connection, State
from reflector.vcs.objects import Objects
from reflector.vcs.port import Identity, trailers
from reflector.vcs.reads import Reads
from reflector.vcs.writes import Writes

_OURS = ("entries/", "traits/", "lexicon/", "tombstones/", "mood.json", "diary.json")
_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Slept:
    """What a night did. `commit` is "" when nothing had to change."""

    id: str
    commit: str
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Night:
    """One night on its way: the diary as it is being put in order."""

    diary: Diary
    wishes: list[Proposal] = field(default_factory=list)
    batches: int = 0
    faded: int = 0


def due(context: Context, connection: Connection) -> bool:
    """Tell whether a night is due: something of an earlier day waits, and none was today."""
    today = local_day(context.ambient.clock.now()).isoformat()
    if scheduling.facts(connection, SLEPT).get("day") == today:
        return False
    # A day to come is that of a clock which ran ahead: nothing may wait until it is there.
    awake = scheduling.mark(connection, AWAKE) or today
    return awake != today or noted.mentioned_before(connection, today)


def sleep(caller: Caller, stop: Callable[[], bool]) -> Slept | Waits:
    """Have one night. While the provider does not answer, it waits and nothing is folded."""
    context, state = caller.context, caller.state
    wake(context, state)
    repository = Repository(context)
    repository.read()  # what a person wrote is part of the base
    base, now = repository.head(), context.ambient.now()
    if not base:
        return Waits("nothing")
    name = context.ambient.run_id()
    before = repository.at(base)
    night = _Night(_folded(context, state, before, name))
    held = _ordered(caller, night, stop)
    if held is not None:
        _give_back(state, name)
        return held
    commit = _commit(repository, base, before, merging.buried(before, night.diary), name)
    _finish(state, name, now, commit)
    changed = propose(context, state, night.wishes, cleaner(context))
    counts = {"batches": night.batches, "faded": night.faded, "persona": len(changed.commits)}
    return Slept(name, commit, counts)


def _folded(context: Context, state: State, before: Diary, name: str) -> Diary:
    with state.transaction() as connection:
        scheduling.set_mark(connection, SLEEPING, json.dumps({"id": name}))
        mentions = noted.hold_mentions(connection, name)
    by_item = {each.item: Mentioned(each.count, each.day) for each in mentions}
    today = local_day(context.ambient.clock.now())
    return folding.fold(before, by_item, noted.mood(state.connection), today)


# What a model is asked


def _ordered(caller: Caller, night: _Night, stop: Callable[[], bool]) -> Waits | None:
    """Ask about what is new, batch by batch; a batch without a usable answer stays as it is."""
    context = caller.context
    if context.settings.text("engine.name") != ASKS:
        return None
    since = str(scheduling.facts(caller.state.connection, SLEPT).get("at", ""))
    listed = proposals.items(night.diary, since)
    clean = cleaner(context)
    for number, batch in enumerate(proposals.batches(listed)):
        if stop() or number >= proposals.MOST_BATCHES:
            break
        if hold := caller.held():
            return hold
        persona = night.diary.persona if number == 0 else ""
        said = caller.ask(
            Question(
                name="diary.sleep",
                system=words.sleep_rules(),
                text=words.items(batch, persona),
                limit=proposals.MOST_OUTPUT_TOKENS,
                seconds=proposals.SECONDS,
            )
        )
        if not isinstance(said, Told):
            if not said.ours:
                return caller.held() or Waits("failed")
            continue
        night.batches += 1
        if (found := proposals.read(said.text)) is not None:
            left = proposals.MOST_FADING - night.faded
            done = proposals.dispose(night.diary, batch, found, clean, left)
            night.diary, night.faded = done.diary, night.faded + done.faded
            night.wishes += found.persona if persona else ()
    return None


# What becomes of it


def _commit(repository: Repository, base: str, before: Diary, after: Diary, name: str) -> str:
    """Commit the night beside the diary, and merge it onto what the diary is by now."""
    own = _own(repository, base, before, after, name)
    if own is None:
        return ""

    def change(now: Diary) -> Diary:
        return merging.merge(before, now, after)

    return repository.change("sleep", "sleep", change, trailers=[(SLEEP, name)], also=[own]) or ""


def _own(repository: Repository, base: str, before: Diary, after: Diary, name: str) -> str | None:
    old, new = records.files(before), records.files(after)
    kept = set(before.damaged)
    files = {
        path: (FILE, new[path]) if path in new else None
        for path in sorted({*old, *new} - kept)
        if path.startswith(_OURS) and old.get(path) != new.get(path)
    }
    if not files:
        return None
    with Writes(repository.path) as writes:
        with Objects(repository.path) as objects:
            tree = objects.tree_with(writes.commit(base).tree, files)
        when = repository.context.ambient.clock.now()
        return writes.create_commit(tree, [base], f"a night: {name}\n", Identity(), when)


def _finish(state: State, name: str, at: str, commit: str) -> None:
    """Say that a night is over: what it folded counts no more."""
    day = local_day(instant(at)).isoformat()
    told = {"id": name, "day": day, "at": at, "commit": commit}
    with state.transaction() as connection:
        noted.release_mentions(connection, name, folded=True)
        noted.clear_mood(connection)
        scheduling.clear_mark(connection, AWAKE)
        scheduling.clear_mark(connection, SLEEPING)
        scheduling.set_mark(connection, SLEPT, json.dumps(told))


def _give_back(state: State, name: str) -> None:
    """End a night that came to nothing: what it would have folded counts on."""
    with state.transaction() as connection:
        noted.release_mentions(connection, name, folded=False)
        scheduling.clear_mark(connection, SLEEPING)


def wake(context: Context, state: State) -> None:
    """Settle the nights that somebody died in: git tells whether what they folded is there."""
    going_on = str(scheduling.facts(state.connection, SLEEPING).get("id", ""))
    names = sorted({*noted.holding(state.connection), *filter(None, [going_on])})
    if names:
        Repository(context).recover()
    for name in names:
        found = _landed(Repository(context), name)
        if found is None:
            _give_back(state, name)
        else:
            _finish(state, name, found[1], found[0])


def _landed(repository: Repository, name: str) -> tuple[str, str] | None:
    """Return the merge commit of a night and when it was made; None when there is none."""
    head = repository.head()
    if not head:
        return None
    try:
        with Reads(repository.path) as reads:
            commits = reads.log(head, limit=_LOOKED_AT)
    except GitError:
        return None
    for commit in commits:
        if f"{SLEEP}: {name}" in trailers(commit.message):
            return commit.sha, commit.at
    return None


def last(connection: Connection) -> tuple[str, date | None]:
    """Return the name of the last night and its local day; "" and None before the first."""
    found = scheduling.facts(connection, SLEPT)
    try:
        return str(found.get("id", "")), date.fromisoformat(str(found.get("day", "")))
    except ValueError:
        return "", None
