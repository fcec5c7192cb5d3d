"""The proof of a forgetting: everything of an identity read again, and what is out of our reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reflector.core.needle import Needle
from reflector.memory.purge import Purge
from reflector.memory.tree import Tree
from reflector.runtime.forgetting.files import holds, in_git_dir, persons_own, remaining
from reflector.runtime.wiring import Context
from reflector.store import forgetting
from reflector.vcs.objects import Objects
from reflector.vcs.reads import Reads
from reflector.vcs.remote import shown as shown_remote

_SHOWN = 20


def everywhere(context: Context, purge: Purge) -> list[str]:
    """Return every place that still holds it: tables, files; of the memory's git dir `in_git` tells."""
    agent, needle = context.agent, purge.needle
    found: list[str] = []
    for database in sorted(agent.path.glob("*.db")):
        found += forgetting.places(database, needle.within)
    found += [str(file) for file in remaining(context.home, agent, needle)]
    found += in_diary(context, needle)
    return found


def in_diary(context: Context, needle: Needle) -> list[str]:
    """Return what the diary's history keeps of it; its files are looked at with all others."""
    if not (context.agent.diary / ".git").is_dir():
        return []
    from reflector.runtime.diary.search import in_objects  # noqa: PLC0415 - most keep no diary

    return in_objects(context.agent.diary, needle)


def in_git(context: Context, purge: Purge) -> list[str]:
    """Return what git keeps of it: objects, packed and loose, reachable or not; then its files."""
    found = []
    with Objects(context.agent.repo) as objects, Reads(context.agent.repo) as reads:
        for oid in objects:
            kind, content = objects.read(oid)
            named = kind == "commit" and _names(reads, oid, purge.path)
            if named or purge.needle.within(content):
                found.append(f"{kind} {oid}")
    return [*sorted(found), *map(str, in_git_dir(context.agent, purge.needle))]


def _names(reads: Reads, commit: str, path: str) -> bool:
    if not path:
        return False
    tree: Tree = reads.tree(commit)
    return tree.holds(path)


def out_of_reach(context: Context, needle: Needle, sources: list[str]) -> Iterator[str]:
    """Yield what may hold it and is not ours to change. `sources` hold it whatever is in them."""
    with context.state() as state:
        known = [path for path, _ in forgetting.sources_of(state.connection)]
    for path in sorted({*known, *sources}):
        file = Path(path)
        if file.is_file() and (path in sources or holds(file, needle)):
            yield f"{path}: the harness's own transcript"
    for file in persons_own(context.home, needle):
        yield f"{file}: your own file"
    with Reads(context.agent.repo) as reads:
        settings = reads.settings(context.agent.repo / ".git" / "config")
    named = (urls for name, urls in settings.items() if re.fullmatch(r"remote\..*url", name))
    remotes = {context.settings.text("push.remote"), *(url for urls in named for url in urls)}
    for remote in sorted(filter(None, remotes)):
        yield f"{shown_remote(remote)}: a remote, if it was ever pushed to"
    for other in context.home.agents():
        if other.slug != context.agent.slug:
            yield f"{other.path}: the memory of {other.identity!r}, which has its own"
    yield "clones and backups of this home, and what your terminal and shell remember"


def shown(places: list[str]) -> list[str]:
    """Return the first places, and how many more there are."""
    more = len(places) - _SHOWN
    return places if more <= 0 else [*places[:_SHOWN], f"and {more} more"]
