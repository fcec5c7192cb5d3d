"""Whether the sandbox works on this machine: tried once, remembered until the next boot."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import reflector
from reflector.agent.abilities import ABILITIES
from reflector.core.errors import ReflectorError
from reflector.runtime import sandbox
from reflector.runtime.sandbox import Work
from reflector.runtime.wiring import Context
from reflector.store.disk import read_regular, write_atomic
from reflector.store.locks import owner

_SECONDS = 30
_LARGEST = 10_000
_LONGEST = 300
# Present is not the same as working: what must start inside is our own child.
_TRIAL = (sys.executable, "-I", "-c", "import reflector.runtime.child")


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether the sandbox works. `detail` is bubblewrap's version, or why it does not.

    `options` are what this version can do beyond the oldest.
    """

    works: bool
    detail: str
    program: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the next run of the chosen engine may expect, as a person is told."""

    state: Literal["on", "off", "unavailable"]
    sentence: str
    refused: bool = False


def outlook(context: Context, *, afresh: bool = False) -> Outlook:
    """Return whether the next run will be confined, and why not."""
    engine = context.settings.text("engine.name")
    if not ABILITIES[engine].calls_model:
        return Outlook("off", f"runs by `{engine}` ask no model and need no sandbox")
    if not wanted(context, engine):
        return Outlook("off", "runs are not sandboxed (sandbox = off)")
    found = probed(context, afresh=afresh)
    if found.works:
        return Outlook("on", f"runs are sandboxed ({found.detail})")
    if context.settings.text("sandbox") == "required":
        return Outlook(
            "unavailable", f"runs are refused without a sandbox: {found.detail}", refused=True
        )
    return Outlook("unavailable", f"runs are not sandboxed: {found.detail}")


def wanted(context: Context, engine: str) -> bool:
    """Tell whether runs of this engine are to be confined: only those that a model steers."""
    known = ABILITIES.get(engine)
    asks = known is not None and known.calls_model
    return asks and context.settings.text("sandbox") != "off"


def probed(context: Context, *, afresh: bool = False) -> Probed:
    """Return whether the sandbox works, from the last trial if nothing changed since."""
    if not sys.platform.startswith("linux"):
        return Probed(works=False, detail="there is no sandbox on this system, only on Linux")
    program = shutil.which("bwrap", path=context.environ.get("PATH"))
    if program is None:
        return Probed(works=False, detail="bubblewrap is not installed (package `bubblewrap`)")
    circumstances = _circumstances(program)
    known = None if afresh else _remembered(context, circumstances)
    if known is None:
        known = _tried(program, circumstances["version"])
        _remember(context, circumstances, known)
    return known


def forget(context: Context) -> None:
    """Let the next run try again: what once worked does not any more."""
    with contextlib.suppress(OSError):
        _file(context).unlink(missing_ok=True)


def _circumstances(program: str) -> dict[str, str]:
    version = _run([program, "--version"])
    return {
        "boot": owner("").boot,
        "version": " ".join(version.stdout.decode("utf-8", "replace").split())[:_LONGEST],
        "program": program,
        "python": sys.executable,
        "package": reflector.__file__,
    }


def _file(context: Context) -> Path:
    return context.home.path / "sandbox"


def _remembered(context: Context, circumstances: dict[str, str]) -> Probed | None:
    try:
        found = json.loads(read_regular(_file(context), _LARGEST) or b"{}")
        if any(found[name] != value for name, value in circumstances.items()):
            return None
        options = tuple(map(str, found["options"]))
        works = found["works"] is True
        return Probed(works, str(found["detail"]), circumstances["program"], options)
    except (ReflectorError, OSError, ValueError, KeyError, TypeError):
        return None  # derived: whatever is wrong with it, a trial makes it anew


def _remember(context: Context, circumstances: dict[str, str], found: Probed) -> None:
    said = {"works": found.works, "detail": found.detail, "options": found.options}
    content = json.dumps(circumstances | said)
    with contextlib.suppress(OSError, ReflectorError):  # then it is tried once more
        write_atomic(_file(context), content.encode())


def _tried(program: str, version: str) -> Probed:
    why = ""
    for options in (sandbox.NEWER, ()):
        works, why = _try(program, options)
        if works:
            return Probed(works, version, program, options)
    return Probed(works=False, detail=why, program=program)


def _try(program: str, options: tuple[str, ...]) -> tuple[bool, str]:
    """Start our child's interpreter under the full list of options, in places made for it."""
    import tempfile  # noqa: PLC0415 - once a boot, and `status` is in a hurry

    from reflector.core.redact import redact  # noqa: PLC0415

    try:
        with tempfile.TemporaryDirectory(prefix="reflector-sandbox-") as folder:
            work = _places(Path(folder))
            profile = sandbox.engine_profile(sandbox.host_mounts(), work, {}, network=True)
            done = _run([*sandbox.arguments(program, profile, options), *_TRIAL])
    except OSError as error:
        return False, f"the trial could not be made: {error.strerror}"
    if done.returncode == 0:
        return True, ""
    said = redact(done.stderr.decode("utf-8", "replace")).text.strip().splitlines()
    return False, (said[-1] if said else f"the trial ended with code {done.returncode}")[:_LONGEST]


def _places(home: Path) -> Work:
    work = Work(home, home / "run", home / "worktrees" / "trial", home / "repo")
    git = work.git
    for folder in (
        work.run_folder / "out",
        work.worktree,
        git / "objects",
        git / "worktrees" / work.worktree.name,
        git / "refs" / "heads" / "memory",
    ):
        folder.mkdir(parents=True)
    (work.worktree / ".git").touch()
    sandbox.make_places(work)
    return work


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - our own words
            command,
            env={},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, b"", b"it did not end in time")
    except OSError as error:  # a file of that name that is no program
        return subprocess.CompletedProcess(command, 1, b"", f"{error.strerror}".encode())
