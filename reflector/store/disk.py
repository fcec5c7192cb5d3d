"""A home's layout and its identities; atomic writes and opens that follow no link."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import HomeError

_NETWORK = re.compile(r"nfs|cifs|smb|afs|9p|ceph|gluster|lustre|gpfs|davfs|fuse|beegfs|ocfs|gfs2")
_LOCAL_FUSE = ("fuseblk", "fusectl")
_NO_TEXT = ("Cc", "Cs", "Zl", "Zp")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_OCTAL = re.compile(r"\\([0-7]{3})")


def slug(identity: str) -> str:
    """Return the folder name of an identity: a readable part, then 8 hex digits of its hash.

    The hash keeps two identities apart whose readable parts are equal.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", identity.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable or 'agent'}-{digest}"


@dataclass(frozen=True, slots=True)
class AgentHome:
    """Where everything of one identity lies."""

    identity: str
    path: Path

    @property
    def slug(self) -> str:
        """Return the identity's folder name."""
        return self.path.name

    @property
    def repo(self) -> Path:
        """Return the memory repository."""
        return self.path / "repo"

    @property
    def diary(self) -> Path:
        """Return the diary, a repository of its own; it exists once the diary is used."""
        return self.path / "diary"

    @property
    def state(self) -> Path:
        """Return the state database."""
        return self.path / "state.db"

    @property
    def worktrees(self) -> Path:
        """Return the folder of the runs' worktrees."""
        return self.path / "worktrees"

    def run(self, run_id: str) -> Path:
        """Return the folder of one run."""
        return self.path / "runs" / run_id

    def lock(self, name: str) -> Path:
        """Return the file of one lock."""
        return self.path / "locks" / f"{name}.lock"

    @property
    def log(self) -> Path:
        """Return the supervisor's log file."""
        return self.path / "logs" / "reflector.log"

    def create(self) -> None:
        """Make the identity's folders and note its name; safe to repeat."""
        for folder in ("runs", "worktrees", "locks", "logs"):
            make_folder(self.path / folder)
        name = self.path / "identity"
        if not name.exists():
            write_atomic(name, self.identity.encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class Home:
    """A Reflector home."""

    path: Path

    def agent(self, identity: str) -> AgentHome:
        """Return the place of an identity, whether it exists or not."""
        return AgentHome(identity, self.path / "agents" / slug(identity))

    def create(self) -> None:
        """Make the folders that all identities share; safe to repeat."""
        for folder in ("agents", "locks", "spool"):
            make_folder(self.path / folder)

    def agents(self) -> list[AgentHome]:
        """Return every identity that was made here, by its noted name."""
        found = []
        for name in sorted(self.path.glob("agents/*/identity")):
            raw = read_regular(name, 4096)
            if raw:
                found.append(AgentHome(raw.decode("utf-8", "surrogateescape"), name.parent))
        return found

    @property
    def settings(self) -> Path:
        """Return the settings file for all identities."""
        return self.path / "config.toml"


def open_home(path: Path) -> Home:
    """Make sure of a home that can be used: ours, local, a folder. Creates it with mode 0700."""
    resolved = judged(path)
    make_folder(resolved)
    return Home(resolved)


def judged(path: Path) -> Path:
    """Return the full path of a home that can be used, there or not. Raises HomeError."""
    try:
        resolved = Path(os.path.realpath(path))
    except OSError as error:  # a relative path below a working directory that was deleted
        raise unusable(path, error) from error
    _refuse_unprintable(resolved)
    _refuse_foreign(resolved)
    kind = network_file_system(resolved, _mounts())
    if kind:
        raise HomeError(
            f"The home {resolved} lies on a network file system ({kind}), where SQLite and kernel "
            "locks cannot be trusted.",
            hint="Set REFLECTOR_HOME to a folder on a local disk.",
            path=str(resolved),
        )
    return resolved


def is_line(text: str) -> bool:
    """Tell whether a text can stand in one line: no controls, no line ends, no broken bytes."""
    return not any(unicodedata.category(char) in _NO_TEXT for char in text)


def _refuse_unprintable(path: Path) -> None:
    """Refuse a path that cannot be shown as a line of text: agents and prompts are told of it."""
    if not is_line(str(path)):
        raise HomeError(
            f"The home {str(path)!r} has characters in its path that are no text.",
            hint="Set REFLECTOR_HOME to a folder whose path is plain text.",
        )


def _refuse_foreign(path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise unusable(path, error) from error
    if not stat.S_ISDIR(status.st_mode):
        raise HomeError(
            f"The home {path} is not a folder.",
            hint="Set REFLECTOR_HOME to a folder, or move that file away.",
            path=str(path),
        )
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise HomeError(
            f"The home {path} belongs to another user (uid {status.st_uid}).",
            hint="Set REFLECTOR_HOME to a folder of your own.",
            path=str(path),
        )


def make_folder(path: Path) -> None:
    """Make a folder that only its owner may enter; safe to repeat."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(path, error) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise HomeError(
            f"The folder {path} cannot be written.",
            hint="Give yourself write permission, or set REFLECTOR_HOME elsewhere.",
            path=str(path),
        )


@contextmanager
def on_disk(path: Path) -> Iterator[None]:
    """Turn what the disk refuses at or below `path` into a HomeError."""
    try:
        yield
    except OSError as error:
        raise unusable(path, error) from error


def unusable(path: Path, error: OSError) -> HomeError:
    """Say what the disk refused, and what to do about that."""
    named = error.filename
    place = Path(os.fsdecode(named)) if isinstance(named, str | bytes) and named else path
    if error.errno in _FULL:
        hint = "Free some space and run the same command again; nothing was lost."
    else:
        hint = "Check permissions and what lies there, or set REFLECTOR_HOME to another folder."
    return HomeError(
        f"{place} cannot be used: {error.strerror or error}.", hint=hint, path=str(place)
    )


def _mounts() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:  # not Linux: the check is skipped there
        return ""


def network_file_system(path: Path, mountinfo: str) -> str:
    """Return the file system type when `path` lies on a network or FUSE mount, else ""."""
    best, kind = "", ""
    for line in mountinfo.splitlines():
        fields = line.split(" ")
        mount = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
        inside = str(path) == mount or str(path).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, fields[fields.index("-") + 1]
    return kind if kind not in _LOCAL_FUSE and _NETWORK.match(kind) else ""


def write_atomic(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file's content so that a crash leaves the old or the new one, never a part.

    Raises HomeError, with the cause, when the disk is full or the folder cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # A process that was killed here may have had our pid.
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                if mode != 0o600:
                    os.fchmod(descriptor, mode)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unusable(path, error) from error


def read_regular(path: Path, limit: int) -> bytes | None:
    """Read a regular file without following a link; None when there is none.

    Raises HomeError for anything else than a regular file of at most `limit` bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable(path, error) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            raise HomeError(f"{path} is not a regular file of at most {limit} bytes.")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(limit)
    finally:
        os.close(descriptor)
