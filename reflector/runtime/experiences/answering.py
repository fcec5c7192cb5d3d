"""The calls of one extraction: which scene it is, what it teaches, and what is known of that already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reflector.agent.engine import Task, Usage
from reflector.agent.forced import Ask, Forced, Given, Tool
from reflector.agent.wire import ProviderError, Wire
from reflector.core.ambient import Ambient
from reflector.core.experience import Extraction, Scene
from reflector.pipelines.experiences import calls, parsing, reconciling, scene
from reflector.pipelines.experiences.drafts import Draft
from reflector.pipelines.experiences.language import chinese
from reflector.pipelines.experiences.reconciling import Decided, Offered
from reflector.runtime.experiences import words
from reflector.runtime.experiences.brief import Segment

SCENE_VIEW_TOKENS = 4000
_CUT = (
    "Your answer was cut at its limit, so nothing of it was taken. Say less, and all of it again."
)
_NONE = "That was no answer: give `experiences` and `fact`, empty where there is nothing."
_NO_ANSWER = frozenset({"limits", "empty", "refusal"})
"""Reasons for which a model gave no answer that can be read, though it was there."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was extracted, with the call that gave it."""

    extraction: Extraction
    given: Given


@dataclass(slots=True)
class Calls:
    """The calls of one run, over one connection. `usage` is what all of them used, errors too."""

    task: Task
    segment: Segment
    ambient: Ambient
    wire: Wire
    usage: Usage = field(default_factory=Usage)

    def scene(self) -> Scene:
        """Return which scene the segment is; a model is asked only when nothing is set.

        A call that fails loses no segment: what the tools did decides then.
        """
        setting, rows = self.segment.scene, self.segment.rows
        if scene.known(setting) is not None:
            return scene.chosen(setting, None, rows)
        text = words.segment_message(rows, (), SCENE_VIEW_TOKENS)
        tool = Tool(calls.SCENE, calls.SCENE_SAYS, calls.SCENE_SCHEMA)
        ask = self._ask("scene", self.task.prompt, text, tool)
        try:
            given = self._once(ask)
        except ProviderError:
            return scene.fallback(rows)
        found = scene.chosen(setting, given.arguments, rows)
        self.tell(given, {f"scene.{found}": 1})
        return found

    def extraction(self, kind: Scene) -> Answered:
        """Return what the segment teaches. An answer that cannot be read is handed back once.

        Raises ProviderError, also for a second answer that cannot be read.
        """
        segment = self.segment
        rules = words.extraction_rules(
            kind,
            chinese=chinese(segment.rows),
            project_known=bool(segment.project),
            branch_known=bool(segment.branch),
        )
        tool = Tool(calls.EXTRACT, calls.EXTRACT_SAYS, calls.EXTRACT_SCHEMA)
        ask = self._ask("extract", rules, self.task.opening, tool)
        forced = self._forced(ask)
        try:
            return self._read_or_again(ask, forced)
        finally:
            self._used(forced.usage)

    def _read_or_again(self, ask: Ask, forced: Forced) -> Answered:
        try:
            given = forced.ask()
        except ProviderError as error:
            if error.reason not in ("limits", "empty"):
                raise
            fault = _CUT if error.reason == "limits" else _NONE
            return self._read(self._once(replace(ask, text=f"{ask.text}\n\n{fault}")))
        fault = _fault(given)
        if not fault:
            return self._read(given)
        self.tell(given, {"unreadable": 1})
        return self._read(forced.again(fault))

    def _read(self, given: Given) -> Answered:
        if _fault(given):
            self.tell(given, {"unreadable": 1})
            reason = "limits" if given.cut else "empty"
            raise ProviderError(reason, "The model's answer could not be read, twice.")
        return Answered(parsing.read(given.arguments), given)

    def decided(self, drafts: Sequence[Draft], offered: Offered) -> Decided:
        """Return what becomes of each draft. Where no answer can be read, all are new."""
        if not reconciling.needs_call(drafts, offered):
            return reconciling.decide(drafts, offered, None)
        text = words.reconcile_message(drafts, offered)
        tool = Tool(reconciling.TOOL, reconciling.SAYS, reconciling.SCHEMA)
        ask = self._ask("reconcile", words.reconcile_rules(), text, tool)
        try:
            given = self._once(ask)
        except ProviderError as error:
            if error.reason not in _NO_ANSWER:
                raise
            return reconciling.decide(drafts, offered, None)
        found = reconciling.decide(drafts, offered, given.arguments)
        self.tell(given, _counts(found))
        return found

    def tell(self, given: Given, counts: Mapping[str, int]) -> None:
        """Record a call that was answered, with what came of it."""
        if self.task.record is not None:
            self.task.record(replace(given.step, counts=counts))

    def _forced(self, ask: Ask) -> Forced:
        return Forced(ask, self.task.route, self.ambient, self.task.record, self.wire)

    def _once(self, ask: Ask) -> Given:
        forced = self._forced(ask)
        try:
            return forced.ask()
        finally:
            self._used(forced.usage)

    def _ask(self, step: str, system: str, text: str, tool: Tool) -> Ask:
        return Ask(
            step=f"experiences.{step}",
            system=system,
            text=text,
            tool=tool,
            effort="medium" if step == "extract" else "low",
            most_output_tokens=calls.EXTRACT_TOKENS,
            conversation=self.segment.conversation,
        )

    def _used(self, more: Usage) -> None:
        before = self.usage
        known = before.cost_usd is not None and more.cost_usd is not None
        self.usage = Usage(
            before.input_tokens + more.input_tokens,
            before.output_tokens + more.output_tokens,
            before.cached_tokens + more.cached_tokens,
            (before.cost_usd or 0) + (more.cost_usd or 0) if known else None,
        )


def _fault(given: Given) -> str:
    """Return what is wrong with an answer as a whole, "" when it can be read."""
    if given.cut:
        return _CUT
    return "" if parsing.readable(given.arguments) else _NONE


def _counts(found: Decided) -> dict[str, int]:
    counts: dict[str, Any] = {}
    for choice in found.choices:
        counts[choice.action.value] = counts.get(choice.action.value, 0) + 1
        if choice.instead:
            name = f"refused.{choice.instead.replace(' ', '_')}"
            counts[name] = counts.get(name, 0) + 1
    return counts
