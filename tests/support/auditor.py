"""Judges what scenarios left behind. Knows nothing of the product but what is written on disk.

Git is read with the command line, the database with sqlite3, processes from /proc, and source
transcripts by itself. Each judge yields sentences about what is wrong; `audit` asks them all.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

CONSUMING = ("merged", "no_changes", "awaiting_review", "rejected")
OURS = "reflector@localhost"
_COMMIT_FORMAT = "%H%x00%P%x00%ce%x00%B%x00%x01"


@dataclass(frozen=True)
class Commit:
    """One commit as the command line tells it."""

    sha: str
    parents: tuple[str, ...]
    committer: str
    message: str

    def trailers(self, name: str) -> list[str]:
        """Return the values of exact trailer lines: `Name: value` in the last paragraph."""
        last = self.message.rstrip("\n").rsplit("\n\n", 1)[-1]
        return [
            line.removeprefix(f"{name}: ")
            for line in last.split("\n")
            if line.startswith(f"{name}: ")
        ]


def audit(
    home: Path,
    *,
    transcripts: Iterable[Path] | Mapping[str, Iterable[Path]] = (),
    secrets: Iterable[bytes] = (),
    person_reset_main: bool = False,
) -> None:
    """Assert everything at once; the failure shows every sentence.

    `transcripts` are those of every identity, or by the identity's name. `person_reset_main` allows
    merges of the ledger to be missing from main.
    """
    wrong: list[str] = []
    of = transcripts if isinstance(transcripts, Mapping) else {}
    all_of = () if isinstance(transcripts, Mapping) else tuple(transcripts)
    for agent in sorted((home / "agents").iterdir()):
        repo, database = agent / "repo", agent / "state.db"
        wrong += one_active_run(database)
        wrong += settled(database)
        wrong += history(repo, database, person_reset_main=person_reset_main)
        wrong += kept_tips(repo, database)
        wrong += cursors(database)
        wrong += counters(database)
        wrong += leftovers(agent)
        wrong += objects(repo)
        theirs = of.get(agent.name.rpartition("-")[0], all_of)
        wrong += [each for path in theirs for each in journaled(database, path)]
    wrong += processes(home)
    wrong += canaries(home, secrets)
    assert not wrong, "\n".join(wrong)


# Git


def git(repo: Path, *words: str, check: bool = True) -> bytes:
    """Ask the git command line, with nobody's configuration and without taking locks."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    command = ["git", f"--git-dir={repo / '.git'}", f"--work-tree={repo}", *words]
    done = subprocess.run(
        command, cwd=repo, env=environ, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0 or not check, done.stderr.decode("utf-8", "replace")
    return done.stdout + (b"" if check else done.stderr)


def commits(repo: Path, *what: str) -> list[Commit]:
    """Return commits, newest first."""
    text = git(repo, "log", "-z", f"--format={_COMMIT_FORMAT}", *what).decode("utf-8", "replace")
    found = []
    for record in text.split("\0\x01"):
        fields = record.lstrip("\0").split("\0")
        if len(fields) == 4:
            found.append(Commit(fields[0], tuple(fields[1].split()), fields[2], fields[3]))
    return found


def is_ancestor(repo: Path, old: str, new: str) -> bool:
    """Tell whether `old` is in the history of `new`."""
    words = ["merge-base", old, new]
    return git(repo, *words, check=False).decode().strip() == old


def history(repo: Path, database: Path, *, person_reset_main: bool = False) -> Iterator[str]:
    """Main holds only what may be there, and the ledger's merges one to one."""
    runs = {row["id"]: row for row in rows(database, "SELECT * FROM runs")}
    merged: Counter[str] = Counter()
    undone: Counter[str] = Counter()
    for commit in commits(repo, "--first-parent", "main"):
        yield from _allowed(repo, commit, runs)
        merged.update(commit.trailers("Reflector-Run"))
        undone.update(commit.trailers("Reflector-Undo"))
    wanted = {name for name, row in runs.items() if row["outcome"] == "merged"}
    if (missing := wanted - set(merged)) and not person_reset_main:
        yield f"the ledger says merged, main has no merge: {sorted(missing)}"
    if extra := set(merged) - wanted:
        yield f"main has merges that the ledger does not: {sorted(extra)}"
    yield from (f"run {name} was merged {n} times" for name, n in merged.items() if n > 1)
    yield from (f"run {name} was undone {n} times" for name, n in undone.items() if n > 1)
    yield from (f"run {name} was undone, not merged" for name in set(undone) - set(merged))


def _allowed(repo: Path, commit: Commit, runs: Mapping[str, sqlite3.Row]) -> Iterator[str]:
    """The root, a person's commit, a revert of ours, or a merge of a settled run's tip."""
    named = commit.trailers("Reflector-Run")
    if not named:
        ours = commit.committer == OURS
        if commit.trailers("Memory-Writer") and len(commit.parents) == 1:
            return  # by a tool, or adopted from a person's files
        if ours and commit.parents and not commit.trailers("Reflector-Undo"):
            yield f"{commit.sha} is Reflector's, and neither merge, revert nor root"
        return
    row = runs.get(named[0])
    if row is None or len(named) != 1:
        yield f"{commit.sha} names {named}, which is no run of the ledger"
    elif len(commit.parents) != 2:
        yield f"{commit.sha} of run {row['id']} has {len(commit.parents)} parents"
    else:
        yield from _merge(repo, commit, row)


def _merge(repo: Path, commit: Commit, row: sqlite3.Row) -> Iterator[str]:
    """A merge is the one that its run's row tells of."""
    run = row["id"]
    if (row["state"], row["outcome"]) != ("settled", "merged"):
        yield f"{commit.sha} is of run {run}, which is {row['state']} {row['outcome']}"
    if commit.sha != row["merge_commit"]:
        yield f"run {run} names the merge {row['merge_commit']}, main has {commit.sha}"
    if commit.parents[1] != row["tip"]:
        yield f"{commit.sha} merged {commit.parents[1]}, the ledger's tip is {row['tip']}"
    if not is_ancestor(repo, row["base"], commit.parents[0]):
        yield f"the base of run {run} was not in main when it was merged"
    chain = commits(repo, f"{row['base']}..{row['tip']}")
    if not 1 <= len(chain) <= 20 or any(len(each.parents) != 1 for each in chain):
        yield f"the tip of run {run} is no chain of 1 to 20 commits"


def kept_tips(repo: Path, database: Path) -> Iterator[str]:
    """Each kept ref is a settled run's and holds its tip, and nothing else is kept."""
    listed = git(repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/reflector")
    found = dict(line.split(" ") for line in listed.decode().splitlines())
    known = rows(database, "SELECT id, tip, kept_ref FROM runs WHERE kept_ref IS NOT NULL")
    wanted = {row["kept_ref"]: row["tip"] for row in known}
    for ref, tip in wanted.items():
        if found.get(ref) != tip:
            yield f"{ref} should hold {tip}, it holds {found.get(ref)}"
    yield from (f"{ref} is kept for no run" for ref in found.keys() - wanted.keys())


def objects(repo: Path) -> Iterator[str]:
    """Git finds no fault with any object."""
    said = git(repo, "fsck", "--strict", "--full", "--no-dangling", "--no-progress", check=False)
    if said.strip():
        yield f"git fsck of {repo}: {said.decode('utf-8', 'replace')}"


# The database


def rows(database: Path, query: str, *values: object) -> list[sqlite3.Row]:
    """Ask the database, read-only."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        connection.row_factory = sqlite3.Row
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def one_active_run(database: Path) -> Iterator[str]:
    """No slot has two active runs."""
    for row in rows(
        database, "SELECT slot, count(*) n FROM runs WHERE state = 'active' GROUP BY 1"
    ):
        if row["n"] > 1:
            yield f"slot {row['slot']} has {row['n']} active runs"


def settled(database: Path) -> Iterator[str]:
    """Every run has come to its end."""
    for row in rows(database, "SELECT id, state, phase FROM runs WHERE state <> 'settled'"):
        yield f"run {row['id']} is still {row['state']} in {row['phase']}"
    for (answer,) in rows(database, "PRAGMA integrity_check"):
        if answer != "ok":
            yield f"{database}: {answer}"


def cursors(database: Path) -> Iterator[str]:
    """Ranges that were consumed, set aside or passed by follow each other without gap or overlap,
    and the cursor is their end.
    """
    conversations = rows(database, "SELECT id, key, cursor, last_sequence FROM conversations")
    for row in conversations:
        taken = rows(
            database,
            "SELECT s.run, first_sequence first, last_sequence last FROM run_snapshots s"
            " JOIN runs ON runs.id = s.run"
            " LEFT JOIN set_aside x ON x.run = s.run AND x.conversation = s.conversation"
            " WHERE s.conversation = ? AND mode = 'advance' AND dry_run = 0"
            f" AND (outcome IN {CONSUMING} OR x.run IS NOT NULL) ORDER BY first_sequence",
            row["key"],
        )
        read = [(each["first"], each["last"], f"run {each['run']}") for each in taken]
        reached = 0
        for first, last, reader in sorted(read + _passed_by(database, row["key"])):
            if first <= reached:
                yield f"{row['key']}: {reader} read {first} again"
            if _shown(database, row["id"], reached, first - 1):
                yield f"{row['key']}: rows before {first} were passed over"
            reached = last
        if row["cursor"] != reached:
            yield f"{row['key']}: cursor {row['cursor']}, consumed up to {reached}"


def _passed_by(database: Path, key: str) -> list[tuple[int, int, str]]:
    """Return the ranges that an import noted instead of having them read."""
    found = rows(database, "SELECT value FROM marks WHERE name = ?", f"passed_by/{key}")
    noted = [each for (value,) in found for each in json.loads(value)]
    return [(each["first_sequence"], each["last_sequence"], "an import") for each in noted]


def _shown(database: Path, conversation: int, after: int, until: int) -> int:
    asked = (
        "SELECT count(*) n FROM entries"
        " WHERE conversation = ? AND sequence > ? AND sequence <= ? AND hidden = 0"
    )
    found: int = rows(database, asked, conversation, after, until)[0]["n"]
    return found


def counters(database: Path) -> Iterator[str]:
    """The counters of each conversation are what its entries add up to."""
    counted = (
        "SELECT c.key, last_sequence, count(e.id) n, coalesce(max(e.sequence), 0) newest,"
        " total_steps, coalesce(sum(e.step * (1 - e.hidden)), 0) steps,"
        " reflected_steps, coalesce(sum(e.step * (e.sequence <= cursor) * (1 - e.hidden)), 0) read,"
        " unreflected_bytes,"
        " coalesce(sum(e.size * (e.sequence > cursor) * (1 - e.hidden)), 0) bytes"
        " FROM conversations c LEFT JOIN entries e ON e.conversation = c.id GROUP BY c.id"
    )
    for row in rows(database, counted):
        pairs = {
            "last_sequence": (row["last_sequence"], row["newest"]),
            "sequences": (row["n"], row["newest"]),
            "total_steps": (row["total_steps"], row["steps"]),
            "reflected_steps": (row["reflected_steps"], row["read"]),
            "unreflected_bytes": (row["unreflected_bytes"], row["bytes"]),
        }
        for name, (said, found) in pairs.items():
            if said != found:
                yield f"{row['key']}: {name} says {said}, the entries say {found}"


def journaled(database: Path, transcript: Path) -> Iterator[str]:
    """A generic transcript of plain texts is in the journal once, in order, word for word."""
    # Most transcripts are of one fixed day: when that is a year ago, their texts may be aged out.
    aged = f"{datetime.now(UTC) - timedelta(days=365):%Y-%m-%d}"
    said: dict[str, list[str]] = {}
    for line in transcript.read_bytes().split(b"\n"):
        if line.strip():
            row = json.loads(line)
            said.setdefault(f"jsonl/{row['session_id']}", []).append(row["content"])
    for key, texts in said.items():
        asked = (
            "SELECT text, at FROM entries JOIN conversations c ON c.id = conversation"
            " WHERE key = ? AND entries.hidden = 0 ORDER BY sequence"
        )
        found = rows(database, asked, key)
        same = len(found) == len(texts) and all(
            row["text"] == text or (row["text"] == "" and row["at"] < aged)
            for row, text in zip(found, texts, strict=True)
        )
        if not same:
            yield f"{key}: {len(texts)} rows in the transcript, {len(found)} in the journal"


# Files and processes


def leftovers(agent: Path) -> Iterator[str]:
    """Nothing of a run or of a write is left beside the memory."""
    repo, dot_git = agent / "repo", agent / "repo" / ".git"
    listed = git(repo, "worktree", "list", "--porcelain").decode().count("worktree ")
    if listed != 1:
        yield f"{listed - 1} worktrees are registered"
    branches = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/memory").decode()
    yield from (f"the branch {name} is left" for name in branches.split())
    for folder in (agent / "worktrees", dot_git / "worktrees", dot_git / "refs/heads/memory"):
        yield from (f"{place} is left" for place in _inside(folder) if place.is_file())
    yield from (f"{place} is left" for place in _children(agent / "worktrees"))
    for place in (*_inside(dot_git), *_inside(agent)):
        name = place.name
        lock = name.endswith(".lock") and dot_git in place.parents
        temporary = name.endswith((".tmp", ".new")) or name.startswith(("tmp_obj_", "reflector-"))
        if (lock or temporary) and name != "reflector.log":
            yield f"{place} is left"


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _inside(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        if ".git" in folders and Path(root) != folder:
            folders.remove(".git")
        yield from (Path(root, name) for name in files)


def processes(home: Path) -> Iterator[str]:
    """No process of a run of this home lives."""
    for pid, environ in _environments():
        if b"REFLECTOR_RUN" in environ and environ.get(b"MEMORY_DIR", b"").startswith(
            os.fsencode(home)
        ):
            yield f"process {pid} of run {environ[b'REFLECTOR_RUN'].decode()} lives"


def _environments() -> Iterator[tuple[int, dict[bytes, bytes]]]:
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            parts = place.read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile, or is not ours
            continue
        yield int(place.parent.name), dict(part.partition(b"=")[::2] for part in parts)


# Secrets


def canaries(home: Path, secrets: Iterable[bytes]) -> Iterator[str]:
    """No secret is in any byte under the home."""
    wanted = list(secrets)
    if not wanted:
        return
    for where, content in bytes_everywhere(home):
        for secret in wanted:
            if secret in content:
                yield f"a secret is in {where}"


def bytes_everywhere(home: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every byte under a home: names, links, files as they are, and git's objects unpacked."""
    for root, folders, files in os.walk(home):
        for name in (*folders, *files):
            place = Path(root, name)
            yield f"the name {place}", os.fsencode(name)
            if place.is_symlink():
                yield f"the link {place}", os.fsencode(place.readlink())
            elif place.is_file():
                yield str(place), place.read_bytes()
        if ".git" in folders:
            yield from _objects(Path(root))


def _objects(repo: Path) -> Iterator[tuple[str, bytes]]:
    words = ["cat-file", "--batch", "--batch-all-objects", "--unordered"]
    rest = memoryview(git(repo, *words))
    while rest:
        end = bytes(rest[:200]).index(b"\n")
        sha, kind, size = bytes(rest[:end]).split(b" ")
        start = end + 1
        yield f"{kind.decode()} {sha.decode()}", bytes(rest[start : start + int(size)])
        rest = rest[start + int(size) + 1 :]


# What must not change


def picture(folder: Path, *, leave_out: Sequence[str] = ()) -> dict[str, bytes]:
    """Return every file below a folder with its mode and bytes; `leave_out` are path patterns."""
    seen: dict[str, bytes] = {}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(root, name)
            path = place.relative_to(folder).as_posix()
            if any(re.match(pattern, path) for pattern in leave_out):
                continue
            if place.is_symlink():
                seen[path] = b"-> " + os.fsencode(place.readlink())
            elif place.is_file():
                mode = f"{place.stat().st_mode & 0o777:o} ".encode()
                seen[path] = mode + place.read_bytes()
    return seen


def parent(repo: Path) -> dict[str, bytes]:
    """Return what of the memory a person sees: HEAD, main, index, and every working file."""
    out = (r"\.git/objects", r"\.git/refs/reflector", r"\.git/logs/refs/", r"\.git/worktrees")
    empty = (r"\.git/refs/heads/memory", r"\.git/COMMIT_EDITMSG")
    return picture(repo, leave_out=(*out, *empty))
