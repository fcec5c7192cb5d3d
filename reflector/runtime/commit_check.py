"""The check that a person may put before their own commits: one hook of git, ours alone."""

from __future__ import annotations

import shlex
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import BusyError, GitError, ReflectorError
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.disk import make_folder, on_disk, read_regular, write_atomic
from reflector.vcs import porcelain
from reflector.vcs.scrub import Scrubbed

OVERRIDE = "git commit --no-verify"

_MARK = "# reflector: the check before commits; `reflector memory lint --remove-check` removes it"
_KEY = "core.hooksPath"
# Relative: in the worktree of a run there is no such folder, so nothing there runs a hook.
_HOOKS = ".git/hooks"
_NO_HOOKS = "/dev/null"
_LARGEST_HOOK = 1 << 20

_SCRIPT = """#!/bin/sh
{mark}
# To commit without it, once: {override}
python={python}
if ! [ -x "$python" ]; then
  echo "reflector is no longer at $python: this commit is not checked." >&2
  exit 0
fi
"$python" -P -m reflector memory lint --staged --index "${{GIT_INDEX_FILE:-.git/index}}" \\
  --home={home} --identity={identity} >&2
code=$?
case $code in
  0) exit 0 ;;
  1) echo "Not committed. Commit anyway: {override}" >&2 ;;
  *) echo "Not committed: the check itself failed. Commit anyway: {override}" >&2 ;;
esac
exit 1
"""


class ForeignHookError(ReflectorError):
    """Somebody else's hooks are where the check would go."""

    code = "foreign_hook"


@dataclass(frozen=True, slots=True)
class Done:
    """Where the check is or was, and whether anything had to be done."""

    hook: Path
    changed: bool


def install(context: Context) -> Done:
    """Write the hook and let git run hooks of this repository for a person.

    Raises ForeignHookError when other hooks lie there or git looks for hooks elsewhere, BusyError
    while a run is active: at its end the repository's hooks must be as they were.
    """
    hook, content = _hook(context), _script(context)
    there, setting = _present(hook), _setting(context)
    if there == content and setting == _HOOKS:
        return Done(hook, changed=False)
    if there and _MARK.encode() not in there:
        raise _foreign(f"{hook} is somebody else's and stays as it is.")
    if setting not in (None, _NO_HOOKS, _HOOKS):
        raise _foreign(f"git looks for the hooks of {context.agent.repo} in {setting}.")
    if setting != _HOOKS and (others := _others(hook)):
        raise _foreign(f"{others[0]} lies beside it and would begin to run too.")
    _refuse_while_running(context)
    with on_disk(hook.parent):
        make_folder(hook.parent)
        write_atomic(hook, content)
        hook.chmod(0o700)
    _set(context, _HOOKS)
    return Done(hook, changed=True)


def remove(context: Context) -> Done:
    """Remove exactly our hook, and let git run none again when it was the only one."""
    hook = _hook(context)
    there = _present(hook)
    if there and _MARK.encode() not in there:
        raise _foreign(f"{hook} is somebody else's and stays as it is.")
    ours = _setting(context) == _HOOKS and not _others(hook)
    if there is None and not ours:
        return Done(hook, changed=False)
    _refuse_while_running(context)
    with on_disk(hook.parent):
        hook.unlink(missing_ok=True)
    if ours:
        _set(context, _NO_HOOKS)
    return Done(hook, changed=True)


def _hook(context: Context) -> Path:
    context.require()
    return context.agent.repo / _HOOKS / "pre-commit"


def _script(context: Context) -> bytes:
    return _SCRIPT.format(
        mark=_MARK,
        override=OVERRIDE,
        python=shlex.quote(sys.executable),
        home=shlex.quote(str(context.home.path)),
        identity=shlex.quote(context.agent.identity),
    ).encode("utf-8", "surrogateescape")


def _present(hook: Path) -> bytes | None:
    """Return what lies there; a link or a folder is somebody else's."""
    try:
        mode = hook.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    return read_regular(hook, _LARGEST_HOOK) if stat.S_ISREG(mode) else b"\0"


def _others(hook: Path) -> list[Path]:
    """Return the hooks beside ours; samples never run."""
    beside = sorted(hook.parent.glob("*"))
    return [place for place in beside if place != hook and place.suffix != ".sample"]


def _setting(context: Context) -> str | None:
    code, out, err = _git(context, ["config", "--local", "--get", _KEY])
    if code not in (0, 1):
        raise GitError(f"The configuration of {context.agent.repo} cannot be read.", detail=err)
    return out.decode("utf-8", "surrogateescape").rstrip("\n") if code == 0 else None


def _set(context: Context, value: str) -> None:
    code, _, err = _git(context, ["config", "--local", _KEY, value])
    if code != 0:
        raise GitError(f"The configuration of {context.agent.repo} cannot be written.", detail=err)


def _git(context: Context, words: list[str]) -> tuple[int, bytes, str]:
    repo = context.agent.repo
    where = f"--git-dir={repo.resolve() / '.git'}"
    return porcelain.run(Scrubbed(context.environ), repo, [where, *words])


def _refuse_while_running(context: Context) -> None:
    with context.state() as state:
        active = reservations.active(state.connection)
    if active:
        raise BusyError(
            f"Run {active[0].id} is at work, and may find no hook changed when it ends.",
            hint="Try again when `reflector status` shows no active run.",
            run=active[0].id,
        )


def _foreign(why: str) -> ForeignHookError:
    hint = "`reflector memory lint --staged` in a hook of your own does the same."
    return ForeignHookError(f"The check was not changed: {why}", hint=hint)
