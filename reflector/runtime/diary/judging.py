"""Turns judged, in order: one very small call for each, or none; in doubt a turn is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reflector.core.ambient import instant
from reflector.core.days import local_day
from reflector.core.diary import Term, term_key
from reflector.pipelines.decisions.envelope import skipped
from reflector.pipelines.diary import judge, lexicon
from reflector.pipelines.diary.folding import TERM
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary import words
from reflector.runtime.diary.asking import Caller, Question, Told
from reflector.runtime.diary.repository import Repository
from reflector.runtime.wiring import Context
from reflector.store import diary, diary_said
from reflector.store.diary import Job


def judge_all(caller: Caller, stop: Callable[[], bool]) -> Waits | None:
    """Judge every turn that waits for it; return what one has to wait for, None when none does."""
    state = caller.state
    terms: tuple[Term, ...] | None = None
    while not stop() and (found := diary.jobs(state.connection, "heard", limit=1)):
        job = found[0]
        text = diary_said.message(state.connection, job)
        if terms is None:
            terms = _terms(caller.context)
        _note_terms(caller, job, terms, text)
        sentence = judge.last_sentence(text)
        # An answer in one word to what was asked is no turn of a relationship.
        why = ("empty" if text else "gone") if not sentence else skipped(text, after_assistant=True)
        if why:
            _end(caller, job, why)
            continue
        if hold := caller.held():
            return hold
        keep = _keeps(caller, job, sentence)
        with state.transaction() as connection:
            diary.judge(connection, job, keep=keep, now=caller.context.ambient.now())
    return None


def _terms(context: Context) -> tuple[Term, ...]:
    repository = Repository(context)
    found = repository.read(adopt=False).lexicon if repository.exists else {}
    return tuple(found.values())


def _note_terms(caller: Caller, job: Job, terms: Sequence[Term], text: str) -> None:
    """Count the shared phrases that a person said; the next night writes it down.

    Noted by turn: a job that is looked at again counts nothing twice.
    """
    said = [TERM + term_key(each.term) for each in lexicon.occurring(terms, text)]
    if said:
        connection = caller.state.connection
        day = local_day(instant(diary_said.said_at(connection, job))).isoformat()
        with caller.state.transaction():
            diary.mentioned(connection, said, job.conversation, job.turn, day)


def _keeps(caller: Caller, job: Job, sentence: str) -> bool:
    """Ask. A failure of any kind is a yes: what is lost here is lost for good."""
    found = caller.ask(
        Question(
            name="diary.judge",
            system="",
            text=words.question(sentence),
            limit=judge.MOST_OUTPUT_TOKENS,
            seconds=judge.SECONDS,
            conversation=job.conversation,
        )
    )
    return judge.keeps(found.text) if isinstance(found, Told) else True


def _end(caller: Caller, job: Job, why: str) -> None:
    with caller.state.transaction() as connection:
        diary.skip(connection, job, why, caller.context.ambient.now())
