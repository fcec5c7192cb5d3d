"""What of the diary an agent is shown: its sections of the block, for the local day and moment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from reflector.core.days import local_day
from reflector.core.diary import Diary
from reflector.core.errors import ReflectorError
from reflector.memory.budget import estimate_tokens
from reflector.memory.fitted import Fit, Fitted
from reflector.pipelines.diary import block, curiosity, frame, lexicon, recalling
from reflector.pipelines.diary.block import DiaryBlock, Wanted
from reflector.pipelines.diary.constants import constants_of
from reflector.pipelines.diary.narrowed import Narrowed
from reflector.pipelines.diary.recalling import Recalled
from reflector.runtime import block_cache
from reflector.runtime.diary import debug_log
from reflector.runtime.diary.repository import Repository, enabled
from reflector.runtime.wiring import Context
from reflector.store import diary as queue
from reflector.store import scheduling
from reflector.store.state import Connection

NAME = "diary"
TOOL = "note"
"""What the tool is called over MCP."""
CURIOSITY = "diary_curiosity"
"""The mark that says on which local day a question nobody asked for was last given leave."""

_BUSY_SECONDS = 0.2
_LONGEST_TOOL = 20
"""Tokens of a command, so that the sentence round it fits as well."""
_SLACK = (8, 32, 128)
_CHILD = "REFLECTOR_CHILD"


@dataclass(slots=True)
class Laid:
    """The diary on its way into a block. `blocks` are what it was laid out as, by their text."""

    diary: Diary
    wanted: Wanted
    blocks: dict[str, DiaryBlock] = field(default_factory=dict)
    _known: dict[int, DiaryBlock] = field(default_factory=dict)

    @property
    def fitted(self) -> Fitted:
        """Return the section for whoever compiles the block."""
        return Fitted(NAME, self._render)

    def _render(self, tokens: int) -> Fit:
        budget = min(tokens, self.wanted.budget_tokens)
        found = self._block(budget)
        omitted = sum(each.omitted for each in found.sections)
        return Fit(found.text, omitted, self._needs(found, budget))

    def _needs(self, found: DiaryBlock, budget: int) -> int:
        """Return about the smallest budget that gives just this: a line claims more than it takes."""
        least = sum(each.tokens for each in found.sections)
        tried = (min(budget, least + more) for more in _SLACK)
        return next((each for each in tried if self._block(each).text == found.text), budget)

    def _block(self, budget: int) -> DiaryBlock:
        if budget not in self._known:
            made = block.compile(self.diary, replace(self.wanted, budget_tokens=budget))
            self._known[budget] = self.blocks[made.text] = made
        return self._known[budget]


def laid(context: Context, query: str = "", tool: str = TOOL) -> Laid | None:
    """Read the diary for a block; None when none is kept, and for whoever works for us.

    `tool` is how a note is left; what would be cut in its middle gives way to the tool's name. A
    diary that cannot be read shows nothing and breaks no session: `doctor` tells of it.
    """
    if not enabled(context) or context.environ.get(_CHILD):
        return None
    repository = Repository(context)
    try:
        diary = repository.glance()
        wanted = _wanted(context, diary, query)
        if estimate_tokens(tool) <= _LONGEST_TOOL:
            wanted = replace(wanted, note_tool=tool)
        if query:
            found = _recalled(repository, diary, wanted, query, {})
            wanted = replace(wanted, recalled=found)
    except ReflectorError:
        return None
    return Laid(_near(diary, wanted), wanted)


def recalled(context: Context, query: str, conversation: str) -> tuple[Recalled, ...]:
    """Return what comes to mind at a prompt, and count it as mentioned in this turn."""
    if not enabled(context) or context.environ.get(_CHILD):
        return ()
    repository = Repository(context)
    diary = repository.glance()
    wanted = _wanted(context, diary, query)
    turn, ago = _mentioned(context, conversation)
    found = _recalled(repository, diary, wanted, query, ago)
    debug_log.note(context, conversation, turn, found)
    if found and conversation:
        ids = [each.entry.id for each in found]
        with context.state(busy_seconds=_BUSY_SECONDS) as state, state.transaction() as connection:
            queue.mentioned(connection, ids, conversation, turn, wanted.today.isoformat())
    return found


def in_force_until(context: Context) -> int:
    """Return when the frame says something else next, in seconds since 1970."""
    now = context.ambient.clock.now().astimezone()
    later = [hour for hour in frame.HOURS if hour > now.hour]
    start = now.replace(hour=later[0] if later else 0, minute=0, second=0, microsecond=0)
    then = start if later else start + timedelta(days=1)
    # Anew in the zone: an hour may be missing or come twice in between.
    return int(then.replace(tzinfo=None).astimezone().timestamp())


def leave_given(context: Context) -> None:
    """Note that a session which has begun was given leave to ask, if it was: the next is days away."""
    if not enabled(context):
        return
    now, days = context.ambient.clock.now(), context.settings.number("diary.curiosity_days")
    with context.state() as state, state.transaction() as connection:
        given = _due(connection, now, days)
        if given:
            scheduling.set_mark(connection, CURIOSITY, local_day(now).isoformat())
    if given:
        block_cache.refresh(context)


def today_of(context: Context) -> date:
    """Return the local day."""
    return local_day(context.ambient.clock.now())


def _wanted(context: Context, diary: Diary, query: str) -> Wanted:
    now = context.ambient.clock.now().astimezone()
    today = local_day(now)
    with context.state() as state:
        days = context.settings.number("diary.curiosity_days")
        asks = _due(state.connection, now, days)
    first = min((each.date for each in diary.entries.values()), default=today.isoformat())
    return Wanted(
        today=today,
        now_local=now,
        budget_tokens=context.settings.number("diary.budget_tokens"),
        asked_terms=lexicon.occurring(diary.lexicon.values(), query) if query else (),
        known_since=first,
        nickname=context.settings.text("diary.nickname"),
        note_tool=TOOL,
        curiosity=asks,
    )


def _due(connection: Connection, now: datetime, days: int) -> bool:
    last = scheduling.mark(connection, CURIOSITY) or ""
    return curiosity.due(last, local_day(now), days)


def _mentioned(context: Context, conversation: str) -> tuple[int, Mapping[str, int]]:
    """Return the turn that a conversation is in, and how many turns ago it had what."""
    if not conversation:
        return 0, {}
    with context.state() as state:
        turn = queue.turn(state.connection, conversation)
        return turn, queue.turns_ago(state.connection, conversation, turn)


def _recalled(
    repository: Repository, diary: Diary, wanted: Wanted, query: str, ago: Mapping[str, int]
) -> tuple[Recalled, ...]:
    numbers = constants_of(repository.context.settings.texts("diary.recall"))
    there = block.shown(diary, wanted.today)
    seed = f"{repository.head()} {wanted.today.isoformat()} {query}"
    entries = Narrowed(diary.entries.values(), query)
    return recalling.recall(entries, query, wanted.today, ago, there, drawn(seed), numbers)


def drawn(seed: str) -> Callable[[], float]:
    """Return a source of numbers from 0 up to 1: the same ones for the same seed.

    A preview and what is shown afterwards draw alike, and so do two looks at one turn.
    """
    numbers = _numbers(seed)
    return lambda: next(numbers)


def _numbers(seed: str) -> Iterator[float]:
    digest = seed.encode("utf-8", "surrogatepass")
    while True:
        digest = hashlib.sha256(digest).digest()
        yield int.from_bytes(digest[:6], "big") / (1 << 48)


def _near(diary: Diary, wanted: Wanted) -> Diary:
    """Return the diary with the entries alone that the block can show: each layout looks at all."""
    kept = block.looked_at(diary, wanted.today)
    return replace(diary, entries={one: diary.entries[one] for one in sorted(kept)})
