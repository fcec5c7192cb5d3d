"""The diary stays on this machine: whatever would carry it away is refused, or named."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reflector.core.errors import GitError, ReflectorError
from reflector.runtime.wiring import Context
from reflector.vcs.reads import Reads
from reflector.vcs.remote import shown

REASON = (
    "The diary stays on this machine: it has no remote, it is not pushed, synchronised or "
    "replicated, and no setting changes that."
)
HINT = "`reflector diary export FILE.pack` and `import --merge` carry it from one place to another."

_REMOTE = re.compile(r"(?:remote\.(?P<name>.+)\.(?:push)?url|branch\..+\.remote)\Z")


class LocalOnlyError(ReflectorError):
    """Something would have carried a diary away from its machine, or mixed it with something."""

    code = "diary_local_only"


def remotes(diary: Path) -> tuple[str, ...]:
    """Return the remotes that somebody gave a diary by hand, without passwords."""
    if not (diary / ".git").is_dir():
        return ()
    with Reads(diary) as reads:
        settings = reads.settings(diary / ".git" / "config")
    found = {
        f"{name}: {shown(url)}"
        for name, urls in settings.items()
        if _REMOTE.match(name)
        for url in urls
    }
    return tuple(sorted(found))


def refuse_diary(context: Context, place: str) -> None:
    """Raise LocalOnlyError when a repository or remote is a diary of this home.

    `place` is a path or a URL as a person wrote it.
    """
    path = _path(place)
    if path is None:
        return
    inside = {os.path.realpath(each.diary) for each in context.home.agents()}
    inside.add(os.path.realpath(context.agent.diary))
    if any(path == diary or path.startswith(f"{diary}/") for diary in inside):
        raise LocalOnlyError(REASON, hint=HINT, path=path)


def _path(place: str) -> str | None:
    if re.match(r"file://", place, re.IGNORECASE):
        place = unquote(urlsplit(place).path)
    return os.path.realpath(place) if place.startswith(("/", ".", "~")) else None


def trouble(context: Context) -> tuple[str, str] | None:
    """Return what is wrong with where the diary could go, and the next step; None if nothing is."""
    diary = context.agent.diary
    try:
        found = remotes(diary)
    except GitError as error:
        return error.message, f"`git -C {diary} fsck` names what is damaged."
    if not found:
        return None
    said = f"The diary was given a remote by hand ({'; '.join(found)}). {REASON}"
    return said, f"`git -C {diary} remote remove NAME` takes it away. {HINT}"
