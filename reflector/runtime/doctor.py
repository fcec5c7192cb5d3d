"""Looking for trouble: each check is one sentence, and says what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reflector.core.errors import DocumentError, ReflectorError
from reflector.memory.document import parse
from reflector.memory.tree import is_document
from reflector.runtime import too_late
from reflector.runtime.harnesses import findings
from reflector.runtime.sandbox_probe import outlook
from reflector.runtime.status import status
from reflector.runtime.wiring import Context
from reflector.vcs.glance import documents, glance
from reflector.vcs.porcelain import git_version
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

_SUPPORTED_DOCUMENTS = 20_000
_LEAST_FREE = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    message: str
    hint: str = ""

    def as_json(self) -> dict[str, str | bool]:
        """Return the machine form."""
        return {"name": self.name, "ok": self.ok, "message": self.message, "hint": self.hint}


def doctor(context: Context) -> list[Check]:
    """Look at everything; a check that fails itself is a finding, not a crash."""
    found: list[Check] = []
    for name, look in _CHECKS.items():
        try:
            found.extend(look(context))
        except ReflectorError as error:
            found.append(Check(name, ok=False, message=error.message, hint=error.hint))
    return found


def _git(context: Context) -> Iterator[Check]:
    version = ".".join(map(str, git_version(Scrubbed(context.environ))))
    yield Check("git", ok=True, message=f"git {version}")


def _disk(context: Context) -> Iterator[Check]:
    home = context.home.path
    free = shutil.disk_usage(next(each for each in (home, *home.parents) if each.exists())).free
    message = f"{free // 1024 // 1024} MiB free under {home}"
    yield Check("disk", free > _LEAST_FREE, message, "Free some space.")


def _memory(context: Context) -> Iterator[Check]:
    context.require()
    scrubbed, repo = Scrubbed(context.environ), context.agent.repo
    git = glance(scrubbed, repo)
    count = len(documents(scrubbed, repo, git.head))
    yield Check(
        "branch", git.branch == "main", f"HEAD is on {git.branch or 'no branch'}", "Switch."
    )
    large = f"{count} files in the memory (up to {_SUPPORTED_DOCUMENTS} are supported)"
    yield Check("size", count <= _SUPPORTED_DOCUMENTS, large, "Archive what is not needed.")
    yield from _index_lock(context)
    broken = list(_broken(context))
    yield from broken
    if not broken:
        yield Check("documents", ok=True, message="every document can be read")


def _index_lock(context: Context) -> Iterator[Check]:
    lock = context.agent.repo / ".git" / "index.lock"
    if lock.exists():
        yield Check(
            "index_lock",
            ok=False,
            message=f"{lock} exists: git refuses to commit in the memory.",
            hint="If no git command is running there, remove that file.",
        )


def _broken(context: Context) -> Iterator[Check]:
    with Reads(context.agent.repo) as reads:
        head = reads.head().sha
        if head is None:
            yield Check(
                "commit",
                ok=False,
                message=f"{context.agent.repo} has no commit that can be read.",
                hint="`git fsck` there names what is damaged.",
            )
            return
        tree = reads.tree(head)
        for leaf in tree.leaves():
            if not is_document(leaf.path):
                continue
            try:
                parse(leaf.path, reads.content(leaf.oid))
            except DocumentError as error:
                yield Check("document", ok=False, message=error.message, hint=error.hint)


def _state(context: Context) -> Iterator[Check]:
    with context.state() as state:
        (answer,) = state.connection.execute("PRAGMA quick_check").fetchone()
    yield Check(
        "state", answer == "ok", f"state database: {answer}", "`reflector doctor --fix` repairs it."
    )


def _problems(context: Context) -> Iterator[Check]:
    for each in status(context).problems:
        yield Check(each.code, ok=False, message=each.message, hint=each.hint)


def _harnesses(context: Context) -> Iterator[Check]:
    for each in findings(context):
        yield Check(each.name, each.ok, each.message, each.hint)


def _sandbox(context: Context) -> Iterator[Check]:
    found = outlook(context, afresh=True)
    if not found.refused:  # that it is refused is said among the problems
        yield Check("sandbox", ok=True, message=found.sentence)


def _diary(context: Context) -> Iterator[Check]:
    from reflector.runtime.diary.health import troubles  # noqa: PLC0415 - most keep no diary

    if (context.agent.diary / ".git").is_dir():
        found = list(troubles(context))
        yield from (Check("diary", ok=False, message=said, hint=hint) for said, hint in found)
        if not found:
            yield Check("diary", ok=True, message="the diary stays here and can be read")


def _beside(context: Context) -> Iterator[Check]:
    if not context.settings.flag("recall.inject"):
        return
    with context.state() as state:
        found = too_late.week(state.connection, context.ambient.clock.now())
    if found.total:
        hint = "This machine is busy. `recall.inject = false` in the home's config.toml spares the wait."
        yield Check("beside", not found.slow, found.sentence, hint)


def _limits(_context: Context) -> Iterator[Check]:
    yield Check(
        "limits",
        ok=True,
        message="Not in this version: pulling memory from another machine, embeddings.",
    )


_CHECKS: dict[str, Callable[[Context], Iterator[Check]]] = {
    "git": _git,
    "disk": _disk,
    "memory": _memory,
    "state": _state,
    "diary": _diary,
    "harnesses": _harnesses,
    "sandbox": _sandbox,
    "beside": _beside,
    "problems": _problems,
    "limits": _limits,
}
