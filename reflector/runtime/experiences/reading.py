"""The experiences and facts of main, and the one that a person named."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from reflector.core.errors import DocumentError, GitError, NotFoundError, UsageError
from reflector.memory.experiences.form import FOLDERS, Layer, Stored, id_of
from reflector.memory.experiences.kept import Kept, kept_in
from reflector.runtime.wiring import Context
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_TOLD = 5
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Held:
    """The items of one layer at one revision of main."""

    layer: Layer
    revision: str
    kept: Kept

    def named(self, words: str) -> Stored:
        """Return the item that an id, the beginning of one, or a path names."""
        return named(self.kept, self.layer, words)


def held(context: Context, layer: Layer) -> Held:
    """Read a layer as main has it; what is not committed does not show."""
    context.require()
    with Reads(context.agent.repo) as reads:
        revision = reads.resolve(MAIN)
        if revision is None:
            raise GitError(f"The memory {context.agent.repo} has no commit on main.")
        return Held(layer, revision, kept_in(reads.tree(revision), layer))


def named(kept: Kept, layer: Layer, words: str) -> Stored:
    """Return the item that an id, the beginning of one, or a path names.

    Raises NotFoundError when there is none, UsageError when there are several; both name some.
    """
    given = words.strip().lower()
    found = [one for one in kept.of(layer) if given and one.id.startswith(given)]
    if "/" in given:
        # All of it counts: a copy of a document has the same id as the one that is kept.
        path = f"/{given.removesuffix('.md')}.md"
        found = [one for one in kept.of(layer) if path.endswith(f"/{one.path.lower()}")]
        given = found[0].id if found else ""
    exact = [one for one in found if one.id == given]
    if len(exact or found) == 1 and (exact or len(given) >= _SHORTEST):
        return (exact or found)[0]
    command = FOLDERS[layer].rstrip("/")
    if not found and (fault := _unreadable(kept, words.strip().lower())):
        path = str(fault.facts["path"])
        raise NotFoundError(
            f"The {layer} {words[:80]!r} cannot be read: {fault.message}",
            hint=f"Mend it, or take it out with `reflector memory forget {quote(path)}`.",
            path=path,
        )
    if not found:
        raise NotFoundError(
            f"There is no {layer} {words[:80]!r} in this memory.",
            hint=_hint(kept.of(layer), command),
        )
    several = "is the beginning of several ids" if len(found) > 1 else "is too short for an id"
    raise UsageError(
        f"{words[:80]!r} {several}: {', '.join(one.id for one in found[:_TOLD])}"
        f"{' …' if len(found) > _TOLD else ''}.",
        hint=f"Give more of it; `reflector {command} list` shows them all.",
        candidates=",".join(one.id for one in found[:_TOLD]),
    )


def _unreadable(kept: Kept, given: str) -> DocumentError | None:
    """Return why a document that is named is no item: somebody broke it by hand."""
    for each in kept.others if len(given) >= _SHORTEST else ():
        path = str(each.facts["path"]).lower()
        if id_of(path).startswith(given) or f"/{path}" == f"/{given.removesuffix('.md')}.md":
            return each
    return None


def _hint(newest: list[Stored], command: str) -> str:
    if not newest:
        return "There are none yet; `reflector experiences extract` reads what waits."
    ids = ", ".join(one.id for one in newest[:_TOLD])
    return f"The newest are {ids}; `reflector {command} list` shows them all."
