"""The times in which a person paused recording: one small file of the home that people can read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reflector.core.ambient import Ambient, stamp
from reflector.core.errors import HomeError, PausesError
from reflector.store.disk import Home, make_folder, read_regular, write_atomic
from reflector.store.locks import held

_LARGEST = 4_000_000
_OPEN = "-"


@dataclass(frozen=True, slots=True)
class Pause:
    """One pause, from its first instant to before its last. Times as `stamp` writes them.

    `until` is "" for one that lasts until somebody resumes.
    """

    since: str
    until: str = ""

    def covers(self, now: str) -> bool:
        """Tell whether recording is paused at this instant.

        One without an end counts wherever the clock stands: it must not be set back out of it.
        """
        return not self.until or self.since <= now < self.until


def path(home: Home) -> Path:
    """Return the file: a line `<from> <until>` each, `-` for a pause without an end."""
    return home.path / "pauses"


def read(home: Home) -> tuple[Pause, ...]:
    """Return every pause there ever was.

    Raises PausesError when the file cannot be read: a pause must never end by accident.
    """
    file = path(home)
    try:
        raw = read_regular(file, _LARGEST)
    except HomeError as error:
        raise _refused(file, error.message) from error
    if raw is None:
        return ()
    try:
        lines = raw.decode("ascii").splitlines()
        if not lines:
            raise ValueError("nothing, so it was cut off")  # noqa: TRY301 - one of its damages
        return tuple(map(_parsed, lines))
    except ValueError as error:
        raise _refused(file, f"it holds {str(error)[:100]}") from error


def pause(home: Home, ambient: Ambient, lasting: timedelta | None) -> Pause:
    """Pause from now on; a pause that holds already is only ever made longer."""
    with _changing(home, ambient):
        before = read(home)
        now = ambient.now()
        until = stamp(ambient.clock.now() + lasting) if lasting else ""
        holding = [each for each in before if each.covers(now)]
        ends = {until, *(each.until for each in holding)}
        made = Pause(min((now, *(each.since for each in holding))), "" if "" in ends else max(ends))
        _write(home, (*(each for each in before if each not in holding), made))
    return made


def resume(home: Home, ambient: Ambient) -> Pause | None:
    """End the pause that holds now and return it; None when there is none."""
    with _changing(home, ambient):
        before = read(home)
        now = ambient.now()
        ended = [each for each in before if each.covers(now)]
        if not ended:
            return None
        shorter = [replace(each, until=max(now, each.since)) for each in ended]
        _write(home, (*(each for each in before if each not in ended), *shorter))
    return Pause(min(each.since for each in ended), now)


def holding(pauses: tuple[Pause, ...], now: str) -> Pause | None:
    """Return the pause that holds at this instant, None when recording goes on."""
    found = [each for each in pauses if each.covers(now)]
    if not found:
        return None
    ends = [each.until for each in found]
    return Pause(min(each.since for each in found), "" if "" in ends else max(ends))


@contextmanager
def _changing(home: Home, ambient: Ambient) -> Iterator[None]:
    make_folder(home.path / "locks")
    with held(home.path / "locks" / "pauses.lock", ambient.clock, "changing the pauses"):
        yield


def _write(home: Home, pauses: tuple[Pause, ...]) -> None:
    lines = [f"{each.since} {each.until or _OPEN}\n" for each in sorted(pauses, key=_since)]
    write_atomic(path(home), "".join(lines).encode("ascii"))


def _since(one: Pause) -> str:
    return one.since


def _parsed(line: str) -> Pause:
    """Read one line; a person may have written its times in any zone. Raises ValueError."""
    words = line.split()
    if len(words) != 2:
        raise ValueError(f"{line[:60]!r}, where two times should be")
    since = _moment(words[0])
    until = "" if words[1] == _OPEN else _moment(words[1])
    if until and until < since:
        raise ValueError(f"{line[:60]!r}, which ends before it begins")
    return Pause(since, until)


def _moment(word: str) -> str:
    found = datetime.fromisoformat(word)
    if found.tzinfo is None:
        raise ValueError(f"{word!r}, a time without its zone")
    return stamp(found.astimezone(UTC))


def _refused(file: Path, why: str) -> PausesError:
    return PausesError(
        f"Nothing is recorded, because the times of pauses in {file} cannot be read: {why}.",
        hint="Correct that file (each line: a time, and the time of its end or -), or move it away "
        "to record again; what was said while paused is then recorded too.",
        path=str(file),
    )
