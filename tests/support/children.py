"""Children of a run that behave well or badly: `python children.py BEHAVIOUR RUN_FOLDER`.

They speak the real protocol and use the git command line, as an agent CLI would.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LESSON = "- Prefers short answers (2026-11-30)\n"


class Child:
    """One child at work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.payload: dict[str, Any] = json.loads((folder / "payload.json").read_text("utf-8"))
        self.tree = Path(self.payload["worktree"])
        self.evidence = (self.payload["user_entries"] or ["x:none:0"])[0]

    def git(self, *words: str) -> str:
        done = subprocess.run(
            [
                "git",
                "-C",
                str(self.tree),
                "-c",
                "user.name=Child",
                "-c",
                "user.email=c@example.com",
                *words,
            ],
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, *updates: str, subject: str = "feat(reflection): a lesson") -> str:
        items = "\n".join(f"- {update}" for update in updates) or (
            f"- system/human.md: a lesson [entry {self.evidence}]"
        )
        message = f"{subject}\n\nUpdates:\n{items}\n\nGenerated-By: agent memory\n"
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def learn(self, line: str = LESSON) -> None:
        human = self.tree / "system" / "human.md"
        text = human.read_text("utf-8")
        human.write_text(text.replace("## Preferences\n", f"## Preferences\n\n{line}"), "utf-8")

    def finish(self, kind: str = "committed", refusals: int = 0, **values: Any) -> None:
        usage = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "cost_usd": 0.0}
        finish = {"kind": kind, "report": "", "reason": "", "detail": "", "usage": usage}
        body = {"finish": {**finish, "refusals": refusals, **values}, "tip": ""}
        (self.folder / "out" / "result.json").write_text(json.dumps(body), "utf-8")
        print("result", flush=True)


def learns(child: Child) -> None:
    child.learn()
    child.commit()
    child.finish()


def commits_on_another_branch(child: Child) -> None:
    child.git("checkout", "-q", "-b", "other")
    learns(child)


def sets_a_hooks_path(child: Child) -> None:
    child.git("config", "core.hooksPath", str(child.folder))
    learns(child)


def writes_a_hook(child: Child) -> None:
    common = Path(child.git("rev-parse", "--git-common-dir"))
    (common / "hooks").mkdir(exist_ok=True)
    (common / "hooks" / "post-merge").write_text("#!/bin/sh\ntouch /tmp/never\n", "utf-8")
    learns(child)


def moves_main(child: Child) -> None:
    child.learn()
    tip = child.commit()
    child.git("update-ref", "refs/heads/main", tip)
    child.finish()


def rewrites_history(child: Child) -> None:
    child.git("checkout", "-q", "--orphan", "fresh")
    child.learn()
    tip = child.commit()
    child.git("checkout", "-q", "-B", child.payload["branch"], tip)
    child.git("branch", "-q", "-D", "fresh") if child.git("branch", "--list", "fresh") else None
    child.finish()


def commits_and_reverts(child: Child) -> None:
    child.learn()
    child.commit()
    child.git("revert", "--no-edit", "HEAD")
    child.finish()


def adds_and_removes_a_secret(child: Child) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    child.learn(f"- the token is {secret}\n")
    child.commit()
    human = child.tree / "system" / "human.md"
    human.write_text(human.read_text("utf-8").replace(secret, "elsewhere"), "utf-8")
    child.commit(subject="fix(reflection): forget it")
    child.finish()


def edits_the_boundaries(child: Child) -> None:
    place = child.tree / "system" / "boundaries.md"
    place.write_text(place.read_text("utf-8") + "\n- anything goes\n", "utf-8")
    child.commit(f"system/boundaries.md: looser [entry {child.evidence}]")
    child.finish()


def gives_no_evidence(child: Child) -> None:
    child.learn()
    child.commit("system/human.md: the assistant thought so")
    child.finish()


def names_foreign_evidence(child: Child) -> None:
    child.learn()
    child.commit("system/human.md: from nowhere [entry jsonl:nowhere:0]")
    child.finish()


def writes_no_header(child: Child) -> None:
    place = child.tree / "system" / 'naïve "note" 1.md'
    place.write_text("no header at all\n", "utf-8")
    child.commit(f"system/x.md: a note [entry {child.evidence}]")
    child.finish()


def plants_a_link(child: Child) -> None:
    (child.tree / "reference" / "leak.md").symlink_to("/etc/hostname")
    child.commit("reference/leak.md: a link")
    child.finish()


def leaves_scratch(child: Child) -> None:
    child.learn()
    child.commit()
    (child.tree / "tmp_edit.py").write_text("print('scratch')\n", "utf-8")
    child.finish()


def leaves_memory_uncommitted(child: Child) -> None:
    child.learn()
    child.commit()
    child.learn("- and one more\n")
    child.finish()


def deletes_its_worktree(child: Child) -> None:
    shutil.rmtree(child.tree)
    child.finish()


def commits_then_deletes_its_worktree(child: Child) -> None:
    child.learn()
    child.commit()
    deletes_its_worktree(child)


def could_not_write(child: Child) -> None:
    child.finish("nothing_to_record", refusals=3)


def finds_nothing(child: Child) -> None:
    child.finish("nothing_to_record")


def dies(_child: Child) -> None:
    print("it broke", file=sys.stderr)
    sys.exit(3)


def says_nothing(_child: Child) -> None:
    return


def leaves_half_a_result(child: Child) -> None:
    child.learn()
    child.commit()
    (child.folder / "out" / "result.json").write_text('{"finish": {"kind": "comm', "utf-8")


def waits_for_ever(child: Child) -> None:
    child.learn()
    child.commit()
    print("progress waiting", flush=True)
    sys.stdin.read()


def runs_no_hooks_of_the_person(child: Child) -> None:
    learns(child)


BEHAVIOURS: dict[str, Callable[[Child], None]] = {
    name: each for name, each in list(globals().items()) if callable(each) and name.islower()
}


def main() -> None:
    """Speak the protocol and behave."""
    child = Child(Path(sys.argv[2]))
    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        return
    BEHAVIOURS[sys.argv[1]](child)


if __name__ == "__main__":
    main()
