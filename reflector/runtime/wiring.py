"""Settings read once, real objects built and passed on. The only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import reflector
from reflector.core.ambient import Ambient, system
from reflector.core.errors import HomeError
from reflector.runtime.settings import Settings, load
from reflector.store.disk import AgentHome, Home, open_home
from reflector.store.state import Durability, State, opened


@dataclass(frozen=True, slots=True)
class Context:
    """What a command works with: one home, one identity, the settings, time and chance.

    `environ` is the environment that git processes are started from, before it is scrubbed.
    """

    ambient: Ambient
    environ: Mapping[str, str]
    home: Home
    agent: AgentHome
    settings: Settings

    @contextmanager
    def state(self, *, durability: Durability = "FULL", busy_seconds: float = 5) -> Iterator[State]:
        """Open the identity's database. Raises HomeError when the identity was never made."""
        self.require()
        clock = self.ambient.clock
        with opened(
            self.agent.state, clock, durability=durability, busy_seconds=busy_seconds
        ) as state:
            yield state

    def require(self) -> None:
        """Raise HomeError unless `init` has made this identity."""
        if not os.path.isdir(self.agent.repo):  # noqa: PTH112 - Path.is_dir raises without permission
            raise HomeError(
                f"There is no memory for the identity {self.agent.identity!r} in {self.home.path}.",
                hint="`reflector init` makes it.",
                identity=self.agent.identity,
            )


def context(home: str | None = None, identity: str | None = None) -> Context:
    """Build the context of this process. Arguments are flags and win over the environment."""
    environ = dict(os.environ)
    found = open_home(_home(home or environ.get("REFLECTOR_HOME")))
    settings = load([found.settings], environ)
    name = identity or environ.get("REFLECTOR_IDENTITY") or resolve(settings, Path.cwd)
    agent = found.agent(name)
    own = agent.path / "config.toml"
    return Context(system(), environ, found, agent, load([found.settings, own], environ))


def inherited() -> Mapping[str, str]:
    """Return the environment of this process, for a child that builds its own git door."""
    return dict(os.environ)


def _home(chosen: str | None) -> Path:
    try:
        return Path(chosen or "~/.reflector").expanduser()
    except RuntimeError as error:
        raise HomeError(
            f"The home {chosen or '~/.reflector'} cannot be found: {error}",
            hint="Set REFLECTOR_HOME to a folder by its full path.",
        ) from error


def resolve(settings: Settings, working_directory: Callable[[], Path]) -> str:
    """Return the identity whose folder is the longest prefix of the working directory.

    A working directory that was deleted belongs to `default`. Real paths are compared: a system
    reports the working directory without the links that a person writes.
    """
    try:
        folder = working_directory().resolve()
    except FileNotFoundError:
        return "default"
    best, name = -1, "default"
    for prefix, identity in settings.identity_paths.items():
        root = Path(os.path.realpath(os.path.expanduser(prefix)))  # noqa: PTH111 - Path raises for an unknown ~user
        if folder.is_relative_to(root) and len(root.parts) > best:
            best, name = len(root.parts), identity
    return name


def data_folder() -> Path:
    """Return the folder that holds `personas/` and `templates/`: in a wheel or in a checkout."""
    package = Path(reflector.__file__).resolve().parent
    packed = package / "_data"
    return packed if packed.is_dir() else package.parent
