"""The child of a run: one reserved run from its payload to its result, and nothing else."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from reflector.agent.engine import Finish, Route, Task, Update
from reflector.agent.registry import engine
from reflector.core.ambient import Ambient, system
from reflector.core.errors import DocumentError, GitError, ReflectorError
from reflector.core.redact import redact
from reflector.memory.budget_rules import tier_tokens
from reflector.memory.commit_message import render
from reflector.runtime import payload as payloads
from reflector.runtime.agent_process import AgentPrograms
from reflector.runtime.decisions.brief import Brief
from reflector.runtime.experiences.brief import Segment
from reflector.runtime.judgement import judge, scope_of
from reflector.runtime.payload import Payload
from reflector.runtime.processes import die_with_parent
from reflector.runtime.steps import StepLog
from reflector.store.disk import unusable, write_atomic
from reflector.vcs.port import Identity
from reflector.vcs.worktree import Worktree

FOLDERS = ("system", "reference", "projects", "experiences", "facts", "skills", "ARCHIVE.md")


class WorktreeCommit:
    """The commit tool of one run: commits, then lets the validator say what it would refuse.

    A commit that was refused is amended by the next one, so that a repaired secret never stays in
    history.
    """

    def __init__(self, payload: Payload, worktree: Worktree, ambient: Ambient) -> None:
        """Begin at the base; nothing is committed yet."""
        self._payload = payload
        self._worktree = worktree
        self._ambient = ambient
        self._amend = False
        self.tip = payload.base

    def __call__(
        self, kind: Literal["fix", "feat", "chore"], summary: str, updates: Sequence[Update]
    ) -> str:
        """Commit the worktree's present content. Raises DocumentError with every finding."""
        pipeline, agent = self._payload.pipeline, self._payload.agent_id
        message = render(kind, pipeline, summary, updates, agent)
        with self._worktree.writes() as writes:
            self.tip = writes.commit_worktree(
                self._worktree.branch,
                self.tip,
                FOLDERS,
                message,
                Identity(),
                self._ambient.clock.now(),
                amend=self._amend,
            )
        self._refuse_bad(self.tip)
        return self.tip

    def _refuse_bad(self, tip: str) -> None:
        told = self._payload
        scope = scope_of(
            told.pipeline, told.user_entries, system_tokens=told.system_tokens, target=told.target
        )
        verdict = judge(self._worktree, tip, scope)
        errors = [finding for finding in verdict.findings if finding.severity == "error"]
        self._amend = bool(errors)
        if errors:
            raise DocumentError(
                "The commit would be refused: "
                + "; ".join(f"{each.path}:{each.line} {each.message}" for each in errors),
                hint="Mend the files and commit again.",
            )


def main(run_folder: Path) -> int:
    """Work one run, speaking the protocol of `runtime.launch` on stdin and stdout."""
    die_with_parent()
    payload = payloads.read(run_folder / "payload.json")
    _say("ready")
    if sys.stdin.readline() != "go\n":
        return 0
    threading.Thread(target=_stop_when_alone, daemon=True).start()
    finish, tip = work(payload, run_folder)
    result = {"finish": asdict(finish), "tip": tip}
    write_atomic(run_folder / "out" / "result.json", json.dumps(result).encode())
    _say("result")
    return 0


def work(payload: Payload, run_folder: Path) -> tuple[Finish, str]:
    """Let the engine do the task; its own failure becomes a finish, never a crash."""
    worktree = worktree_of(payload)
    ambient = system()
    commit = WorktreeCommit(payload, worktree, ambient)
    task = Task(
        run_id=payload.run_id,
        pipeline=payload.pipeline,
        agent_id=payload.agent_id,
        worktree=worktree.path,
        today=payload.today,
        focus=payload.focus,
        conversations=payload.conversations,
        unwanted=payload.unwanted,
        prompt=(run_folder / "prompt.md").read_text("utf-8"),
        system_left=_system_left(payload, worktree),
        opening=(run_folder / "opening.md").read_text("utf-8") if payload.route else "",
        route=payload.route or Route(),
        record=StepLog(run_folder / "out", ambient) if payload.log_steps else None,
        programs=AgentPrograms(worktree, run_folder),
    )
    try:
        if payload.brief is not None:
            finish = _consolidated(task, payload.brief, commit, run_folder, ambient)
        elif payload.segment is not None:
            finish = _extracted(task, payload.segment, commit, worktree, ambient)
        else:
            finish = engine(payload.engine, ambient).run(
                task, commit, lambda line: _say(f"progress {line}")
            )
    except GitError as error:
        finish = _failed("disk_full" if error.disk_full else "git_failed", error)
    except ReflectorError as error:
        finish = _failed("engine_error", error)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        finish = _failed("disk_full" if full else "git_failed", unusable(worktree.path, error))
    return finish, commit.tip


def _consolidated(
    task: Task, brief: Brief, commit: WorktreeCommit, run_folder: Path, ambient: Ambient
) -> Finish:
    from reflector.runtime.decisions.editing import consolidate  # noqa: PLC0415 - imports a client

    return consolidate(task, brief, commit, run_folder / "out", ambient)


def _extracted(
    task: Task, segment: Segment, commit: WorktreeCommit, worktree: Worktree, ambient: Ambient
) -> Finish:
    from reflector.runtime.experiences.extracting import extract  # noqa: PLC0415 - imports a client

    return extract(task, segment, commit, worktree, ambient)


def _system_left(payload: Payload, worktree: Worktree) -> int | None:
    """Return by how many tokens the system tier may grow: an engine that asks is not refused."""
    if not payload.system_tokens:
        return None
    with worktree.reads() as reads:
        return payload.system_tokens - tier_tokens(reads.tree(payload.base))


def _failed(reason: str, error: ReflectorError) -> Finish:
    detail = " ".join(filter(None, (error.message, str(error.facts.get("detail", "")))))
    return Finish("failed", "", reason=reason, detail=redact(detail).text)


def worktree_of(payload: Payload) -> Worktree:
    """Return the worktree that a payload names."""
    path = Path(payload.worktree)
    git_dir = Path(payload.repository) / ".git" / "worktrees" / path.name
    return Worktree(path, git_dir, payload.branch, payload.base)


def _say(line: str) -> None:
    sys.stdout.write(line.replace("\n", " ") + "\n")
    sys.stdout.flush()


def _stop_when_alone() -> None:
    """End at once when the supervisor is gone: then nobody waits for a result."""
    while sys.stdin.readline():
        pass
    os._exit(1)


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    # All is written. Taking the interpreter apart would take longer than a small run's own work.
    os._exit(code)
