"""Settings read once, real objects built and passed on. The only reader of the environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import reflector
from reflector.core.ambient import Ambient, system
from reflector.core.errors import HomeError, UsageError
from reflector.runtime.settings import Settings, load
from reflector.store.disk import AgentHome, Home, is_line, judged, open_home
from reflector.store.state import Durability, State, opened

_LONGEST_NAME = 200


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
        named = self.agent.identity
        option = "" if named == "default" else f" --identity {named!r}"
        usual = os.path.expanduser(self.environ.get("REFLECTOR_HOME") or "~/.reflector")  # noqa: PTH111 - raises nothing
        if str(self.home.path) != usual:
            option = f" --home {shlex.quote(str(self.home.path))}{option}"
        if not os.path.isdir(self.agent.repo):  # noqa: PTH112 - Path.is_dir raises without permission
            raise HomeError(
                f"There is no memory for the identity {named!r} in {self.home.path}.",
                hint=f"`reflector init{option}` makes it.",
                identity=named,
            )


def find_home(home: str | None = None) -> Home:
    """Open the home alone, without the settings: what it holds for every identity."""
    return open_home(_home(home or os.environ.get("REFLECTOR_HOME")))


def context(home: str | None = None, identity: str | None = None, *, make: bool = False) -> Context:
    """Build the context of this process. Arguments are flags and win over the environment.

    A home that is not there is made with `make` alone; else nothing at all is written.
    """
    environ = dict(os.environ)
    found = find_home(home) if make else _unmade(home)
    settings = load([found.settings], environ)
    name = identity or environ.get("REFLECTOR_IDENTITY") or resolve(settings, Path.cwd)
    return _for_agent(system(), environ, found, found.agent(_identity(name)))


def _unmade(home: str | None) -> Home:
    place = _home(home or os.environ.get("REFLECTOR_HOME"))
    return find_home(home) if place.exists() else Home(judged(place))


def of_agent(known: Context, agent: AgentHome) -> Context:
    """Return the context of one identity of the same home."""
    return _for_agent(known.ambient, known.environ, known.home, agent)


def context_for(known: Context, cwd: str) -> Context:
    """Return the context of whoever works in `cwd`, in the same home."""
    environ = known.environ
    settings = load([known.home.settings], environ)
    name = environ.get("REFLECTOR_IDENTITY") or resolve(settings, lambda: Path(cwd or "/"))
    return _for_agent(known.ambient, environ, known.home, known.home.agent(_identity(name)))


def _for_agent(
    ambient: Ambient, environ: Mapping[str, str], home: Home, agent: AgentHome
) -> Context:
    own = agent.path / "config.toml"
    return Context(ambient, environ, home, agent, load([home.settings, own], environ))


def _home(chosen: str | None) -> Path:
    typed = chosen or "~/.reflector"
    try:
        found = Path(typed).expanduser()
        unfit = b"\0" in os.fsencode(found)
    except (RuntimeError, UnicodeEncodeError) as error:
        raise _homeless(ascii(typed)[1:-1], str(error)) from error
    if unfit:
        raise _homeless(ascii(typed)[1:-1], "no name of a folder holds a NUL.")
    if typed.startswith("~/") and not os.environ.get("HOME", "/").startswith("/"):
        # An empty HOME would put the home at the root of the file system.
        raise _homeless(typed, "the variable HOME is no full path.")
    return found


def _homeless(typed: str, why: str) -> HomeError:
    return HomeError(
        f"The home {typed} cannot be found: {why}",
        hint="Set REFLECTOR_HOME to a folder by its full path.",
    )


def _identity(name: str) -> str:
    """Refuse a name that cannot stand in a line of text: it goes into commits and prompts."""
    if not name.strip() or not is_line(name) or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{name[:60]!r} is no name for an identity.",
            hint=f"Use a line of plain text, at most {_LONGEST_NAME} characters.",
        )
    return name


def resolve(settings: Settings, working_directory: Callable[[], Path]) -> str:
    """Return the identity whose folder is the longest prefix of the working directory.

    A working directory that was deleted belongs to `default`. Real paths are compared: a system
    reports the working directory without the links that a person writes.
    """
    try:
        folder = working_directory().resolve()
    except (OSError, RuntimeError, ValueError):  # deleted, out of reach, no path at all
        return "default"
    best, name = -1, "default"
    for prefix, identity in settings.identity_paths.items():
        root = Path(os.path.realpath(os.path.expanduser(prefix)))  # noqa: PTH111 - Path raises for an unknown ~user
        if folder.is_relative_to(root) and len(root.parts) > best:
            best, name = len(root.parts), identity
    return name


def plain_terminal() -> bool:
    """Tell whether the person's terminal takes no colours and no cursor movements."""
    return os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))


def data_folder() -> Path:
    """Return the folder that holds `personas/` and `templates/`: in a wheel or in a checkout."""
    package = Path(reflector.__file__).resolve().parent
    packed = package / "_data"
    return packed if packed.is_dir() else package.parent
