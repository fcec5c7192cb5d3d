"""The push mirror: after a merge, main goes to the person's own remote; never by force, never back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from reflector.core.ambient import instant
from reflector.core.cleaning import clean
from reflector.core.errors import GitError, ReflectorError
from reflector.runtime.detached import start
from reflector.runtime.tracebacks import clean_tracebacks
from reflector.runtime.wiring import Context, context
from reflector.store import scheduling
from reflector.store.locks import Lock
from reflector.store.state import Connection
from reflector.vcs.glance import count
from reflector.vcs.port import MAIN
from reflector.vcs.remote import Failure, Refused, Remote, push, remote, shown
from reflector.vcs.scrub import Scrubbed
from reflector.vcs.tip import main_commit

_PUSHER = (sys.executable, "-I", "-m", "reflector.runtime.push")
"""How a detached push is started; home and identity are added to it."""

SECONDS = 30.0
_AGAIN = timedelta(minutes=10)
_MARK = "push"
_HINTS = {
    Failure.DIVERGED: "Merge that branch into main at the remote yourself; nothing is forced.",
    Failure.REJECTED: "The remote's own rules refused it: look at its protected branches and hooks.",
    Failure.AUTH: "Check the ssh key, `~/.netrc` or the password in push.remote.",
    Failure.UNREACHABLE: "Check push.remote and the network; the next merge tries again.",
    Failure.TIMED_OUT: "Check the network; the next merge tries again.",
    Failure.FAILED: "`git push` to that place by hand says more.",
}


@dataclass(frozen=True, slots=True)
class Mirrored:
    """How far the remote has been brought, and what went wrong the last time.

    `sha` is the commit that arrived last, at `at`, on `branch`; `failure` is "" when the last
    attempt, at `tried_at`, went well. `diverged` tells that the remote's main has other commits.
    """

    sha: str = ""
    branch: str = ""
    at: str = ""
    tried_at: str = ""
    failure: str = ""
    detail: str = ""
    diverged: bool = False


def begin(context: Context) -> None:
    """Start a push in the background if there is a mirror; a run never waits for it."""
    if enabled(context):
        try:
            process = start(context, _PUSHER, out=subprocess.DEVNULL)
        except OSError:
            return  # the next merge, or the daemon, tries again
        process.returncode = 0  # it lives on without us


def begin_when_behind(context: Context) -> None:
    """Start a push if the mirror lacks something and the last failure is some time ago."""
    if not enabled(context):
        return
    with context.state() as state:
        known = mirrored(state.connection)
    if known.failure and context.ambient.clock.now() < instant(known.tried_at) + _AGAIN:
        return
    if known.sha != main_commit(context.agent.repo):
        begin(context)


def enabled(context: Context) -> bool:
    """Tell whether there is a mirror to push to."""
    return context.settings.flag("push.enabled") and bool(context.settings.text("push.remote"))


def mirrored(connection: Connection) -> Mirrored:
    """Return what is known of the mirror."""
    try:
        return Mirrored(**json.loads(scheduling.mark(connection, _MARK) or "{}"))
    except (ValueError, TypeError):
        return Mirrored()


def mirror(context: Context, seconds: float = SECONDS) -> Mirrored | None:
    """Push main until the remote has what main has now; None while somebody else does.

    All attempts together take no longer than `seconds`. What went wrong is noted, never raised.
    """
    lock = Lock(context.agent.lock("push"))
    if not lock.take():
        return None  # its holder looks once more after it lets go
    try:
        known = _attempt(context, seconds)
    finally:
        lock.release()
    if not known.failure and known.sha != main_commit(context.agent.repo):
        return mirror(context, seconds)
    return known


def _attempt(context: Context, seconds: float) -> Mirrored:
    now = context.ambient.now()
    with context.state() as state:
        before = mirrored(state.connection)
    after = replace(before, tried_at=now, failure="", detail="", diverged=False)
    commit = main_commit(context.agent.repo) or ""
    try:
        branch, refused = _pushed(context, commit, seconds)
    except ReflectorError as error:
        branch, refused = "", Refused(Failure.FAILED, clean(error.message))
    if refused is None:
        after = replace(after, sha=commit, branch=branch, at=now, diverged=branch != "main")
    else:
        after = replace(after, failure=refused.why.value, detail=refused.detail)
    with context.state() as state, state.transaction() as connection:
        scheduling.set_mark(connection, _MARK, json.dumps(asdict(after)))
    return after


def _pushed(context: Context, commit: str, seconds: float) -> tuple[str, Refused | None]:
    """Push to main, and to this host's own branch where main has other commits."""
    if not commit:  # git takes a push of nothing as the wish to delete what is there
        raise GitError("The memory has no commit on main.")
    clock = context.ambient.clock
    until = clock.monotonic() + seconds
    typed = context.settings.text("push.remote")
    from reflector.runtime.diary.remotes import refuse_diary  # noqa: PLC0415 - where it is pushed

    refuse_diary(context, typed)
    to = remote(typed)
    refused = _push(context, to, commit, "main", seconds)
    if refused is None or refused.why is not Failure.DIVERGED:
        return "main", refused
    branch = f"reflector/{_slug(host())}"
    return branch, _push(context, to, commit, branch, max(1.0, until - clock.monotonic()))


def _push(context: Context, to: Remote, commit: str, branch: str, seconds: float) -> Refused | None:
    return push(Scrubbed(context.environ), context.agent.repo, to, commit, branch, seconds)


def host() -> str:
    """Return this machine's name."""
    import platform  # noqa: PLC0415 - only where main has diverged

    return platform.node()


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "host"


def as_json(context: Context, connection: Connection) -> dict[str, Any]:
    """Return the machine form of the mirror; `ahead` and `behind` are null when nobody knows."""
    known = mirrored(connection)
    ahead = _ahead(context, known) if enabled(context) else None
    typed = context.settings.text("push.remote")
    return {
        "enabled": context.settings.flag("push.enabled"),
        "remote": shown(typed) if typed else None,
        "branch": known.branch or None,
        "ahead": ahead,
        "behind": None if known.diverged or not known.sha else 0,
        "last_push_at": known.at or None,
        "last_error": {"code": known.failure, "message": known.detail, "at": known.tried_at}
        if known.failure
        else None,
    }


def _ahead(context: Context, known: Mirrored) -> int | None:
    try:
        return count(Scrubbed(context.environ), context.agent.repo, known.sha, MAIN)
    except GitError:  # the commit that was pushed is not in this history any more
        return None


def troubles(context: Context, connection: Connection) -> Iterator[tuple[str, str, str]]:
    """Yield code, sentence and next step of what is wrong with the mirror."""
    if context.settings.flag("push.enabled") and not context.settings.text("push.remote"):
        yield "push_nowhere", "push.enabled is true, but push.remote is empty.", "Set push.remote."
    if not enabled(context):
        return
    known, place = mirrored(connection), shown(context.settings.text("push.remote"))
    if known.failure:
        what = f"The memory was not pushed to {place} ({known.failure}): {known.detail}"
        yield "push_failed", what, _HINTS[Failure(known.failure)]
    elif known.diverged:
        yield (
            "push_diverged",
            f"main at {place} has commits that are not here; this memory went to {known.branch}.",
            _HINTS[Failure.DIVERGED],
        )


def main(home: str, identity: str) -> int:
    """Push one identity's memory; its outcome is in `status`."""
    clean_tracebacks()
    try:
        mirror(context(home, identity))
    except (ReflectorError, OSError) as error:
        sys.stderr.write(clean(f"push: {error}\n"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
