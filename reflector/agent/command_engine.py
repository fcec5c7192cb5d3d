"""The engine that lets an agent CLI work: it edits files, and what it left is judged by git."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Literal, cast

from reflector.agent.cli_faults import reason_of
from reflector.agent.cli_words import Heard
from reflector.agent.engine import Commit, Finish, Programs, Ran, Step, Task, Update, Usage
from reflector.agent.folder import Folder
from reflector.agent.presets import (
    MESSAGE,
    PROMPT,
    SCRATCH,
    TRANSCRIPT,
    command_line,
    preset_of,
)
from reflector.agent.transcript import render
from reflector.core.ambient import Clock
from reflector.core.errors import DocumentError, StateError
from reflector.core.redact import redact
from reflector.memory.codes import finding
from reflector.memory.commit_message import parse, problems
from reflector.memory.tree import is_document, tier

_NOTHING = re.compile(r"\bnothing to record\b", re.IGNORECASE)
# Trailers are ours to write, whatever stands there.
_ASKED = ("message_subject", "message_pipeline", "message_updates")
# What never started cost nothing; of anything else that names no cost nobody knows it.
_NEVER_STARTED = ("engine_missing", "spawn_failed", "sandbox_unavailable")
_LONGEST = 512
_FENCE = re.compile(r"```[a-z]*\n(.*?)\n```\s*\Z", re.DOTALL)


class CommandEngine:
    """Reflects by a program of the person's. Its words and exit code never make a success."""

    name = "command"

    def __init__(self, clock: Clock) -> None:
        """Take the time for the record of the run."""
        self._clock = clock

    def run(self, task: Task, commit: Commit, progress: Callable[[str], None]) -> Finish:
        """Do the task. `progress` takes one short line at a time, never transcript text."""
        if task.programs is None:
            raise StateError("The engine 'command' was given nothing that runs programs.")
        began = self._clock.monotonic()
        run = _Run(task, task.programs, commit, progress)
        finish = run.to_its_end()
        if task.record is not None:
            task.record(_step(task, run.heard, finish, self._clock.monotonic() - began))
        return finish


def _step(task: Task, heard: Heard, finish: Finish, elapsed: float) -> Step:
    used = asdict(finish.usage)
    used.pop("cost_usd")
    return Step(
        f"{task.pipeline}.cli",
        heard.model or task.route.model or task.route.preset,
        round(elapsed * 1000),
        used,
        tools=heard.tools,
        error=finish.reason,
        detail=finish.detail,
        answered=heard.report,
    )


class _EndedError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Run:
    """One run on its way."""

    def __init__(
        self, task: Task, programs: Programs, commit: Commit, progress: Callable[[str], None]
    ) -> None:
        self.task = task
        self.programs = programs
        self.commit = commit
        self.progress = progress
        self.folder = Folder(task.worktree)
        self.heard = Heard(preset_of(task.route).format)

    def to_its_end(self) -> Finish:
        try:
            return self._ended()
        except _EndedError as end:
            if end.reason in _NEVER_STARTED:
                self.heard.usage = Usage()
            detail = " ".join(redact(str(end)).text.split())[:_LONGEST]
            return self._finish("failed", reason=end.reason, detail=detail)
        finally:
            self._tidy()

    def _ended(self) -> Finish:
        ran = self._ran()
        left = self.programs.left()
        message = self._message()
        self._tidy()
        if left == "commits":
            # Unconfined it can; confined git is read-only. What is ours to commit is ours alone.
            raise _EndedError("validation", "The agent CLI committed by itself.")
        self._failed(ran)
        match left, message:
            case "edits", str():
                return self._committed(message)
            case "edits", None:
                # Left as they are: git says so, and the run ends `dirty_uncommitted`.
                return self._finish("nothing_to_record")
            case _:
                return self._nothing(message)

    def _finish(
        self, kind: Literal["committed", "nothing_to_record", "failed"], **why: str
    ) -> Finish:
        heard = self.heard
        report = redact(heard.report).text.strip()
        return Finish(kind, report, usage=heard.usage, refusals=heard.denied, **why)

    # The program

    def _ran(self) -> Ran:
        task = self.task
        prompt = f"{task.prompt}\n\n{task.opening}".encode("utf-8", "replace")
        self.folder.write(TRANSCRIPT, render(task.conversations).encode("utf-8", "replace"))
        words = command_line(task.route, PROMPT)
        if PROMPT in words:
            self.folder.write(PROMPT, prompt)
        try:
            return self.programs.run(words, prompt, self._hear)
        except FileNotFoundError as error:
            raise _EndedError("engine_missing", f"There is no program {words[0]!r}.") from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            name = errno.errorcode.get(error.errno or 0, "")
            detail = f"{words[0]!r} could not be started: {name} {error.strerror}."
            raise _EndedError("spawn_failed", detail) from error

    def _hear(self, line: bytes) -> None:
        before = len(self.heard.turns)
        self.heard.hear(line)
        if len(self.heard.turns) > before:
            self.progress(f"turn {len(self.heard.turns)}")

    def _tidy(self) -> None:
        """Remove the scratch folder, whatever stands in its place."""
        place = self.task.worktree / SCRATCH
        with suppress(OSError):
            if place.is_symlink() or not place.is_dir():
                place.unlink(missing_ok=True)
            else:
                shutil.rmtree(place, ignore_errors=True)

    # What came of it

    def _message(self) -> str | None:
        """Return the commit message that it left, None without one."""
        try:
            raw = self.folder.read(MESSAGE)
        except OSError as error:
            raise _EndedError("validation", f"{MESSAGE} cannot be read: {error}.") from error
        text = (raw or b"").decode("utf-8", "replace").strip()
        fenced = _FENCE.match(text)
        return (fenced.group(1).strip() if fenced else text) or None

    def _failed(self, ran: Ran) -> None:
        """Raise for a program that failed by its own account."""
        heard = self.heard
        if not ran.code and not heard.error:
            return
        said = heard.error or _last(ran.said) or _last(heard.report)
        if ran.said.startswith("bwrap: "):
            raise _EndedError("sandbox_unavailable", said)
        otherwise = "child_exit" if ran.code else "engine_error"
        reason = reason_of(heard.why, said, otherwise)
        raise _EndedError(reason, f"{self._name} ended with code {ran.code}: {said}")

    @property
    def _name(self) -> str:
        route = self.task.route
        return route.preset or os.path.basename(route.command[0])  # noqa: PTH119 - a word

    def _committed(self, message: str) -> Finish:
        wrong = [
            finding(code, wanted=self.task.pipeline).message
            for code, _ in problems(message, self.task.pipeline)
            if code in _ASKED
        ]
        if wrong:
            raise _EndedError("validation", f"{MESSAGE}: {' '.join(wrong)}")
        self._delete_emptied()
        read = parse(message)
        kind = cast("Literal['fix', 'feat', 'chore']", read.kind)
        updates = [Update(each.text, each.evidence) for each in read.updates]
        try:
            self.commit(kind, read.summary, updates)
        except DocumentError as error:
            raise _EndedError("validation", error.message) from error
        return self._finish("committed")

    def _delete_emptied(self) -> None:
        """Delete what it emptied: that is how a document is deleted without a shell."""
        for path in list(self.folder.files()):
            if tier(path) is not None and is_document(path) and self._is_empty(path):
                self.folder.remove(path)

    def _is_empty(self, path: str) -> bool:
        return not (self.task.worktree / path).stat().st_size

    def _nothing(self, message: str | None) -> Finish:
        """End without a change: that wants proof, since nothing is also what a failure leaves."""
        heard = self.heard
        if heard.denied:
            raise _EndedError("engine_error", f"{heard.denied} writes were denied.")
        if heard.calls and heard.failed == heard.calls:
            raise _EndedError("engine_error", f"All {heard.calls} tool calls failed.")
        if heard.format != "plain" and not heard.ended:
            raise _EndedError("no_result", f"{self._name} ended without a readable last word.")
        if message is not None:
            raise _EndedError("empty", f"{MESSAGE} was written, but no document changed.")
        if not _NOTHING.search(heard.report):
            what = "said nothing" if not heard.report.strip() else "did not say why"
            raise _EndedError("empty", f"{self._name} changed nothing and {what}.")
        return self._finish("nothing_to_record")


def _last(text: str) -> str:
    """Return the last three lines of a text, on one line."""
    kept = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(kept[-3:])
