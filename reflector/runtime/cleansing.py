"""Secrets out of what a run's child wrote itself: its log, its result, its loose files.

The child is the engine's, or an agent's own program: what it writes went through no funnel of ours.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from reflector.core.cleaning import clean, clean_values, suspicious
from reflector.core.errors import GitError
from reflector.core.redact import find_secrets
from reflector.store.disk import AgentHome, write_atomic
from reflector.vcs import expunge
from reflector.vcs.porcelain import Porcelain

_BEGAN = "payload.json"
# What we wrote ourselves went through the funnel.
_OURS = frozenset({_BEGAN, "prompt.md", "administration.json"})


def holds_secret(agent: AgentHome, run_id: str, tip: str) -> bool:
    """Tell whether a commit of a run brings a secret into git, however far back in its chain."""
    objects = _written(agent, run_id)
    return tip in expunge.holding(objects, _secret)


def expunge_secrets(git: Porcelain, agent: AgentHome, run_id: str) -> str:
    """Remove what a run wrote into git, holds a secret and is in no use; return what went wrong."""
    objects = _written(agent, run_id)
    try:
        expunge.expunge(git, objects, expunge.holding(objects, _secret))
    except (GitError, OSError) as error:
        return str(error)
    return ""


def _written(agent: AgentHome, run_id: str) -> dict[str, expunge.Loose]:
    """Return the objects written since the run's child was given its payload."""
    try:
        # The file system's own clock: that is what it stamps objects with.
        began = (agent.run(run_id) / _BEGAN).stat().st_mtime
    except OSError:
        return {}
    return expunge.written_since(agent.repo / ".git", began)


def _secret(text: str) -> bool:
    return suspicious(text) and bool(find_secrets(text))


def cleanse(folder: Path) -> None:
    """Take secrets out of every file of a run's folder, and out of their names.

    No link is followed; a file that nobody may read is left. Doing it twice changes nothing.
    """
    for above, folders, files in os.walk(folder, topdown=False):
        ours = _OURS if Path(above) == folder else frozenset()
        for name in files:
            if name not in ours:
                cleanse_file(Path(above) / name)
        for name in folders:
            _rename(Path(above) / name)


def cleanse_file(place: Path) -> Path:
    """Take secrets out of one file; return where it is now."""
    try:
        if stat.S_ISREG(place.lstat().st_mode):
            _content(place)
        return _rename(place)
    except PermissionError:
        return place


def _content(place: Path) -> None:
    raw = place.read_bytes()
    text = raw.decode("utf-8", "surrogateescape")
    cleaned = _json(raw) if place.suffix == ".json" else None
    if cleaned is None:
        cleaned = clean(text)
    if cleaned != text:
        mode = stat.S_IMODE(place.stat().st_mode)
        write_atomic(place, cleaned.encode("utf-8", "surrogateescape"))
        place.chmod(mode)


def _json(raw: bytes) -> str | None:
    """Return a JSON object whose strings hold no secret, so that it stays one; None if it is none."""
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    cleaned = clean_values(value)
    if cleaned is value or cleaned == value:
        return raw.decode("utf-8", "surrogateescape")
    return json.dumps(cleaned)


def _rename(place: Path) -> Path:
    name = clean(place.name)
    return place if name == place.name else place.rename(place.with_name(name))
