"""The diary's repository: made on first use, read at its HEAD, changed by one commit at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reflector.core.diary import Diary
from reflector.core.errors import HomeError, ParentDirtyError, ReflectorError
from reflector.memory.tree import FILE, Tree
from reflector.pipelines.diary import records
from reflector.runtime import block_cache
from reflector.runtime.diary import copy, hand_edits, readable, seeds
from reflector.runtime.memory_lock import land, mend, on_top_of_main
from reflector.runtime.reasons import subject, trailer
from reflector.runtime.trouble import named, way_out
from reflector.runtime.wiring import Context
from reflector.store.disk import AgentHome, make_folder
from reflector.store.locks import held
from reflector.vcs import porcelain
from reflector.vcs.index_lock import passing_locks
from reflector.vcs.merge import Adopt, Files, Integrated, Write
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

Change = Callable[[Diary], Diary]
"""Works a change out on the diary as it is under the lock; may be called more than once."""

_QUIET_SECONDS = 60
_DRIVER = ("clean", "smudge", "process")


class DiaryOffError(ReflectorError):
    """A diary is not kept here, and what was asked for would begin or change one."""

    code = "diary_off"
    exit_code = 3


@dataclass(frozen=True, slots=True)
class DiaryHome(AgentHome):
    """The home of an identity with the diary in the memory's place: the same doors fit both."""

    @property
    def repo(self) -> Path:
        """Return the diary's repository."""
        return self.diary

    def lock(self, name: str) -> Path:
        """Return the file of one lock; whoever writes the diary does not keep the memory waiting."""
        return AgentHome.lock(self, "diary" if name == "memory" else name)


def enabled(context: Context) -> bool:
    """Tell whether a diary is kept for this identity."""
    return context.settings.flag("diary.enabled")


def require_enabled(context: Context) -> None:
    """Raise DiaryOffError unless a diary is kept."""
    if not enabled(context):
        raise DiaryOffError(
            f"No diary is kept for the identity {context.agent.identity!r}.",
            hint=f"`diary.enabled = true` in {context.home.settings} turns it on; what there is of "
            "one can be read, exported and burned all the same.",
        )


class Repository:
    """One identity's diary. Nothing is made by reading; `change` makes it when it is not there."""

    def __init__(self, context: Context) -> None:
        """Name it; nothing is opened yet."""
        self.memory = context
        agent = DiaryHome(context.agent.identity, context.agent.path)
        self.context = replace(context, agent=agent)
        self.path = agent.repo
        self.warning = ""
        """Why the readable view could not be written when the diary last changed."""

    @property
    def exists(self) -> bool:
        """Tell whether there is a diary."""
        return (self.path / ".git").is_dir() and not self.path.is_symlink()

    def present(self) -> bool:
        """Tell whether there is a diary, for what a person asks: a cut-off `burn` is ended first."""
        if self.half_burned:
            with self._held():
                pass
        return self.exists

    @property
    def half_burned(self) -> bool:
        """Tell whether a `burn` was killed, or is at work."""
        return self._aside.exists()

    def open(self) -> None:
        """Make the diary unless it is there. Raises DiaryOffError when none is to be kept."""
        require_enabled(self.memory)
        self.memory.require()
        if not self.exists:
            with self._held():
                self._make()

    def head(self) -> str:
        """Return the commit that the diary is at, "" when there is no diary."""
        if not self.exists:
            return ""
        with Reads(self.path) as reads:
            return reads.resolve(MAIN) or ""

    def read(self, *, adopt: bool = True, quiet: int = _QUIET_SECONDS) -> Diary:
        """Return the diary at its HEAD; before the first use, what a new one would hold.

        With `adopt` a person's edits of persona and notes that are `quiet` seconds old are taken in
        first, if nothing hinders that: never from a hook or a prompt.
        """
        if adopt and enabled(self.memory) and self.exists:
            self.adopt(quiet)
        head = self.head()
        return self.at(head) if head else self._new()

    def glance(self) -> Diary:
        """Return the diary to show or recall from, quicker: what only a merge asks for is left out.

        Nothing is taken in, and nothing written.
        """
        head = self.head()
        if not head:
            return self._new()
        return copy.read(self.context.agent.path, head) or self.at(head)

    def _new(self) -> Diary:
        if self.exists:  # what cannot be found must not pass for nothing
            raise self._lost()
        return records.read(seeds.files())

    def _lost(self) -> HomeError:
        return HomeError(
            f"The diary {self.path} has no commit on main that can be read.",
            hint="`git fsck --full` there names what is damaged; nothing was changed.",
        )

    def at(self, commit: str) -> Diary:
        """Return the diary as it was at a commit."""
        with Reads(self.path) as reads:
            return records.read(_files(reads.tree(commit)))

    def adopt(self, quiet: int = 0) -> tuple[str, ...]:
        """Commit a person's edits as theirs; return what stays uncommitted, in sentences."""
        try:
            with self.writing() as git:
                return self._adopt(git, quiet)
        except ReflectorError as error:
            return (error.message,)

    def untaken(self) -> tuple[str, ...]:
        """Say which hand edits will not be taken in, and why; nothing is changed."""
        return self._edits(None).left

    def change(
        self,
        reason: str,
        kind: str,
        change: Change,
        *,
        trailers: Sequence[tuple[str, str]] = (),
        also: Sequence[str] = (),
    ) -> str | None:
        """Change the diary by one commit and return it; None when nothing changes.

        `reason` is its subject and must not hold what the diary says: it outlives a forgotten
        entry. `kind` and `trailers` follow as trailer lines, `also` are further parents of the
        commit. Raises ParentDirtyError when a person's work is in the way, DiaryOffError when no
        diary is kept, BusyError when somebody else writes too long.
        """
        lines = [subject(reason), trailer("Diary-Change", kind)]
        lines += [trailer(name, value) for name, value in trailers]
        self.open()
        with self.writing() as git:
            self._adopt(git, _QUIET_SECONDS)
            commit = on_top_of_main(lambda: self._once(git, change, lines, tuple(also)))
            if commit is not None:
                self.shown()  # under the lock: what is burned meanwhile must not be written again
        return commit

    def take_out(self, reason: str, change: Change) -> None:
        """Do the same where no diary is kept any more: a person has something forgotten."""
        lines = [subject(reason), trailer("Diary-Change", "forget")]
        with self.writing() as git:
            on_top_of_main(lambda: self._once(git, change, lines, ()))

    @property
    def locked(self) -> bool:
        """Tell whether git's `index.lock` is there: a dead one's, or that of a person at work."""
        return (self.path / ".git" / "index.lock").exists()

    def recover(self) -> None:
        """Finish what one of us began who died: files behind their commit, a view of what was.

        Whoever writes next would do it too, but until then git's own lock keeps a person out.
        """
        if self.head():
            with self.writing():
                self.shown()

    def shown(self) -> None:
        """Write the readable view and the blocks that hooks print anew. Neither is a record."""
        head = self.head()
        diary = self.at(head)
        self.warning = readable.write(self.path, diary)
        copy.save(self.context.agent.path, head, diary)
        block_cache.refresh(self.memory)

    @contextmanager
    def writing(self) -> Iterator[Porcelain]:
        """Hold the diary's write lock and give the door to its changes. No model is asked inside."""
        with self._held():
            if not self.exists:
                raise HomeError(f"There is no diary at {self.path}.", path=str(self.path))
            self._unlock()
            git = Porcelain(self.scrubbed(), self.path)
            mend(self.context, git)
            yield git

    def _unlock(self) -> None:
        """Remove the locks of refs that a dead one left: whoever of us holds one writes the diary.

        Nothing else would before the next sweep, and until then no turn could be written down.
        """
        if not passing_locks(self.path / ".git"):
            return
        from reflector.runtime.remains import dead_locks_in  # noqa: PLC0415 - seldom needed

        for lock in dead_locks_in(self.path):
            lock.unlink(missing_ok=True)

    def scrubbed(self) -> Scrubbed:
        """Return how git is started here: what the repository's own settings name does not run."""
        with Reads(self.path) as reads:
            settings = reads.settings(self.path / ".git" / "config")
        return Scrubbed(self.context.environ, overrides=harmless(tuple(settings)))

    @contextmanager
    def _held(self) -> Iterator[None]:
        lock, clock = self.context.agent.lock("memory"), self.context.ambient.clock
        make_folder(lock.parent)
        with (
            named(self.context.home.path),
            held(lock, clock, "writing this diary", seconds=60),
        ):
            self._finish_burning()
            yield

    def _finish_burning(self) -> None:
        """End what a killed `burn` had begun: once the old diary is aside, there is no way back."""
        fresh = self.path.with_name("diary.new")
        if not self.half_burned:
            return
        if not self.path.exists() and fresh.exists():
            fresh.rename(self.path)
        shutil.rmtree(self._aside)

    @property
    def _aside(self) -> Path:
        return self.path.with_name("diary.burned")

    def _make(self) -> None:
        if self.exists:  # another process was quicker
            return
        self._refuse_odd()
        fresh = self.path.with_name("diary.new")
        self.plant(fresh, seeds.files(self.replica()), "begin the diary")
        fresh.rename(self.path)

    def plant(self, folder: Path, files: dict[str, bytes], reason: str) -> None:
        """Make a repository with one commit. Built beside and renamed, it is never half there."""
        shutil.rmtree(folder, ignore_errors=True)
        scrubbed = Scrubbed(self.context.environ)
        porcelain.init(scrubbed, folder)
        for path, content in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        when = self.context.ambient.clock.now()
        message = f"{reason}\n\nDiary-Change: begin\n"
        Porcelain(scrubbed, folder).commit_paths(message, sorted(files), when)
        folder.chmod(0o700)

    def replica(self) -> str:
        """Mint a name by which this diary is told from others that it is merged with."""
        return self.context.ambient.chance.hex(16)

    def _refuse_odd(self) -> None:
        if self.path.exists() or self.path.is_symlink():
            raise HomeError(
                f"{self.path} exists but is no diary.",
                hint="Move it away; it was not touched.",
                path=str(self.path),
            )

    def _once(
        self, git: Porcelain, change: Change, lines: Sequence[str], also: tuple[str, ...]
    ) -> str | None:
        with Reads(self.path) as reads:
            main = reads.resolve(MAIN)
            if main is None:
                raise self._lost()
            before = records.read(_files(reads.tree(main)))
        files = _changed(before, change(before))
        if not files and not also:
            return None
        return self.land(git, Write(main, files, also), lines)

    def land(self, git: Porcelain, change: Write | Adopt, lines: Sequence[str]) -> str:
        """Commit a change that was worked out under the lock. Raises ParentDirtyError."""
        done = land(self.context, git, change, *lines)
        if isinstance(done, Integrated):
            return done.sha
        raise ParentDirtyError(
            f"The diary was not changed: {done.detail}",
            hint=way_out(
                done.detail, done.paths, f"`git -C {self.path} status` shows them; put them away."
            ),
            paths=", ".join(done.paths),
        )

    def _adopt(self, git: Porcelain, quiet: int) -> tuple[str, ...]:
        now = self.context.ambient.clock.now().timestamp()
        found = self._edits(now - quiet if quiet else None)
        if not found.files:
            return found.left
        lines = [found.reason, "Diary-Change: hand-edit", "Memory-Writer: person"]
        try:
            self.land(git, Adopt(self.head(), found.files), lines)
        except ParentDirtyError as error:
            return (*found.left, error.message)
        self.shown()
        return found.left

    def _edits(self, until: float | None) -> hand_edits.Found:
        with Reads(self.path) as reads:
            main = reads.resolve(MAIN) or ""
            committed = {path: reads.file(main, path) for path in hand_edits.THEIRS}
        return hand_edits.look(self.path, committed, until)


def harmless(settings: Sequence[str]) -> dict[str, str]:
    """Return what has to be set so that no program that these settings name is started.

    git asks a filter whenever it looks whether a file has changed, and a folder of attributes
    beside the diary is enough to choose one.
    """
    found = {"core.eol": "lf", "core.sparseCheckout": "false"}
    for name in settings:
        section, _, _key = name.rpartition(".")
        if section.startswith("filter.") and "=" in section:  # git could not be told of it
            raise HomeError(
                f"The diary's git settings name a filter that cannot be turned off ({section!r}).",
                hint="Remove it from the file `config` in the diary's folder `.git`.",
            )
        if section.startswith("filter."):
            found |= {f"{section}.{word}": "" for word in _DRIVER}
            found[f"{section}.required"] = "false"
    return found


def _files(tree: Tree) -> dict[str, bytes]:
    return {leaf.path: tree.reader.content(leaf.oid) for leaf in tree.leaves() if leaf.regular}


def _changed(before: Diary, after: Diary) -> Files:
    """Return what is to be written. What could not be read, and a person's notes, stay as they are."""
    found = records.changes(before, after)
    return {path: None if raw is None else (FILE, raw) for path, raw in found.items()}
