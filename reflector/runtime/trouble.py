"""What an error of the machine means: for the run that met it, and for whoever called."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reflector.core.errors import (
    BusyError,
    GitError,
    HomeError,
    ReflectorError,
    RunFailedError,
    SettingsError,
    StateError,
    machine_advice,
)
from reflector.core.run import Reason, Settlement
from reflector.runtime.bench import failed
from reflector.store.disk import unusable

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MACHINE = (GitError, HomeError, StateError, BusyError)


def settlement_of(error: ReflectorError | OSError) -> Settlement:
    """Return how a run ends that met this error."""
    if isinstance(error, OSError):
        detail = f"{error.filename or 'A file of the run'}: {error.strerror}."
        # What is neither git's nor the database's is what the child was to be given.
        return failed(Reason.DISK_FULL if is_full(error) else Reason.SPAWN_FAILED, detail)
    detail = " ".join(filter(None, (error.message, str(error.facts.get("detail", "")))))
    if is_full(error):
        return failed(Reason.DISK_FULL, detail)
    if isinstance(error, SettingsError):  # no conversation's fault; changing the setting clears it
        return failed(Reason.ENGINE_MISSING, f"{detail} {error.hint}".strip())
    if isinstance(error, RunFailedError):  # the child could not be started
        return failed(Reason.SPAWN_FAILED, detail)
    return failed(Reason.GIT_FAILED if isinstance(error, _MACHINE) else Reason.CHILD_EXIT, detail)


def is_full(error: BaseException) -> bool:
    """Tell whether a full disk is behind an error."""
    if isinstance(error, GitError) and error.disk_full:
        return True
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError):
        return cause.errno in _FULL
    # Of the database's own errors, whose type only the store knows.
    return str(getattr(cause, "sqlite_errorname", "")).startswith("SQLITE_FULL")


@contextmanager
def named(home: Path) -> Iterator[None]:
    """Say in our words what the system refused: it is the machine's fault and not a bug of ours."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of what we say went away
    except OSError as error:
        raise unusable(home, error) from error


def way_out(why: str, paths: Sequence[str], edits: str) -> str:
    """Return the next step of a person whose memory cannot be changed now.

    `edits` is that step where edits on `paths` are in the way. Without a path none is, and who is
    told to commit them would be refused for the same reason.
    """
    if advice := machine_advice(why):
        return advice
    if paths:
        return edits
    return "Finish that in the memory repository (`reflector doctor` says how), then try again."
