"""What a model is told about project decisions, rendered."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.decision import FILES, Recorded
from reflector.core.redact import redact
from reflector.pipelines.contexts import Named
from reflector.pipelines.decisions.bullets import MOST_CHARS, MOST_LINES, BankFiles
from reflector.pipelines.decisions.contexts import (
    DecisionRulesContext,
    EnvelopeContext,
    PromptDelta,
    QueueContext,
)
from reflector.pipelines.decisions.envelope import Envelope
from reflector.runtime.words import open_words

_RULES = DecisionRulesContext(MOST_LINES, MOST_CHARS)


def extraction_rules() -> str:
    """Return what comes before every extraction, always the same."""
    return open_words().decision_rules("extract", _RULES)


def message(found: Envelope) -> str:
    """Return one message of a person and its referents."""
    return open_words().decision_message(
        EnvelopeContext(found.prompt, found.previous_human, found.assistant_context)
    )


def consolidation_rules() -> str:
    """Return what comes before every consolidation, always the same."""
    return open_words().decision_rules("consolidate", _RULES)


def queue(
    files: BankFiles, deltas: Sequence[Recorded], digest: Sequence[Named], unwanted: Sequence[str]
) -> str:
    """Return the files of a bank, the deltas that are to go in, and what need not be said."""
    talks: dict[str, list[Recorded]] = {}
    for one in sorted(deltas, key=lambda one: one.id):
        talks.setdefault(one.conversation, []).append(one)
    return open_words().decision_queue(
        QueueContext(
            # Old text may predate a rule of the redactor.
            files=[Named(file, redact(files.body(file)).text) for file in FILES],
            conversations=[[_shown(one) for one in talk] for talk in talks.values()],
            digest=digest,
            unwanted=unwanted,
        )
    )


def _shown(one: Recorded) -> PromptDelta:
    delta = one.delta
    return PromptDelta(
        id=one.id,
        kind=delta.kind.value,
        statement=delta.statement,
        evidence=delta.evidence,
        friction=[name for name, is_set in delta.friction.as_json().items() if is_set],
        rejected_alternative=delta.rejected_alternative,
        rationale=delta.rationale,
    )
