"""What a model is told about experiences and facts, rendered."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.experience import Scene
from reflector.core.redact import redact
from reflector.pipelines.experiences.contexts import (
    DraftsContext,
    ExperienceRulesContext,
    PromptDraft,
    PromptItem,
    SegmentContext,
)
from reflector.pipelines.experiences.drafts import Draft
from reflector.pipelines.experiences.reconciling import Offered
from reflector.pipelines.experiences.rows import Row
from reflector.pipelines.experiences.scene import facts_only
from reflector.pipelines.experiences.views import context, view
from reflector.runtime.words import open_words

_ALWAYS = ExperienceRulesContext(project_known=True, branch_known=True)


def scene_rules() -> str:
    """Return what comes before the question which scene a segment is, always the same."""
    return open_words().experience_rules("scene", _ALWAYS)


def extraction_rules(
    scene: Scene, *, chinese: bool, project_known: bool, branch_known: bool
) -> str:
    """Return what comes before an extraction; one of two scenes in one of two languages."""
    context = ExperienceRulesContext(project_known, branch_known)
    if scene is Scene.CODING:
        return open_words().experience_rules("coding-zh" if chinese else "coding", context)
    return open_words().experience_rules("working-zh" if chinese else "working", context)


def segment_message(rows: Sequence[Row], before: Sequence[Row], budget_tokens: int) -> str:
    """Return a segment and the last turns of what was before it, as much of them as fits."""
    shown = view(rows, context(before), budget_tokens)
    return open_words().segment(
        SegmentContext(
            # Old rows may predate a rule of the redactor.
            segment=redact(shown.text).text.rstrip("\n"),
            earlier=redact(shown.context).text.rstrip("\n"),
            left_out=shown.left_out.says(),
            without_tools=facts_only(rows),
        )
    )


def reconcile_rules() -> str:
    """Return what comes before every reconciliation, always the same."""
    return open_words().experience_rules("reconcile", _ALWAYS)


def reconcile_message(drafts: Sequence[Draft], offered: Offered) -> str:
    """Return the drafts, each with what the memory holds of the like."""
    return open_words().drafts(DraftsContext([_shown(one, offered) for one in drafts]))


def _shown(one: Draft, offered: Offered) -> PromptDraft:
    items = [
        PromptItem(each.id, redact(each.title).text, redact(each.text).text, each.verified)
        for each in offered.get(one.key, ())
    ]
    return PromptDraft(one.key, one.layer, one.title, one.text, one.verified, items)
