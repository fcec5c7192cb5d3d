"""`memory forget`: something is taken out of everything that Reflector keeps, and proved gone."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from reflector.core.errors import BusyError
from reflector.core.machine import SLOT
from reflector.core.needle import Needle
from reflector.memory.purge import Purge
from reflector.runtime import block_cache
from reflector.runtime.forgetting import files, proof
from reflector.runtime.forgetting.intent import Intent, digest, load, place, refuse_other
from reflector.runtime.forgetting.repository import Memory, Refs, removals
from reflector.runtime.forgetting.target import Asked, Kind, Target
from reflector.runtime.front import taken
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.wiring import Context
from reflector.store import forgetting, recall, reservations
from reflector.store.locks import Lock
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN
from reflector.vcs.replace import Replacement
from reflector.vcs.scrub import Scrubbed

_LOCK = "memory forget"
"""Signs git's `index.lock`. Two words: who mends what dead changes left does not touch it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go. `objects` is how many git objects hold it."""

    kind: Kind
    documents: tuple[tuple[str, int, bool], ...]
    entries: int
    conversations: tuple[str, ...]
    runs: tuple[str, ...]
    refs: tuple[str, ...]
    files: tuple[str, ...]
    rows: int
    objects: int

    @property
    def empty(self) -> bool:
        """Tell whether there is nothing at all."""
        counted = self.entries + self.rows + self.objects
        listed = (self.documents, self.conversations, self.runs, self.refs, self.files)
        return not counted and not any(listed)


@dataclass(frozen=True, slots=True)
class Proof:
    """Where it still is, what git history holds, and what nobody here can reach."""

    still: tuple[str, ...]
    in_git: tuple[str, ...]
    out_of_reach: tuple[str, ...]


@dataclass(slots=True)
class Forgotten:
    """What one command did."""

    plan: Plan
    commit: str = ""
    rewritten: int = 0
    proof: Proof = field(default_factory=lambda: Proof((), (), ()))


@contextmanager
def open_memory(context: Context) -> Iterator[Memory]:
    """Open the memory to look at it only; nothing is locked."""
    context.require()
    with context.state() as state:
        git = Porcelain(Scrubbed(context.environ), context.agent.repo)
        yield Memory(context, git, state, Purge(Needle()))


@contextmanager
def all_locks(context: Context) -> Iterator[Memory]:
    """Hold the run lock of every slot and the memory-write lock.

    Raises BusyError while a run is active, or waits to be brought to an end.
    """
    context.require()
    with ExitStack() as stack:
        for slot in sorted(set(SLOT.values())):
            presence = Lock(context.agent.lock(f"run-{slot}"))
            if not taken(presence, context):
                raise _busy("A run is active.")
            stack.callback(presence.release)
        state = stack.enter_context(context.state(busy_seconds=30))
        if running := reservations.active(state.connection):
            raise _busy(f"Run {running[0].id} is active, or died and was not brought to its end.")
        git = stack.enter_context(memory_write(context))
        yield Memory(context, git, state, Purge(Needle()))


def _busy(why: str) -> BusyError:
    return BusyError(
        f"{why} Nothing can be forgotten while something is learned.",
        hint="`reflector status` shows it; `reflector reflect` brings a dead one to its end. Then "
        "run the same command again.",
    )


def look(memory: Memory, target: Target) -> Plan:
    """Return what would go; nothing is changed."""
    context, needle = memory.context, target.purge.needle
    memory = replace(memory, purge=target.purge)
    agent = context.agent
    found = forgetting.find(memory.state.connection, _holds(target), target.conversation)
    there = (
        *files.lines_in(context.home, agent, needle),
        *files.derived(agent, needle, agent.state),
        *proof.in_diary(context, needle),
    )
    return Plan(
        target.kind,
        tuple(
            (one.path, one.lines, one.content is None) for one in removals(context, memory.purge)
        ),
        len(found.entries),
        found.conversations,
        tuple(files.run_folders(agent, needle, target.runs)),
        tuple(memory.holding_refs()),
        tuple(map(str, there)),
        len(found.runs) + found.others,
        len(proof.in_git(context, target.purge)),
    )


def _holds(target: Target) -> forgetting.Holds:
    """Return what is looked for in the database: of a document its path, of the rest the text."""
    if target.purge.path:
        path = target.purge.path.encode("utf-8", "surrogatepass")
        return lambda content: content == path or target.purge.needle.within(content)
    return target.purge.needle.within


def forget(memory: Memory, asked: Asked, target: Target, *, diary: bool = True) -> Forgotten:
    """Take it out of everything, then look for it everywhere. Safe to repeat after any death.

    With `diary` off, the diary is left to the caller.
    """
    walk = steps(memory, asked, target, diary=diary)
    while True:
        try:
            next(walk)
        except StopIteration as end:
            done: Forgotten = end.value
            return done


def steps(
    memory: Memory, asked: Asked, target: Target, *, diary: bool = True
) -> Generator[str, None, Forgotten]:
    """Do what `forget` does, stopping after each step.

    The database comes last: it tells what a conversation said.
    """
    context, agent = memory.context, memory.context.agent
    memory = replace(memory, purge=target.purge)
    intent = _begin(memory, asked, target)
    done = Forgotten(look(memory, target))
    yield "begun"
    _files(memory, target, done.plan)
    yield "files"
    done.commit = "" if asked.history else memory.commit()
    memory.drop_worktrees(every=asked.history)
    if asked.history:
        commits = yield from memory.rewrite(lambda refs: _intend(memory, intent, refs))
        done.rewritten = len(commits)
        memory.prune()
    else:
        memory.drop_refs()
    yield "memory"
    if diary and agent.diary.is_dir():
        from reflector.runtime.diary.forgetting import along  # noqa: PLC0415 - most keep no diary

        along(memory, target.purge.needle, target.conversation)
    forgetting.erase(memory.state, _holds(target), target.conversation, target.runs)
    yield "erased"
    forgetting.compact(memory.state, agent.state)
    yield "compacted"
    # Again: a search may have read what was still there. It holds the lock while it does.
    _unsearch(memory)
    block_cache.refresh(context)
    done.proof = prove(context, target)
    place(agent).unlink(missing_ok=True)
    return done


def _begin(memory: Memory, asked: Asked, target: Target) -> Intent:
    """Write down what is begun, or take up what was cut off."""
    agent, ambient = memory.context.agent, memory.context.ambient
    intent = load(agent)
    if intent is not None:
        refuse_other(agent, intent, asked.command)
        refs = {MAIN: (intent.old, intent.new)}
        memory.catch_up(_replacement(intent, refs) if intent.old else None)
    memory.refuse(history=asked.history)
    if intent is None:
        salt = ambient.token()
        intent = Intent(salt, digest(salt, asked.command), target.kind, ambient.now())
        intent.save(agent)
    return intent


def _intend(memory: Memory, intent: Intent, refs: Refs) -> Replacement:
    old, new = refs[MAIN]
    replace(intent, old=old, new=new).save(memory.context.agent)
    return _replacement(intent, refs)


def _replacement(intent: Intent, refs: Refs) -> Replacement:
    return Replacement(refs, _LOCK, intent.salt)


def _files(memory: Memory, target: Target, plan: Plan) -> None:
    agent, needle = memory.context.agent, target.purge.needle
    _unsearch(memory)  # whole: an index keeps words in a form in which no search finds them
    files.remove_runs(agent, plan.runs)
    for file in files.lines_in(memory.context.home, agent, needle):
        files.blank_lines(file, needle)
    for file in files.derived(agent, needle, agent.state):
        file.unlink(missing_ok=True)


def _unsearch(memory: Memory) -> None:
    clock = memory.context.ambient.clock
    recall.drop(memory.context.agent, clock, recall.MEMORY, recall.JOURNAL)


def prove(context: Context, target: Target) -> Proof:
    """Read everything again."""
    beyond = list(proof.out_of_reach(context, target.purge.needle, list(target.sources)))
    if target.kind == "conversation" and target.runs:
        beyond.append(
            f"what {', '.join(target.runs[:5])} learned from it in other words: "
            "`reflector show RUN --diff` shows it, `reflector undo RUN` takes it back"
        )
    return Proof(
        tuple(proof.everywhere(context, target.purge)),
        tuple(proof.in_git(context, target.purge)),
        tuple(beyond),
    )


def started(context: Context, asked: Asked) -> str:
    """Return what kind a cut-off forgetting of these words was, "" if none was.

    Raises BusyError when another one was cut off.
    """
    intent = load(context.agent)
    if intent is None:
        return ""
    refuse_other(context.agent, intent, asked.command)
    return intent.kind
