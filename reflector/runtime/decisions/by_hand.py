"""What a person does to a bank and its ledger: a decision written down, a delta forgotten, a bank cleared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflector.core.cleaning import clean
from reflector.core.decision import Delta, FileName, Kind, Source, Told
from reflector.core.ellipsis import shortened
from reflector.core.errors import DocumentError, NotFoundError, UsageError
from reflector.core.visible import visible
from reflector.memory.tree import Tree
from reflector.pipelines.decisions.bullets import HOMES, path_of, read_bank, written
from reflector.pipelines.decisions.edits import SECTION, Add, Refused, apply
from reflector.runtime.decisions.bank import held
from reflector.runtime.wiring import Context
from reflector.runtime.writing import write
from reflector.store import bullets, decisions

_SUBJECT = 60


@dataclass(frozen=True, slots=True)
class Given:
    """A decision as a person gives it; `file` is "" for the home of its kind."""

    statement: str
    kind: Kind
    file: FileName | None = None
    section: str = SECTION
    rejected: str = ""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of it: the commit, the file and the delta."""

    commit: str
    path: str
    delta: int


def add(context: Context, bank: str, given: Given) -> Added:
    """Write a decision into its file at once: a person's word needs no friction.

    Raises DocumentError with the first rule that it breaks, UsageError for what is no line of text.
    """
    file = given.file or HOMES[given.kind]
    statement, rejected, rationale = map(_line, (given.statement, given.rejected, given.rationale))

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        done = apply(read_bank(bank, tree.read), [Add(file, given.section, statement)])
        if isinstance(done, Refused):
            raise _refused(done)
        return written(bank, tree.read, done.files)

    done = write(context, change, f"decided: {shortened(statement, _SUBJECT)}")
    now = context.ambient.now()
    delta = Delta(
        given.kind, statement, Source.EXPLICIT, statement, 0, len(statement),
        rejected_alternative=rejected, rationale=rationale,
    )  # fmt: skip
    with context.state() as state, state.transaction() as connection:
        made = decisions.add_delta(connection, bank, "", "", now, "person", delta)
        decisions.consume(connection, [made], done.commit, now)
        told = Told(0, bank, file, statement, (made,), done.commit, now)
        bullets.record(connection, told)
    return Added(done.commit, path_of(bank, file), made)


def _line(text: str) -> str:
    wrong = "a secret" if clean(text) != text else "a line end" if "\n" in text.strip() else ""
    if wrong:
        raise UsageError(
            f"The decision holds {wrong}.", hint="Say it in one line that everybody may read."
        )
    return visible(text)


def _refused(done: Refused) -> DocumentError:
    first = done.findings[0]
    return DocumentError(
        f"The decision was not written: {first.message}",
        path=first.path,
        line=0,
        code=first.code,
        sentence=first.message,
    )


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A delta that went; `bullets` still rest on it, each with its place."""

    bank: str
    bullets: tuple[tuple[str, str], ...]


def forget(context: Context, which: int) -> Forgotten:
    """Remove a delta from the ledger. What it became stays, and is told. Raises NotFoundError."""
    with context.state() as state:
        with state.transaction() as connection:
            bank = decisions.bank_of_delta(connection, which)
            if bank is None or not decisions.forget_delta(connection, which):
                raise NotFoundError(
                    f"There is no delta {which} in the ledger.",
                    hint="`reflector decisions queue` and `reflector decisions why` name them.",
                )
        resting = {
            one.text
            for one in bullets.every(state.connection, bank)
            if which in one.deltas and not one.superseded
        }
    here = held(context, bank)
    found = ((here.place(one), one.text) for one in here.files.bullets if one.text in resting)
    return Forgotten(bank, tuple(found))
