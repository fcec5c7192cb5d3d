"""What keeps old objects alive is let go: logs of refs, pseudo refs, packs; then they are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reflector.core.errors import BusyError, GitError
from reflector.vcs.porcelain import Porcelain, run
from reflector.vcs.scrub import Scrubbed

_LOOSE = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "gc.log")
"""Files of a git dir that name old objects or repeat a message, and that nobody misses."""

_RUNNING = "gc is already running"
_TRIES = 30


def prune(scrubbed: Scrubbed, git: Porcelain, sleep: Callable[[float], None]) -> None:
    """Expire every log of every worktree and remove every object that nothing names any more.

    A collection that is under way already, perhaps of a process that was killed, is waited for.
    """
    for name in _LOOSE:
        (git.git_dir / name).unlink(missing_ok=True)
    expire = ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]
    _git(scrubbed, git, expire, "expire the logs of refs")
    for mark in (git.git_dir / "objects" / "pack").glob("*.keep"):
        mark.unlink(missing_ok=True)  # git packs round such a pack, and never drops it
    for _ in range(_TRIES):
        try:
            return _git(scrubbed, git, ["gc", "-q", "--prune=now"], "remove old objects")
        except GitError as error:
            if _RUNNING not in str(error.facts.get("detail", "")):
                raise
            sleep(1)
    raise BusyError(
        "git has been packing the memory repository for a while.",
        hint="Wait until it ends, then run the same command again.",
    )


def _git(scrubbed: Scrubbed, git: Porcelain, words: Sequence[str], aim: str) -> None:
    where = [f"--git-dir={git.git_dir.resolve()}", f"--work-tree={git.repo.resolve()}"]
    code, _, err = run(scrubbed, git.repo, [*where, *words])
    if code != 0:
        raise GitError(f"git could not {aim}.", detail=err, exit=code)
