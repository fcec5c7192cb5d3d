"""One reserved run taken through its phases, each saved before the effect that it announces."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

from reflector.core.errors import GitError, ReflectorError, StateError
from reflector.core.redact import redact
from reflector.core.run import Outcome, Phase, Reason, Run, Settlement
from reflector.memory.rules import Verdict
from reflector.runtime import altered, sandbox, sandbox_probe
from reflector.runtime import log as events
from reflector.runtime import payload as payloads
from reflector.runtime.agent_confinement import confine
from reflector.runtime.bench import Bench, failed, keep, planned, settle
from reflector.runtime.experiences.ageing import before_dream
from reflector.runtime.integration import Validated, integrate, scope, surely
from reflector.runtime.judgement import judge, reasons, together
from reflector.runtime.launch import Ended, Listening, environment, run_child
from reflector.runtime.payload import Payload
from reflector.runtime.preparation import prepare
from reflector.runtime.routing import credentials
from reflector.runtime.trouble import settlement_of
from reflector.runtime.waiting import BY_SETTING
from reflector.store import reservations
from reflector.vcs import administration, worktree
from reflector.vcs.port import Administration
from reflector.vcs.reads import Reads
from reflector.vcs.whereabouts import trouble
from reflector.vcs.worktree import Missing, Worktree

_LARGEST_RESULT = 4_000_000
_HEARTBEAT = 10


class _Settled(Exception):  # noqa: N818 - not an error: how a phase ends the run early
    def __init__(self, end: Settlement) -> None:
        super().__init__(end.outcome)
        self.end = end


def supervise(bench: Bench, run: Run) -> Run:
    """Take a reserved run to its settlement, clean up, and return it as settled."""
    before_dream(bench, run)
    work = _Work(bench, run)
    return work.settle(work.ended(work.do))


def resume(bench: Bench, run: Run, place: Worktree) -> Settlement | None:
    """Finish what a dead supervisor's child had finished; None when it had not.

    Its processes are ended already. Only for a run in phase `running` or `validating`.
    """
    work = _Work(bench, run)
    work.place, work.tip = place, run.tip
    result = read_result(work.folder)
    if result is None:
        return None
    before = altered.saved(work.folder)
    if run.phase is Phase.RUNNING and before is not None:
        return work.ended(lambda: work.worked(place.base, before, Ended("exited", 0)))
    if run.phase is Phase.VALIDATING and run.tip is not None:
        tip = run.tip
        return work.ended(lambda: work.validated(place.base, tip, result["finish"]))
    return None


class _Work:
    """One run on its way. Opened with the run, closed by its settlement."""

    def __init__(self, bench: Bench, run: Run) -> None:
        self.bench = bench
        self.run = run
        self.phase = run.phase
        self.place: Worktree | None = None
        self.tip: str | None = None
        self.folder = bench.context.agent.run(run.id)
        self.usage: dict[str, int | float | None] = {}

    def ended(self, work: Callable[[], Settlement]) -> Settlement:
        """Return how the run ends, whatever happens on the way."""
        try:
            return work()
        except _Settled as early:
            return early.end
        except (ReflectorError, OSError) as error:
            if self.phase is Phase.INTEGRATING:
                raise  # nobody knows whether it landed: the next supervisor asks git again
            end = settlement_of(error)
            kept = self.keep("backup", self.tip)  # the child's work is paid for
            return replace(end, tip=self.tip, kept_ref=kept)

    def do(self) -> Settlement:
        base = self._parent_ready()
        payload = self._provision(base)
        before = self._administration()
        altered.save(self.folder, before)
        return self.worked(base, before, self._child(payload))

    def worked(self, base: str, before: Administration, ended: Ended) -> Settlement:
        tip = self._tip()
        self._unaltered(before, base, tip)
        finish = self._finish(ended, tip, base)
        self._advance(Phase.VALIDATING, tip=tip)
        self.tip = tip if tip != base else None
        return self.validated(base, tip, finish)

    def validated(self, base: str, tip: str, finish: dict[str, Any]) -> Settlement:
        self.usage = finish["usage"]
        may = scope(self.bench.context, self.bench.state, self.run)
        verdict = judge(self._worktree, tip, may)
        return self._decide(verdict, finish, Validated(self.run, base, tip, may))

    # The phases

    def _parent_ready(self) -> str:
        with Reads(self.bench.context.agent.repo) as reads:
            head = reads.head()
        if why := trouble(head.branch, head.operation):
            raise _Settled(Settlement(Outcome.PARENT_DIRTY, detail=why))
        if head.sha is None:
            raise GitError("The memory repository has no commit on main that can be read.")
        return head.sha

    def _provision(self, base: str) -> Payload:
        self.place = planned(self.bench.context, self.run, base)
        self._advance(Phase.PROVISIONING, branch=self.place.branch, base=base)
        worktree.create(self.bench.git, self.place)
        self.bench.log.info(events.RUN_RESERVED, run=self.run.id, base=base)
        (self.folder / "out").mkdir(parents=True, exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)
        return prepare(self.bench.context, self.bench.state, self.run, self.place)

    def _child(self, payload: Payload) -> Ended:
        watch, clock = self.bench.watch, self.bench.context.ambient.clock
        last = clock.monotonic()

        def started() -> None:
            self._advance(Phase.RUNNING, started_at=self.bench.context.ambient.now())
            self.bench.log.info(events.RUN_STARTED, run=self.run.id, engine=payload.engine)

        def heartbeat() -> None:
            nonlocal last
            if self.phase is Phase.RUNNING and clock.monotonic() - last > _HEARTBEAT:
                last = clock.monotonic()
                now = self.bench.context.ambient.now()
                reservations.note(
                    self.bench.state,
                    self.run.id,
                    self.bench.who.token,
                    self.phase,
                    heartbeat_at=now,
                )

        context = self.bench.context
        plain = environment(self.folder, self._worktree.path, payload.agent_id, self.run.id)
        environ = plain | credentials(
            payload.engine, context.settings, context.environ, self._worktree.path
        )
        confined = self._confined(payload, environ)
        ended = run_child(
            [*confined, *self.bench.child],
            self.folder,
            environ,
            clock,
            context.settings.number("run.timeout_minutes") * 60,
            Listening(started, watch.progress, heartbeat, watch.stop),
        )
        if ended.how == "stopped":
            raise _Settled(
                Settlement(Outcome.CANCELLED, Reason.INTERRUPTED, "Stopped before its end.")
            )
        if confined and self.phase is Phase.PROVISIONING:
            self._sandbox_started()
        return ended

    def _confined(self, payload: Payload, environ: Mapping[str, str]) -> list[str]:
        """Return the words that confine the child, none if it needs no sandbox or there is none.

        A child that runs an agent CLI commits what that left, so it stays outside and confines it.
        """
        context = self.bench.context
        if not sandbox_probe.wanted(context, payload.engine):
            return []
        found = sandbox_probe.probed(context)
        if not found.works:
            if context.settings.text("sandbox") == "required":
                raise _Settled(failed(Reason.SANDBOX_UNAVAILABLE, f"No sandbox: {found.detail}."))
            self.bench.log.warning(events.RUN_UNCONFINED, run=self.run.id, why=found.detail)
            return []
        repo = context.agent.repo
        work = sandbox.Work(context.home.path, self.folder, self._worktree.path, repo)
        sandbox.make_places(work)
        reservations.note(
            self.bench.state, self.run.id, self.bench.who.token, self.phase, sandboxed=1
        )
        if payload.engine == "command" and payload.route is not None:
            confine(self.folder, found, work, payload.route, environ)
            return []
        profile = sandbox.engine_profile(sandbox.host_mounts(), work, environ, network=True)
        return sandbox.arguments(found.program, profile, found.options)

    def _sandbox_started(self) -> None:
        """Settle the run if it was the sandbox that did not start, and have it tried again."""
        said = last_words(self.folder)
        if said.startswith("bwrap: "):
            sandbox_probe.forget(self.bench.context)
            raise _Settled(failed(Reason.SANDBOX_UNAVAILABLE, said))

    def _tip(self) -> str:
        found = worktree.inspect(self.bench.context.agent.repo, self._worktree)
        if isinstance(found, Missing):
            kept = self.keep("backup", found.tip)
            raise _Settled(failed(Reason.MISSING_WORKTREE, found.detail, kept_ref=kept))
        if found.tip is None:
            raise _Settled(failed(Reason.VALIDATION, "The reserved branch is gone."))
        return found.tip

    def _unaltered(self, before: Administration, base: str, tip: str) -> None:
        repo, after = self.bench.context.agent.repo, self._administration()
        refs = altered.of_others(self.bench.state, self.run.id, before, after)
        fair = altered.moved_fairly(repo, before, after, base, tip)
        allowed = administration.Allowed(self._worktree.branch, refs, main_moved=fair)
        if names := administration.compare(before, after, allowed):
            detail = "Altered during the run: " + ", ".join(names)
            raise _Settled(failed(Reason.GIT_ADMIN_ALTERED, detail))

    def _administration(self) -> Administration:
        place = self._worktree
        return administration.take(self.bench.context.agent.repo, place.path, place.git_dir)

    def _finish(self, ended: Ended, tip: str, base: str) -> dict[str, Any]:
        """Return what the child said at its end, or settle the run that has no such word."""
        try:
            return self._said(ended)
        except _Settled as early:
            kept = self.keep("backup", tip) if tip != base else None
            raise _Settled(replace(early.end, tip=tip, kept_ref=kept)) from None

    def _said(self, ended: Ended) -> dict[str, Any]:
        if ended.how == "deadline":
            minutes = self.bench.context.settings.number("run.timeout_minutes")
            detail = f"Stopped after {minutes} minutes."
            raise _Settled(Settlement(Outcome.TIMED_OUT, Reason.DEADLINE_EXCEEDED, detail))
        result = read_result(self.folder)
        if result is None:
            reason = Reason.CHILD_EXIT if ended.code else Reason.NO_RESULT
            detail = f"The child ended with code {ended.code}: {last_words(self.folder)}"
            raise _Settled(failed(reason, detail))
        finish: dict[str, Any] = result["finish"]
        self.usage = finish["usage"]
        if finish["kind"] == "failed":
            reason = Reason(finish["reason"] or Reason.ENGINE_ERROR)
            if reason is Reason.SANDBOX_UNAVAILABLE:
                sandbox_probe.forget(self.bench.context)
            raise _Settled(failed(reason, finish["detail"]))
        return finish

    def _decide(self, verdict: Verdict, finish: dict[str, Any], work: Validated) -> Settlement:
        findings = tuple(each.as_json() for each in verdict.findings)
        detail = _sentences(findings)
        match verdict.outcome:
            case "failed":
                end = failed(Reason.VALIDATION, detail)
            case "dirty_uncommitted":
                end = Settlement(Outcome.DIRTY_UNCOMMITTED, detail=detail)
            case "no_changes" if finish["refusals"]:
                end = failed(Reason.ENGINE_ERROR, f"{finish['refusals']} writes were refused.")
            case _ if self.run.request.dry_run:
                end = Settlement(Outcome.DRY_RUN)
            case "no_changes":
                end = Settlement(Outcome.NO_CHANGES)
            case "awaiting_review":
                end = self._waits("; ".join(reasons(findings)), work.tip)
            case "accept":
                end = self._accepted(work)
            case _:
                assert_never(verdict.outcome)
        return replace(end, findings=findings, tip=work.tip)

    def _accepted(self, work: Validated) -> Settlement:
        if self._asked_for_review():
            return self._waits(BY_SETTING, work.tip)
        self._advance(Phase.INTEGRATING)
        return surely(self.bench, work, lambda: integrate(self.bench, work))

    def _waits(self, why: str, tip: str) -> Settlement:
        kept = self.keep("review", tip)
        return Settlement(Outcome.AWAITING_REVIEW, detail=redact(why).text[:512], kept_ref=kept)

    def _asked_for_review(self) -> bool:
        """Tell whether a person approves this run: by the settings now, or as it was begun."""
        if self.bench.context.settings.text("merge") == "review":
            return True
        try:
            return payloads.read(self.folder / "payload.json").review
        except (OSError, ValueError, KeyError, TypeError):
            return True  # nobody knows what was asked for: a person looks

    # What every phase uses

    @property
    def _worktree(self) -> Worktree:
        if self.place is None:
            raise StateError(f"Run {self.run.id} has no worktree yet.")
        return self.place

    def _advance(self, then: Phase, **values: str | int | None) -> None:
        token = self.bench.who.token
        reservations.advance(self.bench.state, self.run.id, token, self.phase, then, **values)
        self.phase = then

    def keep(self, kind: str, tip: str | None) -> str | None:
        return keep(self.bench, self.run.id, kind, tip)

    def settle(self, end: Settlement) -> Run:
        return settle(self.bench, self.run, replace(end, usage=self.usage), self.place)


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the child's result, None when there is no whole one."""
    path = folder / "out" / "result.json"
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST_RESULT:
            return None
        result: dict[str, Any] = json.loads(path.read_bytes())
        result["finish"]["usage"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return result


def last_words(folder: Path) -> str:
    """Return the end of the child's log on one line."""
    try:
        text = (folder / "child.log").read_bytes()[-2000:].decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(text.split())[-400:]


def _sentences(findings: Sequence[Mapping[str, str | int]]) -> str:
    errors = [each for each in findings if each["severity"] == "error"]
    return together([f"{each['path']}:{each['line']} {each['message']}" for each in errors])
