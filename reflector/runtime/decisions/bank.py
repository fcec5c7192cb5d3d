"""A project's bank as main has it: its files, their bullets with their lines, and which banks there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reflector.core.decision import FILES, FileName
from reflector.core.errors import DocumentError, GitError, PathError, UsageError
from reflector.memory import document
from reflector.memory.finding import Finding
from reflector.memory.tree import parse_path
from reflector.pipelines.decisions.bullets import BankFiles, Bullet, path_of
from reflector.pipelines.decisions.edits import excess, fault
from reflector.runtime.banks import bank_of
from reflector.runtime.wiring import Context
from reflector.store import decisions
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_PROJECTS = "projects"


@dataclass(frozen=True, slots=True)
class Held:
    """The files of one bank at a revision. `above` are the lines of each file's header."""

    bank: str
    revision: str
    files: BankFiles = field(default_factory=BankFiles)
    above: Mapping[FileName, int] = field(default_factory=dict)
    faults: tuple[Finding, ...] = ()

    def place(self, bullet: Bullet) -> str:
        """Return where a bullet stands, as `memory why` takes it."""
        line = self.above.get(bullet.file, 0) + bullet.start + 1
        return f"{path_of(self.bank, bullet.file)}:{line}"


def chosen(named: str | None, start: Path | None) -> str:
    """Return the bank that is meant: the one named, else that of a folder. Raises UsageError."""
    if named is None:
        if bank := bank_of(start):
            return bank
        raise UsageError("This folder belongs to no project.", hint="Name one: --bank BANK.")
    try:
        if "/" not in named:
            return parse_path(f"{_PROJECTS}/{named}/{FILES[0]}.md").split("/")[1]
    except PathError:
        pass
    raise UsageError(
        f"{named[:80]!r} is no name of a bank.", hint="`reflector decisions banks` lists them."
    )


def held(context: Context, bank: str) -> Held:
    """Read a bank's files on main. One that cannot be read counts as empty and is a fault."""
    context.require()
    with Reads(context.agent.repo) as reads:
        revision = reads.resolve(MAIN)
        if revision is None:
            raise GitError(f"The memory {context.agent.repo} has no commit on main.")
        return read(bank, revision, reads.tree(revision).read)


def read(bank: str, revision: str, content: Callable[[str], bytes | None]) -> Held:
    """Read a bank's files; `content` gives a file's bytes by its path."""
    files, above, faults = BankFiles(), dict[FileName, int](), []
    for file in FILES:
        path = path_of(bank, file)
        try:
            if (raw := content(path)) is None:
                continue
            found = document.parse(path, raw)
        except DocumentError as error:
            faults.append(fault("unreadable", file, error.message))
            continue
        files = files.with_body(file, found.body)
        above[file] = found.header.count("\n")
        faults += excess(file, found.body)
    return Held(bank, revision, files, above, tuple(faults))


@dataclass(frozen=True, slots=True)
class Bank:
    """One bank: how many decisions it shows, how many deltas and messages wait."""

    name: str
    bullets: int
    waiting: int
    queued: int


def banks(context: Context) -> list[Bank]:
    """Return every bank that the memory or the ledger knows, by name."""
    context.require()
    with context.state() as state:
        named = set(decisions.banks(state.connection))
        with Reads(context.agent.repo) as reads:
            revision = reads.resolve(MAIN)
            tree = reads.tree(revision) if revision else None
            # Other documents of a project make no bank of decisions.
            folders = tree.folders(_PROJECTS) if tree else {}
            named |= {
                name
                for name, inside in folders.items()
                if any(inside.holds(f"{file}.md") for file in FILES)
            }
            found = []
            for name in sorted(named):
                counted = decisions.counts(state.connection, name)
                shown = read(name, revision or "", tree.read) if tree else Held(name, "")
                waits = (counted.waiting, counted.queued)
                found.append(Bank(name, len(shown.files.bullets), *waits))
    return found
