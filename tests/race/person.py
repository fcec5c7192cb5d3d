"""A person at work in the memory: a process of its own, the git command line, plain writes.

`python person.py REPO SEED`. A line on stdin is one round; the answer is what the person believes
to be in files, index and history now. Moments are chosen so that the person acts while a run
makes its worktree, holds the index lock, or has just moved main.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HUMAN = "system/human.md"
NOTES = "reference/notes.md"
HEADER = b"---\ndescription: written by hand\n---\n"
PATIENCE = 0.6
REFUSED = ("index.lock", "cannot lock ref", "unable to create temporary file")
"""What another git at work leads to; the last one is `gc`, which removes folders that are empty."""
NOTHING = ("nothing to commit", "nothing added to commit", "no changes added to commit")


class Person:
    """Knows what they wrote, staged and committed; everything is bytes."""

    def __init__(self, repo: Path, seed: str) -> None:
        self.repo = repo
        self.seed = seed
        self.round = 0
        self.written = 0
        self.chance = random.Random(seed)
        self.files: dict[str, bytes] = {}
        self.staged: dict[str, bytes] = {}
        self.fresh: dict[str, list[str]] = {}
        self.added: dict[str, list[str]] = {}
        self.committed: list[tuple[str, str]] = []
        self.deleted: list[str] = []
        self.did: list[str] = []

    # What a person does

    def git(self, *words: str) -> None:
        """Insist: a person whose git says `index.lock` exists simply tries again."""
        deadline = time.monotonic() + 20
        while True:
            done = subprocess.run(
                ["git", "-C", str(self.repo), *words], capture_output=True, check=False
            )
            said = (done.stdout + done.stderr).decode("utf-8", "replace")
            if done.returncode == 0 or any(each in said for each in NOTHING):
                return
            refused = any(each in said for each in REFUSED)
            assert refused, f"git {words}: {said}"
            assert time.monotonic() < deadline, said

    def write(self, path: str) -> None:
        """Append a line, as an editor that looks whether the file was replaced meanwhile."""
        place = self.repo / path
        self.written += 1
        line = f"- by hand {self.round}.{self.written}"
        while True:
            with place.open("ab+", buffering=0) as file:
                if os.fstat(file.fileno()).st_size == 0:
                    file.write(HEADER)
                file.write(f"{line}\n".encode())
                file.seek(0)
                content = file.read()
                if os.fstat(file.fileno()).st_ino == place.stat().st_ino:
                    break
        self.files[path] = content
        self.fresh.setdefault(path, []).append(line)

    def add(self, path: str) -> None:
        """Stage a file as it is."""
        self.git("add", "--", path)
        if path in self.files:
            self.staged[path] = self.files[path]
            self.added.setdefault(path, []).extend(self.fresh.pop(path, []))

    def commit_staged(self) -> None:
        """Commit the index."""
        self.git("commit", "-q", "-m", "by hand")
        self._landed(self.added)
        self.added = {}
        for path, content in self.staged.items():
            if self.files.get(path) == content:
                del self.files[path]
        self.staged = {}

    def commit_all(self) -> None:
        """Commit every tracked file."""
        tracked = self.tracked()
        self.git("commit", "-q", "-a", "-m", "by hand")
        self._landed(self.added)
        self._landed({path: self.fresh.pop(path) for path in list(self.fresh) if path in tracked})
        self.added = {}
        self.files = {path: self.files[path] for path in self.files if path not in tracked}
        self.staged = {}

    def tracked(self) -> set[str]:
        """Return the paths in the index."""
        words = ["git", "-C", str(self.repo), "ls-files", "-z"]
        listed = subprocess.run(words, capture_output=True, check=True).stdout
        return set(listed.decode().split("\0"))

    def _landed(self, lines: dict[str, list[str]]) -> None:
        self.committed += [(path, line) for path, many in lines.items() for line in many]

    # When

    def moment(self) -> None:
        """Wait, spinning, for the moment of this round."""
        dot_git = self.repo / ".git"
        lock, main = dot_git / "index.lock", dot_git / "refs" / "heads" / "main"
        before = position(main)
        worktrees = self.repo.parent / "worktrees"
        moments: list[tuple[str, Callable[[], bool]]] = [
            ("now", lambda: True),
            ("worktree", lambda: any(worktrees.iterdir())),
            ("lock", lock.exists),
            ("lock", lock.exists),
            ("moved", lambda: position(main) != before),
            ("moved", lambda: position(main) != before),
        ]
        name, came = self.chance.choice(moments)
        self.did.append(name)
        spin(came, PATIENCE)
        if self.chance.random() < 0.6:
            spin(lambda: False, self.chance.choice([0.002, 0.01, 0.03, 0.1]) * self.chance.random())

    # Rounds

    def act(self) -> None:
        """Do one thing or two."""
        own = f"reference/lesson-{self.round}.md"
        path = self.chance.choice([HUMAN, HUMAN, HUMAN, NOTES, f"reference/n{self.round}.md", own])
        actions: list[Callable[[str], None]] = [
            self.edits,
            self.edits,
            self.stages,
            self.stages_a_part,
            self.commits_everything,
            self.commits_everything,
            self.commits_what_is_staged,
            self.storms,
        ]
        action = self.chance.choice(actions)
        self.did.append(f"{action.__name__} {path}")
        action(path)

    def edits(self, path: str) -> None:
        self.write(path)

    def stages(self, path: str) -> None:
        self.write(path)
        self.add(path)

    def stages_a_part(self, path: str) -> None:
        self.write(path)
        self.add(path)
        self.write(path)

    def commits_everything(self, path: str) -> None:
        self.write(path)
        self.commit_all()

    def commits_what_is_staged(self, path: str) -> None:
        self.write(path)
        self.add(path)
        self.commit_staged()

    def storms(self, path: str) -> None:
        for _ in range(6):
            self.write(path)
            self.add(path)
            self.commit_staged()

    def tidy(self) -> None:
        """Between two rounds: commit all, put all away, or leave it lying about."""
        self.put_away(self.chance.random())

    def put_away(self, choice: float) -> None:
        """Commit all below 0.6 (and delete a lesson below 0.1), put all away below 0.75."""
        if choice < 0.6:
            self.git("add", "-A")
            for path in list(self.files):
                self.staged[path] = self.files[path]
                self.added.setdefault(path, []).extend(self.fresh.pop(path, []))
            self.commit_staged()
            if choice < 0.1:
                self.delete_a_lesson()
        elif choice < 0.75:
            self.git("reset", "-q", "--hard")
            self.git("clean", "-q", "-d", "-f")
            self.files, self.staged, self.fresh, self.added = {}, {}, {}, {}

    def delete_a_lesson(self) -> None:
        """Take a lesson out on purpose."""
        place = self.repo / HUMAN
        lines = place.read_text("utf-8").splitlines(keepends=True)
        lessons = [line for line in lines if line.startswith("- Lesson ")]
        if lessons:
            gone = self.chance.choice(lessons)
            place.write_text("".join(line for line in lines if line != gone), "utf-8")
            self.git("commit", "-q", "-a", "-m", "by hand: not this one")
            self.deleted.append(gone.strip())

    def state(self) -> dict[str, object]:
        """Return what the person believes."""
        return {
            "files": {path: content.decode("latin-1") for path, content in self.files.items()},
            "staged": {path: content.decode("latin-1") for path, content in self.staged.items()},
            "committed": self.committed,
            "deleted": self.deleted,
            "did": self.did,
        }


def position(ref: Path) -> bytes:
    """Return where a ref is, b"" while it is packed."""
    try:
        return ref.read_bytes()
    except FileNotFoundError:
        return b""


def spin(came: Callable[[], bool], seconds: float) -> None:
    """Look as often as possible."""
    deadline = time.monotonic() + seconds
    while not came() and time.monotonic() < deadline:
        pass


def main() -> None:
    """Answer until stdin ends: `act N`, `tidy`, `finish`."""
    person = Person(Path(sys.argv[1]), sys.argv[2])
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        person.did = []
        if word == "act":
            person.round = int(number)
            person.chance = random.Random(f"{person.seed}.{number}")
            person.moment()
            person.act()
        elif word == "tidy":
            person.tidy()
        else:
            person.put_away(0.5)
        print(json.dumps(person.state()), flush=True)


if __name__ == "__main__":
    main()
