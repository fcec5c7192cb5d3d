"""GitPython: init, worktrees, refs, the index and the working files, with a scrubbed environment."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from reflector.core.errors import GitError, RefMovedError
from reflector.vcs.port import ref_name
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import OLDEST, TIMEOUT_SECONDS, Scrubbed
from reflector.vcs.writes import Writes

_NOTHING = "0" * 40
_VERSION = re.compile(r"git version (\d+)\.(\d+)(?:\.(\d+))?")
_MOVED = re.compile(r"but expected|reference already exists|unable to resolve reference")
_GRACE_SECONDS = 5.0
_ODD = (
    *("core.attributesfile", "core.eol", "core.sparsecheckout", "core.symlinks"),
    *("extensions.", "filter.", "include"),
)

_PINNED = """\
\thooksPath = /dev/null
\tautocrlf = false
\tfsync = loose-object,reference
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[merge]
\tff = false
[status]
\tshowUntrackedFiles = all
"""


def run(
    scrubbed: Scrubbed, folder: Path, words: Sequence[str], extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, str]:
    """Run git in `folder`: exit code, output, its own words of complaint.

    Raises `GitError` when git cannot be started or takes longer than `TIMEOUT_SECONDS`.
    """
    try:
        # Not before it is needed, which in a run's child is never: it starts a git when imported,
        # and takes longer than the smaller part of a run.
        from git.cmd import Git  # noqa: PLC0415
        from git.exc import GitCommandNotFound  # noqa: PLC0415
    except ImportError as error:
        hint = "Install git 2.32 or newer."
        raise GitError("git could not be started.", hint=hint, detail=str(error)) from error
    variables = scrubbed.variables(extra)
    # GitPython adds our environment to the program's own, and git takes an empty GIT_DIR for a
    # broken one: only `env -i` gives git an environment that we know.
    pairs = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", "-i", *pairs, "git", *scrubbed.options(str(folder.resolve())), *words]
    try:
        process = Git(folder).execute(
            command,
            as_process=True,
            env={"PATH": variables["PATH"]},
            # An interrupt from the terminal must not cut a checkout in half.
            start_new_session=True,
        )
    except (GitCommandNotFound, OSError, ValueError) as error:
        hint = "Install git 2.32 or newer."
        raise GitError("git could not be started.", hint=hint, detail=str(error)) from error
    if process.proc is None:
        raise GitError("git could not be started.", detail="no process")
    code, out, err = _finish(process.proc, words)
    if code == 127:
        raise GitError("git was not found.", hint="Install git 2.32 or newer.", detail=err)
    return code, out, err


def _finish(process: subprocess.Popen[bytes], words: Sequence[str]) -> tuple[int, bytes, str]:
    with process:
        try:
            out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as error:
            # Gently first: git removes its lock files when it is asked to end.
            _tell(process, signal.SIGTERM)
            try:
                process.communicate(timeout=_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                _tell(process, signal.SIGKILL)
                process.communicate()
            raise GitError(
                f"git {words[0]} took longer than {TIMEOUT_SECONDS:g} s.", detail="timed out"
            ) from error
    return process.returncode, out, err.decode("utf-8", "replace").strip()


def _tell(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal git and what it has started: that holds its output open, and would keep us waiting."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)  # it leads a session of its own


def git_version(scrubbed: Scrubbed) -> tuple[int, int, int]:
    """Return git's version; raise `GitError` if it is missing or older than we can use."""
    code, out, err = run(scrubbed, Path("/"), ["version"])
    found = _VERSION.search(out.decode("utf-8", "replace"))
    if code != 0 or found is None:
        raise GitError(
            "git does not tell its version.", detail=err or out.decode("utf-8", "replace")
        )
    version = (int(found[1]), int(found[2]), int(found[3] or 0))
    if version[:2] < OLDEST:
        raise GitError(
            f"git {'.'.join(map(str, version))} is too old.",
            hint=f"Install git {'.'.join(map(str, OLDEST))} or newer.",
        )
    return version


def init(scrubbed: Scrubbed, path: Path) -> None:
    """Make an empty repository at `path`: branch main, no template, settings pinned."""
    if (path / ".git").exists():
        raise GitError(f"There already is a repository at {path}.", path=str(path))
    path.mkdir(parents=True, exist_ok=True)
    words = ["init", "-q", "--template=", "--initial-branch=main", "--", str(path.resolve())]
    code, _, err = run(scrubbed, path, words)
    if code != 0:
        raise GitError(f"git could not make a repository at {path}.", detail=err)
    config = path / ".git" / "config"
    # `git init` writes [core] alone, so this goes on in that section.
    with config.open("a", encoding="utf-8") as file:
        file.write(_PINNED)


def writes_plainly(settings: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether no setting changes what a checkout writes: git has options that win, we do not."""
    plain = set(settings.get("core.autocrlf", ())) <= {"false"}
    return plain and not any(name.startswith(_ODD) for name in settings)


class Porcelain:
    """Changes to one repository, each by one real git process."""

    def __init__(self, scrubbed: Scrubbed, repo: Path) -> None:
        """Name the git dir outright: git must not search, and find another repository."""
        self.repo = repo
        self.git_dir = repo / ".git"
        self._scrubbed = scrubbed
        self._where = [f"--git-dir={self.git_dir.resolve()}", f"--work-tree={repo.resolve()}"]

    def worktree_add(self, path: Path, branch: str, base: str) -> None:
        """Check `base` out at `path` on the new branch; on failure leave neither behind."""
        ref = ref_name(f"refs/heads/{branch}")
        self.forget_worktree(path)
        words = ["worktree", "add", "-q", "-b", branch, "--", str(path), _sha(base)]
        code, _, err = self._run(words)
        if code == 0:
            return
        # git leaves the branch behind when the folder is in the way; with commits on it, it stays.
        self._run(["update-ref", "-d", ref, base])
        raise GitError(f"git could not make a worktree at {path}.", detail=err)

    def forget_worktree(self, path: Path) -> bool:
        """Drop the registration of exactly this path if its folder is gone; tell if there was one.

        Not `worktree prune`: that would also forget a person's worktree on an unmounted disk.
        """
        if path.exists() or not self.registered(path):
            return False
        self._git(["worktree", "remove", "--force", "--", str(path)], f"forget the worktree {path}")
        return True

    def registered(self, path: Path) -> bool:
        """Tell whether a worktree is registered at exactly this path."""
        wanted = str(path.resolve() / ".git")
        places = (self.git_dir / "worktrees").glob("*/gitdir")
        return any(
            place.read_text("utf-8", "surrogateescape").strip() == wanted for place in places
        )

    def worktree_remove(self, path: Path, *, force: bool = False) -> None:
        """Remove a worktree. Without `force` git refuses while it holds changed or new files."""
        forced = ["--force"] if force else []
        self._git(["worktree", "remove", *forced, "--", str(path)], f"remove the worktree {path}")

    def branch_delete(self, branch: str, expected: str) -> None:
        """Delete a branch that is at `expected`; raise `RefMovedError` if it is not."""
        self.delete_ref(f"refs/heads/{branch}", expected)

    def update_ref(self, ref: str, new: str, old: str | None, why: str = "reflector") -> None:
        """Move a ref from `old` (None: it must not exist) to `new`, or raise `RefMovedError`."""
        if old is not None and self._surely_moved(ref, old, new, why):
            return
        words = ["update-ref", "-m", why, ref_name(ref), _sha(new), _sha(old or _NOTHING)]
        self._moved(ref, self._run(words))

    def _surely_moved(self, ref: str, old: str, new: str, why: str) -> bool:
        with Writes(self.repo) as writes:
            return writes.move_ref(ref, old, new, why)

    def delete_ref(self, ref: str, old: str) -> None:
        """Delete a ref that is at `old`, or raise `RefMovedError`."""
        self._moved(ref, self._run(["update-ref", "-d", ref_name(ref), _sha(old)]))

    def may_follow(self, old: str, new: str, index: Path) -> None:
        """Ask whether files and index could go from `old` to `new`; `GitError` if not."""
        if self._surely_follows(old, new, index):
            return
        words = ["read-tree", "-n", "-m", "-u", _sha(old), _sha(new)]
        code, _, err = self._run(words, {"GIT_INDEX_FILE": str(index.resolve())})
        if code != 0:
            raise GitError("The working files cannot follow the merge.", detail=err)

    def check_out(
        self, old: str, new: str, index: Path, folder: Path, paths: Sequence[str]
    ) -> None:
        """Bring the index file `index` from `old` to `new`, and write `paths` of it into `folder`."""
        where = {"GIT_INDEX_FILE": str(index.resolve())}
        self._git(["read-tree", "-i", "-m", _sha(old), _sha(new)], "read the merge", where)
        if paths and not self._written_by_library(new, folder, paths):
            words = ["checkout-index", "-q", f"--prefix={folder.resolve()}/", "--", *paths]
            self._git(words, "write the new files", where)

    def _written_by_library(self, commit: str, folder: Path, paths: Sequence[str]) -> bool:
        with Writes(self.repo) as writes:
            # A name that is no text cannot be said to the library.
            plain = writes_plainly(writes.settings(self.git_dir / "config"))
            if plain := plain and "".join(paths).isprintable():
                writes.check_out(commit, folder, paths)
            return plain

    def _surely_follows(self, old: str, new: str, index: Path) -> bool:
        """Tell without starting git whether it would say yes; False is no answer."""
        with Reads(self.repo) as reads:
            if "core.sparsecheckout" in reads.settings(self.git_dir / "config"):
                return False
            changed, after = reads.changed(old, new), reads.tree(new)
            leaves = (after.find(path) for path in changed)
            plain = all(leaf is None or leaf.regular for leaf in leaves)
            return plain and reads.surely_free(changed, index, old)

    def refresh(self, index: Path) -> None:
        """Compare touched but unchanged files by content, so that they do not count as changed."""
        self._run(["update-index", "-q", "--refresh"], {"GIT_INDEX_FILE": str(index.resolve())})

    def restore_missing(self, index: Path, paths: Sequence[str]) -> None:
        """Write files that are missing as `index` has them; existing ones are never touched."""
        words = ["checkout-index", "-q", "--", *paths]
        if paths:
            self._run(words, {"GIT_INDEX_FILE": str(index.resolve())})

    def commit_paths(self, message: str, paths: Sequence[str], when: datetime) -> None:
        """Commit exactly these paths on the present branch; also makes the first commit."""
        self._git(["add", "--force", "--", *paths], "add the files")
        date = f"{int(when.timestamp())} +0000"
        words = ["commit", "-q", "--no-verify", "--cleanup=verbatim", "-m", message, "--", *paths]
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        self._git(words, "commit the files", dates)

    def maintain(self) -> None:
        """Pack loose objects and refs; unreachable objects keep git's usual two weeks."""
        self._git(["gc", "-q", "--prune=2.weeks.ago"], "pack the repository")

    def reachable(self) -> set[str]:
        """Return every object that a ref, a reflog or an index reaches."""
        words = ["rev-list", "--objects", "--no-object-names"]
        code, out, err = self._run([*words, "--all", "--reflog", "--indexed-objects"])
        if code != 0:
            raise GitError("git could not list what is in use.", detail=err, exit=code)
        return set(out.decode("ascii").split())

    def _run(
        self, words: Sequence[str], extra: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        return run(self._scrubbed, self.repo, [*self._where, *words], extra)

    def _git(self, words: Sequence[str], aim: str, extra: Mapping[str, str] | None = None) -> None:
        code, _, err = self._run(words, extra)
        if code != 0:
            raise GitError(f"git could not {aim}.", detail=err, exit=code)

    def _moved(self, ref: str, result: tuple[int, bytes, str]) -> None:
        code, _, err = result
        if code == 0:
            return
        if _MOVED.search(err):
            raise RefMovedError(f"{ref} is not where it was.", ref=ref, detail=err)
        raise GitError(f"git could not move {ref}.", ref=ref, detail=err)


def _sha(sha: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", sha):
        raise GitError(f"{sha!r} is not the id of a commit.")
    return sha
