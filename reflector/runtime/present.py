"""The public forms of what the ledger and the journal hold: keys are never renamed."""

from __future__ import annotations

from typing import Any

from reflector.core.ambient import instant
from reflector.core.run import Run
from reflector.store.journal import Conversation

_NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "cost_usd": 0.0}


def run_json(run: Run) -> dict[str, Any]:
    """Return RUN, the machine form of one run."""
    request, end = run.request, run.settlement
    return {
        "id": run.id,
        "slot": run.slot,
        "repository": run.repository,
        "pipeline": request.pipeline,
        "trigger": request.trigger,
        "origin": request.origin,
        "outcome": end.outcome.value if end else None,
        "reason": end.reason.value if end and end.reason else None,
        "detail": end.detail if end else "",
        "engine": request.engine,
        "model": request.model,
        "phase": run.phase.value,
        "reserved_at": run.reserved_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "duration_ms": duration_ms(run),
        "branch": run.branch,
        "base": run.base,
        "tip": run.tip,
        "merge_commit": run.merge_commit if end and end.merge_commit else None,
        "snapshots": [each.as_json() for each in run.snapshots],
        "findings": list(end.findings) if end else [],
        "usage": {**_NO_USAGE, **(end.usage if end else {})},
        "sandboxed": run.sandboxed,
    }


def duration_ms(run: Run) -> int | None:
    """Return how long a run took from its reservation to its end, in milliseconds."""
    if run.ended_at is None:
        return None
    return round((instant(run.ended_at) - instant(run.reserved_at)).total_seconds() * 1000)


def conversation_json(each: Conversation) -> dict[str, Any]:
    """Return the machine form of one conversation."""
    return {
        "id": each.key,
        "harness": each.harness,
        "title": each.title,
        "steps": each.total_steps,
        "steps_since_reflection": each.steps_since_reflection,
        "unreflected_bytes": each.unreflected_bytes,
        "pending_compaction": each.pending_compaction is not None,
        "next_eligible_at": each.next_eligible_at,
    }
