"""Short memory of a session: its files as they are now, what an agent sees of them, their edits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import DocumentError, NotFoundError, UsageError
from reflector.core.redact import redact
from reflector.core.sentinel import escape
from reflector.memory import short_memory_shown as shown
from reflector.memory.short_memory import (
    Fault,
    Given,
    Parsed,
    Scope,
    ShortMemory,
    Unread,
    parse,
    render,
)
from reflector.memory.short_memory_edit import Change, edited
from reflector.runtime.wiring import Context
from reflector.store import short_memory as files
from reflector.store.disk import make_folder
from reflector.store.locks import held
from reflector.store.short_memory import Candidate, Reading


@dataclass(frozen=True, slots=True)
class Looked:
    """A file as it is now. `twin` is the other scope's path when both lead to one file.

    That file is shown, and its faults told, under the narrower scope: the user's is `hidden`.
    """

    candidate: Candidate
    exists: bool
    parsed: Parsed
    injected: str = ""
    twin: str = ""

    @property
    def hidden(self) -> bool:
        """Tell whether this file is shown under the other scope."""
        return bool(self.twin) and self.candidate.scope == "user"

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the faults that are told here."""
        return () if self.hidden else self.parsed.faults

    @property
    def rendered(self) -> str:
        """Return the entries as they would be shown, whether faults keep them back or not."""
        return render(self.parsed.entries)


def candidates(context: Context, start: Path | None) -> tuple[Candidate, ...]:
    """Return where the files of a session lie that starts in `start`: user, then project."""
    environ = context.environ
    spelled = environ.get("REFLECTOR_HOME") or f"{environ.get('HOME', '')}/.reflector"
    typed = os.path.expanduser(spelled)  # noqa: PTH111 - Path raises for an unknown ~user
    return files.candidates(context.home.path, typed, None if start is None else str(start))


def stamps(context: Context, start: Path | None) -> tuple[str, ...]:
    """Return a line for each file that changes when the file does; nothing is read.

    Each is the path as JSON, then device, inode, size, mtime and ctime (ns), or `absent`, or
    `unreadable` and an error number. There are none when short memory is turned off.
    """
    if not context.settings.flag("short_memory.enabled"):
        return ()
    return tuple(files.stamp(one) for one in candidates(context, start))


def section(context: Context, start: Path | None) -> ShortMemory:
    """Return what the compiled block shows of short memory: read now, redacted and escaped."""
    if not context.settings.flag("short_memory.enabled"):
        return ShortMemory()
    found = looked(candidates(context, start))
    given: list[Given] = []
    troubles: list[str] = []
    for one in found:
        path, twin = _speakable(one.candidate.path), _speakable(one.twin)
        if one.faults:
            troubles.append(shown.trouble(path, one.faults))
        elif one.injected:
            scope, root = one.candidate.scope, _speakable(one.candidate.root)
            text = shown.element(scope, path, one.injected, root, twin)
            given.append(Given(scope, path, text))
    essence = _policy(tuple(one.candidate for one in found), full=False)
    return ShortMemory(escape(essence.rstrip("\n")), tuple(given), tuple(troubles))


def policy(context: Context, start: Path | None) -> str:
    """Return the whole policy, with the paths of a session that starts in `start`."""
    return _policy(candidates(context, start), full=True)


def _policy(places: Sequence[Candidate], *, full: bool) -> str:
    # Importing the templates costs more than everything else here.
    from reflector.pipelines.contexts import ShortMemoryContext  # noqa: PLC0415
    from reflector.runtime.words import open_words  # noqa: PLC0415

    paths = {one.scope: _speakable(one.path) for one in places}
    words = ShortMemoryContext(user=paths["user"], project=paths.get("project", ""))
    return open_words().short_memory_policy(words, full=full)


def looked(places: Sequence[Candidate]) -> tuple[Looked, ...]:
    """Look at every file once; one that two paths lead to is shown under the narrower scope."""
    readings = [files.read(one.path) for one in places]
    twins = len(readings) > 1 and readings[0].identity is not None
    twins = twins and readings[0].identity == readings[-1].identity
    if twins:  # parsed once: what changed between two readings must not be shown as two truths
        readings = [readings[-1]] * 2
    paths = [one.path for one in places]
    found: list[Looked] = []
    for place, reading in zip(places, readings, strict=True):
        twin = next((path for path in paths if path != place.path), "") if twins else ""
        parsed = _parsed(reading)
        hidden = twins and place.scope == "user"
        injected = "" if hidden else redact(parsed.injected).text
        found.append(Looked(place, reading.content is not None, parsed, injected, twin))
    return tuple(found)


def look(path: str) -> Looked:
    """Look at any file, as `check FILE` does. Raises NotFoundError when there is none."""
    (found,) = looked((Candidate("user", path),))
    if not found.exists:
        raise NotFoundError(f"There is no file {path}.", hint="Check the path.", path=path)
    return found


def _parsed(reading: Reading) -> Parsed:
    content = reading.content
    if isinstance(content, Unread):
        return Parsed(faults=(content,))
    return parse(content or "")


def _speakable(path: str) -> str:
    """Make a path fit to be sent: names on disk may be no text, and may hold a secret."""
    return redact(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).text


def change(context: Context, scope: Scope, start: Path | None, wanted: Change) -> str:
    """Make one change of one entry and return the path of the file.

    Raises DocumentError in a background run, for a faulty or full file and when writing fails;
    UsageError when the session has no file of this scope.
    """
    if context.environ.get("REFLECTOR_CHILD"):
        raise DocumentError(
            "Short memory is the person's own file: a background run never writes it.",
            hint="Write what was learned into the memory of the run.",
        )
    place = next((one for one in candidates(context, start) if one.scope == scope), None)
    if place is None:
        raise UsageError(
            "This conversation has no project file.",
            hint="Start in the project's folder, or name it with --cwd.",
        )
    make_folder(context.home.path / "locks")
    lock = context.home.path / "locks" / "short-memory.lock"
    with held(lock, context.ambient.clock, "editing short memory"):
        reading = files.read(place.path)
        if isinstance(reading.content, Unread):
            raise DocumentError(
                f"{place.path} cannot be read: {reading.content.detail}.",
                hint="Look at what lies there; nothing was changed.",
                path=place.path,
            )
        after = edited(reading.content or "", wanted, place.path, scope)
        files.save(place.path, after.encode(), reading)
    return place.path
