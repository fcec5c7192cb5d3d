"""The engine that asks a server of the Messages API: a loop of requests and confined tool calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from anthropic.types import Message

from reflector.agent.engine import Commit, Finish, Route, Task, Usage
from reflector.agent.folder import Folder
from reflector.agent.prices import add
from reflector.agent.recorded import Asks, Recorded, used
from reflector.agent.talk import Block, Talk, result
from reflector.agent.toolbox import Answer, Toolbox
from reflector.agent.transcript import render
from reflector.agent.wire import ProviderError, Wire
from reflector.core.ambient import Ambient

_NUDGES = 2
_SAME_CALLS = 4
_BAD_CALLS = 8
_CUT = "Not executed: your message was cut at its limit. Do it in smaller steps."
_NUDGE = "End the run with the tool `finish`, or go on working with your tools."


class AnthropicEngine:
    """Reflects by a model. Whatever the model does, the run has one named end."""

    name = "anthropic"

    def __init__(self, ambient: Ambient) -> None:
        """Take time and chance for the waits between tries."""
        self._ambient = ambient

    def run(self, task: Task, commit: Commit, progress: Callable[[str], None]) -> Finish:
        """Do the task. `progress` takes one short line at a time, never transcript text."""
        box = Toolbox(Folder(task.worktree), render(task.conversations), commit)
        talk = Talk(task.prompt, box.definitions())
        talk.say(task.opening)
        with closing(Wire(task.route, self._ambient)) as wire:
            asks: Asks = wire
            if task.record is not None:
                asks = Recorded(wire, task.pipeline, task.record, self._ambient.clock)
            return _Run(task.route, box, talk, asks, progress).to_its_end()


class _EndedError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass
class _Run:
    """One run on its way."""

    route: Route
    box: Toolbox
    talk: Talk
    wire: Asks
    progress: Callable[[str], None]
    usage: Usage = field(default_factory=Usage)
    tokens: int = 0
    turns: int = 0
    nudges: int = 0
    bad_calls: int = 0
    calls: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    def to_its_end(self) -> Finish:
        self.models = [self.route.model, *self.route.fallback]
        try:
            while self.box.report is None:
                self._turn()
        except _EndedError as end:
            return self._finish("failed", reason=end.reason, detail=str(end))
        except ProviderError as error:
            return self._finish("failed", reason=error.reason, detail=error.message)
        return self._finish("committed" if self.box.committed else "nothing_to_record")

    def _finish(self, kind: Any, **why: str) -> Finish:
        report = self.box.report or ""
        return Finish(kind, report, usage=self.usage, refusals=self.box.denied, **why)

    def _turn(self) -> None:
        self._within_limits()
        message = self._asked()
        self.turns += 1
        self.progress(f"turn {self.turns}: {self.tokens} tokens")
        content = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
        if message.stop_reason == "model_context_window_exceeded":
            raise _EndedError("context_overflow", "The conversation filled the model's window.")
        if content:
            self.talk.heard(content)
        calls = [block for block in content if block["type"] == "tool_use"]
        if message.stop_reason == "pause_turn":
            return
        if calls:
            self._answer(calls, cut=message.stop_reason == "max_tokens")
        else:
            self._nudge(content)

    def _within_limits(self) -> None:
        cost, route = self.usage.cost_usd, self.route
        for over, what in (
            (self.turns >= route.most_turns, f"{route.most_turns} turns"),
            (self.tokens >= route.most_tokens, f"{route.most_tokens} tokens"),
            (cost is not None and cost >= route.most_cost_usd, f"{route.most_cost_usd} dollars"),
        ):
            if over:
                raise _EndedError("limits", f"The run reached its limit of {what}.")

    def _asked(self) -> Message:
        """Ask the first model that answers; one that refuses or is not there makes room."""
        while True:
            model = self.models[0]
            try:
                message = self.wire.ask(model, self.talk.request())
            except ProviderError as error:
                if error.reason not in ("model_not_found", "overloaded") or not self._next_model():
                    raise
                continue
            self._count(model, message)
            if message.stop_reason != "refusal":
                return message
            if not self._next_model():
                raise _EndedError("refusal", f"{model} refused to work on this.")

    def _next_model(self) -> bool:
        """Go on with the next model in order, for good."""
        if len(self.models) == 1:
            return False
        del self.models[0]
        self.progress("going on with a fallback model")
        return True

    def _count(self, model: str, message: Message) -> None:
        tokens = used(message)
        self.tokens += tokens.all
        self.usage = add(self.usage, model, tokens)

    def _answer(self, calls: Sequence[Block], *, cut: bool) -> None:
        """Answer every call; of a message that was cut nothing is executed."""
        results = []
        for call in calls:
            answer = Answer(_CUT, error=True) if cut else self._called(call)
            results.append(result(call["id"], answer.text, error=answer.error))
        self.talk.answer(results)

    def _called(self, call: Block) -> Answer:
        if self.box.report is not None:
            return Answer("The run has ended.", error=True)
        self._not_stuck(call)
        answer = self.box.call(call["name"], call["input"])
        self.bad_calls = self.bad_calls + 1 if answer.error else 0
        if self.bad_calls >= _BAD_CALLS:
            raise _EndedError("stuck", f"{_BAD_CALLS} calls in a row failed: {answer.text[:200]}")
        return answer

    def _not_stuck(self, call: Block) -> None:
        self.calls.append(json.dumps([call["name"], call["input"]], sort_keys=True))
        last = self.calls[-_SAME_CALLS:]
        if len(last) == _SAME_CALLS and len(set(last)) == 1:
            raise _EndedError("stuck", f"The same call of {call['name']} {_SAME_CALLS} times.")

    def _nudge(self, content: Sequence[Block]) -> None:
        """Ask for an end once; an answer without any word is its own end."""
        said = any(block.get("text", "").strip() for block in content)
        self.nudges += 1
        if self.nudges >= _NUDGES:
            reason = "stuck" if said else "empty"
            raise _EndedError(reason, "The model stopped without ending the run.")
        if not content:  # an empty message cannot be repeated to the server
            self.talk.heard([{"type": "text", "text": "(nothing)"}])
        self.talk.say(_NUDGE)
