"""Health at a glance: what is there, what waits, what is wrong, without a git library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflector.core.errors import PausesError
from reflector.core.park import ParkState
from reflector.core.run import Run
from reflector.memory.budget import estimate_tokens
from reflector.runtime import pauses, push
from reflector.runtime.decisions import outlook as decisions
from reflector.runtime.diary import outlook as diary
from reflector.runtime.experiences import outlook as experiences
from reflector.runtime.notices import Notice, notices
from reflector.runtime.parking import park_json
from reflector.runtime.pauses import Pause
from reflector.runtime.plugged import NextSession, Plugged, next_session, plugged, unplugged
from reflector.runtime.present import conversation_json, run_json
from reflector.runtime.problems import Problem, problems, refused
from reflector.runtime.recording import consent, folder_no
from reflector.runtime.sandbox_probe import Outlook, outlook
from reflector.runtime.wiring import Context
from reflector.store import journal, left_out, reservations, scheduling
from reflector.store.journal import Conversation
from reflector.store.state import State
from reflector.vcs.glance import Glance, documents, glance, texts
from reflector.vcs.scrub import Scrubbed

_LAST = 5
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Recording:
    """What a person said no to. `here` is why this folder's conversations are left out, or ""."""

    paused: Pause | None
    unreadable: bool
    excluded: tuple[str, ...]
    headless: bool
    here: str
    left_out: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the machine form."""
        return {
            "recording": self.paused is None and not self.unreadable,
            "paused_since": self.paused.since if self.paused else None,
            "paused_until": (self.paused.until or None) if self.paused else None,
            "excluded": list(self.excluded),
            "headless": self.headless,
            "here": self.here or None,
            "left_out": dict(self.left_out),
        }


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that `status` shows."""

    context: Context
    recording: Recording
    git: Glance
    documents: int
    system_tokens: int
    active: tuple[Run, ...]
    pending: tuple[Run, ...]
    park: ParkState
    last_runs: tuple[Run, ...]
    conversations: tuple[Conversation, ...]
    sandbox: Outlook
    problems: tuple[Problem, ...]
    harnesses: tuple[Plugged, ...]
    next_session: NextSession
    notices: tuple[Notice, ...] = ()
    push: Mapping[str, Any] = field(default_factory=dict)
    last_reflection: Run | None = None
    decisions: Mapping[str, Any] = field(default_factory=dict)
    experiences: Mapping[str, Any] = field(default_factory=dict)
    diary: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the machine form."""
        settings = self.context.settings
        engine = settings.text("engine.name")
        return {
            "identity": self.context.agent.identity,
            "home": str(self.context.home.path),
            "memory": {
                "head": self.git.head,
                "documents": self.documents,
                "system_tokens": self.system_tokens,
                "budget_tokens": settings.number("prompt.budget_tokens"),
                "clean": not self.git.dirty,
                "dirty_paths": [
                    path.encode("utf-8", "replace").decode() for path in self.git.dirty
                ],
            },
            "consent": self.recording.as_json(),
            "active": [run_json(run) for run in self.active],
            "pending": [run_json(run) for run in self.pending],
            "park": park_json(self.park),
            "conversations": [conversation_json(each) for each in self.conversations],
            "last_runs": [run_json(run) for run in self.last_runs],
            "problems": [
                {"code": each.code, "message": each.message, "hint": each.hint}
                for each in self.problems
            ],
            "engine": {"selected": engine, "why": settings.origins["engine.name"]},
            "sandbox": self.sandbox.state,
            "pipelines": [
                self._reflection(),
                dict(self.decisions),
                dict(self.experiences),
                dict(self.diary),
            ],
            "push": dict(self.push),
            "harnesses": [each.as_json() for each in self.harnesses],
            "next_session": self.next_session.as_json(),
            "notices": [
                *({"code": code, "message": sentence} for code, sentence in self.notices),
                *unconfined(self.sandbox),
            ],
        }

    def _reflection(self) -> dict[str, Any]:
        waiting = sum(1 for each in self.conversations if each.unreflected_bytes > 0)
        last = self.last_reflection
        failed = last.settlement.detail if last and last.settlement else ""
        return {
            "name": "reflection",
            "enabled": self.context.settings.flag("reflection.enabled"),
            "queued": sum(1 for run in (*self.active, *self.pending) if run.slot == "reflection"),
            "waiting": waiting,
            "failed": sum(
                1 for run in self.last_runs if run.slot == "reflection" and run.outcome == "failed"
            ),
            "oldest_at": None,
            "next_due_at": None,
            "last_run": last.id if last else None,
            "last_error": failed or None,
        }


def unconfined(found: Outlook) -> list[dict[str, str]]:
    """Return the notice that a model's runs are not confined although they were to be."""
    missing = found.state == "unavailable" and not found.refused
    return [{"code": "not_sandboxed", "message": f"{found.sentence}."}] if missing else []


def status(context: Context) -> Status:
    """Look at an identity without changing anything."""
    context.require()
    scrubbed = Scrubbed(context.environ)
    git = glance(scrubbed, context.agent.repo)
    files = documents(scrubbed, context.agent.repo, git.head)
    system = [path for path in files if path.startswith("system/") and path.endswith(".md")]
    bodies = texts(scrubbed, context.agent.repo, git.head, system)
    with context.state() as state:
        connection = state.connection
        active = tuple(reservations.active(connection))
        sandbox = outlook(context)
        decided = decisions.as_json(context, connection)
        extracted = experiences.as_json(context, connection)
        remembered = diary.as_json(context, connection)
        return Status(
            context=context,
            recording=_recording(context, state),
            git=git,
            documents=sum(path.endswith(".md") for path in files),
            system_tokens=sum(map(estimate_tokens, bodies)),
            active=active,
            pending=tuple(reservations.pending(connection)),
            park=scheduling.park_state(connection, context.settings.text("engine.name")),
            last_runs=tuple(reservations.recent(connection, _LAST)),
            conversations=tuple(journal.backlog(connection, None, ())),
            sandbox=sandbox,
            problems=(
                *problems(context, state, git, active),
                *_refused(context, git, files),
                *refused(sandbox),
                *unplugged(context),
            ),
            notices=(
                *notices(context, state),
                *decisions.notices(context, decided),
                *experiences.notices(context, extracted),
                *diary.notices(context, remembered),
            ),
            push=push.as_json(context, connection),
            last_reflection=reservations.last(connection, "reflection"),
            decisions=decided,
            experiences=extracted,
            diary=remembered,
            harnesses=plugged(context, state),
            next_session=next_session(context, state),
        )


def _refused(context: Context, git: Glance, committed: dict[str, int]) -> list[Problem]:
    """Name the hand edits that cannot be committed, and why."""
    if not git.dirty:
        return []
    # The validator is loaded only where something was edited: `status` is asked often.
    from reflector.runtime.unadopted import unadopted  # noqa: PLC0415

    return [
        Problem(
            "hand_edit_refused",
            f"{each.path}:{each.line}: {each.message} It stays as it is, uncommitted.",
            "Mend the file; `reflector memory commit` takes it in.",
        )
        for each in unadopted(context, git, committed)[:_LISTED]
    ]


def _recording(context: Context, state: State) -> Recording:
    paused, here, unreadable = None, None, False
    try:
        given = consent(context)
    except PausesError:
        unreadable = True
    else:
        paused = pauses.holding(given.pauses, context.ambient.now())
        here = folder_no(given, _working_directory(), context.home.path)
    return Recording(
        paused=paused,
        unreadable=unreadable,
        excluded=context.settings.texts("journal.exclude"),
        headless=context.settings.flag("journal.headless"),
        here=here or "",
        left_out=left_out.counts(state.connection),
    )


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was deleted
        return "/"
