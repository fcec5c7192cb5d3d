"""One small request that must be answered with one tool call: asked, counted, told to the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from anthropic.types import Message, ToolUseBlock

from reflector.agent.engine import Record, Route, Step, Usage
from reflector.agent.prices import Tokens, add
from reflector.agent.recorded import used
from reflector.agent.talk import Block, Talk, result
from reflector.agent.wire import ProviderError, Wire
from reflector.core.ambient import Ambient

Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Tool:
    """The only tool. `schema` is a JSON schema of an object."""

    name: str
    says: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked. `step` names it in the records, `conversation` whose words it is about."""

    step: str
    system: str
    text: str
    tool: Tool
    effort: Effort
    most_output_tokens: int
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """What the model gave to the tool.

    `cut` says that the reply hit its limit: then every list lacks its last item, of which nobody
    knows whether it was whole. `step` is the record of the call, for whoever knows the counts.
    """

    arguments: Mapping[str, Any]
    cut: bool
    step: Step


def wire_for(route: Route, most_output_tokens: int, ambient: Ambient) -> Wire:
    """Return the way to the model for answers of at most so many tokens; it is to be closed."""
    return Wire(replace(route, most_output_tokens=most_output_tokens), ambient)


class Forced:
    """One request, and more of the same talk when an answer is handed back.

    `usage` holds what all of it used, also after an error.
    """

    def __init__(
        self,
        ask: Ask,
        route: Route,
        ambient: Ambient,
        record: Record | None = None,
        wire: Wire | None = None,
    ) -> None:
        """Prepare the talk; nothing is sent. `record` is told every call that gave nothing.

        `wire` is one made by `wire_for` for the same route and limit, to be used for many calls.
        """
        self.usage = Usage()
        self._ask = ask
        self._clock = ambient.clock
        self._record = record
        self._owns = wire is None
        self._wire = wire or wire_for(route, ask.most_output_tokens, ambient)
        self._models = [route.model, *route.fallback]
        self._effort: Effort | None = ask.effort
        tool = {
            "name": ask.tool.name,
            "description": ask.tool.says,
            "input_schema": ask.tool.schema,
        }
        self._talk = Talk(ask.system, [tool])
        self._talk.say(ask.text)
        self._call = ""

    def close(self) -> None:
        """End its connections, unless they are somebody else's."""
        if self._owns:
            self._wire.close()

    def ask(self) -> Given:
        """Send what was said so far. Raises ProviderError, also for an answer that is none."""
        while True:
            model, (message, step) = self._models[0], self._asked()
            self.usage = add(self.usage, model, used(message))
            if message.stop_reason != "refusal":
                return self._given(message, step)
            self._tell(replace(step, error="refusal"))
            if len(self._models) == 1:
                raise ProviderError("refusal", f"{model} refused to work on this.")
            del self._models[0]

    def again(self, fault: str) -> Given:
        """Hand the last answer back with what is wrong with it, and ask once more."""
        self._talk.answer([result(self._call, fault, error=True)])
        return self.ask()

    def _asked(self) -> tuple[Message, Step]:
        """Ask the first model that answers; one that is overloaded or not there makes room."""
        while True:
            try:
                return self._with_or_without_effort()
            except ProviderError as error:
                elsewhere = error.reason in ("model_not_found", "overloaded")
                if not elsewhere or len(self._models) == 1:
                    raise
                del self._models[0]

    def _with_or_without_effort(self) -> tuple[Message, Step]:
        try:
            return self._sent()
        except ProviderError as error:
            # Servers that speak the same language need not know every word of it.
            if error.reason != "engine_error" or self._effort is None:
                raise
            self._effort = None
            return self._sent()

    def _sent(self) -> tuple[Message, Step]:
        request: Block = self._talk.request()
        if len(self._talk.messages) == 1:
            # Seldom asked again: what is only written into the cache costs a quarter more.
            request["messages"] = list(self._talk.messages)
        request["tool_choice"] = {"type": "tool", "name": self._ask.tool.name}
        if self._effort is not None:
            request["output_config"] = {"effort": self._effort}
        model, began = self._models[0], self._clock.monotonic()
        try:
            message = self._wire.ask(model, request)
        except ProviderError as error:
            failed = self._step(model, began)
            self._tell(replace(failed, error=error.reason, detail=error.message))
            raise
        return message, replace(
            self._step(model, began),
            tokens=asdict(used(message)),
            tools=[block.name for block in message.content if block.type == "tool_use"],
            answered=[each.model_dump(mode="json", exclude_none=True) for each in message.content],
        )

    def _step(self, model: str, began: float) -> Step:
        return Step(
            self._ask.step,
            model,
            round((self._clock.monotonic() - began) * 1000),
            asdict(Tokens()),
            asked=self._talk.messages[-1],
            conversation=self._ask.conversation,
        )

    def _tell(self, step: Step) -> None:
        if self._record is not None:
            self._record(step)

    def _given(self, message: Message, step: Step) -> Given:
        """Take the call out of an answer, or say in the closed vocabulary why there is none."""
        call = _call_of(message, self._ask.tool.name)
        cut = message.stop_reason == "max_tokens"
        arguments = call.input if call is not None and isinstance(call.input, dict) else {}
        if cut:
            arguments = whole_items(arguments)
        if fault := _fault(message, call, arguments, cut=cut):
            self._tell(replace(step, error=fault.reason, detail=fault.message))
            raise fault
        if call is not None:
            self._call = call.id
            self._talk.heard([call.model_dump(mode="json", exclude_none=True)])
        return Given(arguments, cut, step)


def whole_items(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lists of a call that was cut, without their last items; all else may be torn."""
    lists = {name: each[:-1] for name, each in arguments.items() if isinstance(each, list)}
    return {name: each for name, each in lists.items() if each}


def _call_of(message: Message, tool: str) -> ToolUseBlock | None:
    for block in message.content:
        if isinstance(block, ToolUseBlock) and block.name == tool:
            return block
    return None


def _fault(
    message: Message, call: ToolUseBlock | None, arguments: Mapping[str, Any], *, cut: bool
) -> ProviderError | None:
    if message.stop_reason == "model_context_window_exceeded":
        return ProviderError("context_overflow", "The request filled the model's window.")
    if cut and not arguments:
        return ProviderError("limits", "The answer was cut before anything in it was whole.")
    if call is None or not isinstance(call.input, dict):
        return ProviderError("empty", "The model answered without the call that was asked for.")
    return None
