"""What a recipe is: where a harness keeps its files, and what we want to stand in them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from reflector.harness.installs.parts import Shared, Whole

Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recipe is made for: the launcher, whom it serves, and whether reading is allowed.

    `person` is the person's home folder, `project` the repository of scope "project".
    """

    launcher: str
    scope: Scope
    person: PurePosixPath
    project: PurePosixPath
    environ: Mapping[str, str]
    permission: bool = True

    def command(self, harness: str, event: str) -> str:
        """Return the command of a hook: it does nothing when the program is gone."""
        program = shlex.quote(self.launcher)
        return f"[ -x {program} ] || exit 0; exec {program} hook {harness} {event}"

    @property
    def reading(self) -> str:
        """Return the beginning of the command by which an agent reads a document."""
        return f"{shlex.quote(self.launcher)} memory cat"

    def folder(self, variable: str, usual: str) -> PurePosixPath:
        """Return a folder of the person's: the variable's if it is set, else `usual` below HOME."""
        named = self.environ.get(variable)
        return PurePosixPath(named) if named else self.person / usual


@dataclass(frozen=True, slots=True)
class Target:
    """One file, and what we want in it."""

    path: PurePosixPath
    part: Shared | Whole


@dataclass(frozen=True, slots=True)
class Recipe:
    """One harness: its names, its events, its files, and what a person has to know."""

    name: str
    title: str
    program: str
    events: tuple[str, ...]
    config: Callable[[Asked], PurePosixPath]
    """The folder that is there when the harness is."""
    targets: Callable[[Asked], tuple[Target, ...]]
    says: tuple[str, ...] = ()
    """What remains to be done by the person."""

    def target(self, asked: Asked, path: str) -> Target:
        """Return what we want in a file: at this very path, else in one with the same ending.

        A record may name a file that the recipe puts elsewhere by now.
        """
        found = self.targets(asked)
        same = (each for each in found if str(each.path) == path)
        ending = PurePosixPath(path).suffix
        return next(same, next((each for each in found if each.path.suffix == ending), found[0]))


def hooks(asked: Asked, harness: str, timeouts: Mapping[str, int]) -> dict[str, Any]:
    """Return a group with one command hook for every event; `timeouts` in the harness's unit."""
    return {
        event: {
            "hooks": [
                {"type": "command", "command": asked.command(harness, event), "timeout": timeout}
            ]
        }
        for event, timeout in timeouts.items()
    }
