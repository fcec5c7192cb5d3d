"""What a run's engine is given: payload and prompt, written into the run's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reflector.agent.abilities import ABILITIES
from reflector.agent.engine import PayloadConversation, Route
from reflector.agent.presets import TRANSCRIPT
from reflector.core.run import Run
from reflector.pipelines.contexts import PromptContext, PromptConversation
from reflector.pipelines.off_record import recorded
from reflector.runtime.decisions import preparing
from reflector.runtime.decisions.names import PIPELINE
from reflector.runtime.experiences.names import PIPELINE as EXPERIENCES
from reflector.runtime.experiences.promoting import offered
from reflector.runtime.given import given
from reflector.runtime.judgement import system_limit
from reflector.runtime.opening import opening
from reflector.runtime.payload import Payload, conversation, user_entries
from reflector.runtime.routing import route
from reflector.runtime.wiring import Context
from reflector.runtime.words import open_words
from reflector.store import journal
from reflector.store.state import State
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Worktree

_REFLECTION = "reflection"


def prepare(context: Context, state: State, run: Run, place: Worktree) -> Payload:
    """Write `payload.json` and `prompt.md` of a run and return the payload."""
    if run.request.pipeline == PIPELINE:
        return preparing.prepare(context, state, run, place)
    if run.request.pipeline == EXPERIENCES:
        from reflector.runtime.experiences.preparing import (  # noqa: PLC0415 - others need none of it
            prepare as prepare_segment,
        )

        return prepare_segment(context, state, run, place)
    payload = assemble(context, state, run, place)
    folder = context.agent.run(run.id)
    payload.write(folder / "payload.json")
    (folder / "prompt.md").write_text(_prompt(context, run, payload), "utf-8")
    if payload.route is not None:
        with Reads(context.agent.repo) as reads:
            tree = reads.tree(place.base)
            ripe = offered(state, tree) if payload.pipeline == _REFLECTION else ()
            first = opening(tree, payload.conversations, _transcript(payload), ripe)
        (folder / "opening.md").write_bytes(first.encode("utf-8", "replace"))
    return payload


def _transcript(payload: Payload) -> str:
    """Return the file in which an agent CLI finds the conversations; "" for any other engine."""
    return TRANSCRIPT if payload.engine == "command" else ""


def _calls_model(engine: str) -> bool:
    known = ABILITIES.get(engine)
    return known is not None and known.calls_model


def _route(context: Context, run: Run) -> Route | None:
    if not _calls_model(run.request.engine):
        return None
    request = run.request
    return route(context.settings, context.environ, request.model, request.engine)


def assemble(context: Context, state: State, run: Run, place: Worktree) -> Payload:
    """Collect what a run reads; ids and texts of exactly its snapshots."""
    limit = context.settings.number("snapshot.max_bytes")
    parts: list[PayloadConversation] = []
    user: list[str] = []
    for taken in run.snapshots:
        entries = recorded(journal.entries(state.connection, taken))
        known = journal.conversation(state.connection, taken.conversation)
        title, cwd = (known.title, known.cwd) if known else ("", "")
        parts.append(conversation(taken, entries, title=title, cwd=cwd, max_bytes=limit))
        user += user_entries(entries)
    return replace(
        given(context, state, run, place),
        user_entries=tuple(user),
        conversations=tuple(parts),
        system_tokens=system_limit(context.settings),
        route=_route(context, run),
    )


def _prompt(context: Context, run: Run, payload: Payload) -> str:
    return open_words().prompt(
        payload.pipeline,
        PromptContext(
            run_id=run.id,
            agent_id=payload.agent_id,
            memory_dir=payload.worktree,
            transcript_path=str(
                Path(payload.worktree) / TRANSCRIPT
                if _transcript(payload)
                else context.agent.run(run.id) / "payload.json"
            ),
            today=payload.today,
            focus=payload.focus,
            conversations=[
                PromptConversation(
                    id=part.id,
                    title=part.title,
                    cwd=part.cwd,
                    entries=taken.entries,
                    size=taken.size,
                    backlog_remaining=taken.backlog_remaining,
                )
                for part, taken in zip(payload.conversations, run.snapshots, strict=True)
            ],
            unwanted=payload.unwanted,
            target=payload.target,
        ),
    )
