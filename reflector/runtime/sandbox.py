"""What a run's process may see and change: profiles as values, and as bubblewrap's arguments.

A profile starts from nothing. Every place in it was put there by name; what is deeper covers what
lies above it, so the Reflector home is empty but for what a run needs of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import reflector
from reflector.runtime.wiring import data_folder

Kind = Literal["--ro-bind", "--ro-bind-try", "--bind", "--tmpfs", "--symlink"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
# What the dynamic loader, name resolution and TLS read; never /etc/ssl/private beside it.
_ETC = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
)
# Programs in other languages end without a name for their user.
_USERS = "/etc/passwd"
_WRITTEN_BY_GIT = ("objects", "refs/heads/memory", "logs/refs/heads/memory")
# From bubblewrap 0.8 on: a sandbox within would have powers of its own, to mount and to end.
NEWER = ("--unshare-user", "--disable-userns")
_TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Mount:
    """One place inside. `kind` is bubblewrap's word; a link's source is what it points to."""

    kind: Kind
    place: str
    source: str = ""

    @property
    def depth(self) -> int:
        """Return how deep the place lies: mounts are made from the root down."""
        return len(Path(self.place).parts)


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything that exists inside, and whether the host's network does."""

    mounts: tuple[Mount, ...]
    folder: str
    network: bool
    init: bool


@dataclass(frozen=True, slots=True)
class Work:
    """The places of one run. `home` is the Reflector home around them."""

    home: Path
    run_folder: Path
    worktree: Path
    repository: Path

    @property
    def git(self) -> Path:
        """Return the git directory that all runs share."""
        return self.repository / ".git"


def arguments(program: str, profile: Profile, options: Iterable[str] = ()) -> list[str]:
    """Return the words before a confined command. `options` are those of newer versions.

    The environment is not among them: any user can read the arguments of any process, and it holds
    credentials. bubblewrap hands its own on, and that was built from nothing (`launch.environment`).
    """
    words = [program, "--unshare-all", *options]
    words += ["--share-net"] if profile.network else []
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    # Pid 1 takes all others with it, and a killed supervisor has no second process to wait for.
    words += [] if profile.init else ["--as-pid-1"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for mount in sorted(profile.mounts, key=lambda one: one.depth):
        words += [mount.kind, *([mount.source] if mount.source else []), mount.place]
    # bubblewrap leaves /proc/sys open to a run by root: whoever writes core_pattern is outside.
    return [*words, "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", profile.folder, "--"]


def engine_profile(
    host: Iterable[Mount], work: Work, environ: Mapping[str, str], *, network: bool
) -> Profile:
    """Return the profile of our own child: it commits, so it writes objects and its own branch."""
    git = work.git
    writable = [work.worktree, work.run_folder / "out", git / "worktrees" / work.worktree.name]
    writable += [git / name for name in _WRITTEN_BY_GIT]
    mounts = [*_common(host, work), *_trusted(environ), *map(_bind, writable)]
    return Profile(tuple(mounts), str(work.run_folder), network, init=False)


def command_profile(
    host: Iterable[Mount],
    work: Work,
    settings: Iterable[Path],
    programs: Iterable[Path] = (),
    environ: Mapping[str, str] | None = None,
    *,
    network: bool = True,
) -> Profile:
    """Return the profile of an agent CLI: git is read-only, since who may write objects may delete.

    `settings` are the CLI's own configuration files and folders, writable where they are; `programs`
    is what it is made of, read-only. Nothing else of the user's home exists inside.
    """
    mounts = [*_common(host, work), *_trusted(environ or {}), *map(_read, programs)]
    mounts += [Mount("--ro-bind-try", _USERS, _USERS)]
    mounts += map(_bind, [work.worktree, *settings])
    return Profile(tuple(mounts), str(work.worktree), network, init=True)


def make_places(work: Work) -> None:
    """Make the folders that a profile binds and that git makes only when it needs them."""
    (work.git / "logs" / "refs" / "heads" / "memory").mkdir(parents=True, exist_ok=True)


def host_mounts() -> list[Mount]:
    """Return what every profile shows of this machine: system, interpreter, Reflector's package."""
    found = [Mount("--tmpfs", "/tmp")]  # noqa: S108 - a place inside
    for place in _SYSTEM:
        if os.path.islink(place):  # noqa: PTH114 - paths are words here
            found.append(Mount("--symlink", place, os.readlink(place)))  # noqa: PTH115
        else:
            found.append(Mount("--ro-bind-try", place, place))
    found += [Mount("--ro-bind-try", place, place) for place in _ETC]
    return found + [_read(place) for place in _ours()]


def _ours() -> list[Path]:
    """Return where the interpreter, its packages and Reflector lie, as a child will look for them."""
    # An interpreter that was installed into somebody's home must not show that home.
    person = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path raises where there is no home
    never = {Path("/"), person, *person.parents}
    named = [Path(each) for each in (sys.prefix, sys.base_prefix)]
    prefixes = [each for each in (*named, *(one.resolve() for one in named)) if each not in never]
    places = list(prefixes)
    # The child imports what is installed, which need not be what this process imported.
    for folder in {*sys.path, str(Path(reflector.__file__).parent.parent)}:
        if (Path(folder) / "reflector" / "runtime" / "child.py").is_file():
            places += [Path(folder) / name for name in ("reflector", "personas", "templates")]
    places += [data_folder() / name for name in ("personas", "templates")]
    places += _links(Path(sys.executable))
    shown = [each for each in dict.fromkeys(places) if each.exists() and each not in never]
    return [each for each in shown if not any(other in each.parents for other in prefixes)]


def _links(program: Path) -> list[Path]:
    """Return every name through which a program is reached: a link to a link to a file."""
    found = []
    while program.is_symlink() and program not in found:
        found.append(program)
        program = Path(os.path.normpath(program.parent / program.readlink()))
    return [*found, program][1:]


def _common(host: Iterable[Mount], work: Work) -> list[Mount]:
    files = [work.run_folder / name for name in ("payload.json", "prompt.md", "opening.md")]
    return [
        *host,
        Mount("--tmpfs", str(work.home)),
        Mount("--tmpfs", str(work.run_folder / "home")),
        *(Mount("--ro-bind-try", str(file), str(file)) for file in files),
        _read(work.git),
        # It names the git directory: whoever could change it would choose what commits touch.
        _read(work.worktree / ".git"),
    ]


def _trusted(environ: Mapping[str, str]) -> list[Mount]:
    """Return the certificates that a person chose by a variable."""
    named = [name for key in _TRUST for name in environ.get(key, "").split(os.pathsep)]
    return [Mount("--ro-bind-try", name, name) for name in named if os.path.isabs(name)]  # noqa: PTH117


def _read(place: Path) -> Mount:
    return Mount("--ro-bind", str(place), str(place))


def _bind(place: Path) -> Mount:
    return Mount("--bind", str(place), str(place))
