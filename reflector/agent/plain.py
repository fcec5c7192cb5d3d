"""One small request that is answered in plain text, within a time: no tool, no reasoning."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from anthropic.types import Message, TextBlock

from reflector.agent.engine import Record, Route, Step, Usage
from reflector.agent.prices import Tokens, add
from reflector.agent.recorded import used
from reflector.agent.talk import Block
from reflector.agent.wire import ProviderError, Wire
from reflector.core.ambient import Ambient

_NO_REASONING: Block = {"thinking": {"type": "disabled"}}


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked. `step` names it in the records, `seconds` is all the time that it may take."""

    step: str
    system: str
    text: str
    seconds: float
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the model said. `cut` says that it hit the limit; `step` is the record of the call."""

    text: str
    cut: bool
    step: Step


@dataclass(slots=True)
class Plain:
    """Asks in plain text. `usage` holds what it used, also after an error.

    The words of neither side are recorded: they may be somebody's diary.
    """

    ask: Ask
    route: Route
    ambient: Ambient
    wire: Wire
    record: Record | None = None
    usage: Usage = Usage()  # noqa: RUF009 - frozen

    def said(self) -> Said:
        """Ask the first model that answers. Raises ProviderError, also for a reply without text."""
        until = self.ambient.clock.monotonic() + self.ask.seconds
        models = [self.route.model, *self.route.fallback]
        while True:
            try:
                return self._of(models[0], until)
            except ProviderError as error:
                elsewhere = error.reason in ("model_not_found", "overloaded", "refusal")
                if not elsewhere or len(models) == 1:
                    raise
                del models[0]

    def _of(self, model: str, until: float) -> Said:
        began = self.ambient.clock.monotonic()
        try:
            message = self._sent(model, until)
        except ProviderError as error:
            self._tell(replace(self._step(model, began), error=error.reason, detail=error.message))
            raise
        self.usage = add(self.usage, model, used(message))
        step = replace(self._step(model, began), tokens=asdict(used(message)))
        text = "".join(each.text for each in message.content if isinstance(each, TextBlock))
        if fault := _fault(message, text):
            self._tell(replace(step, error=fault.reason, detail=fault.message))
            raise fault
        return Said(text, message.stop_reason == "max_tokens", step)

    def _sent(self, model: str, until: float) -> Message:
        request: Block = {
            "messages": [{"role": "user", "content": [{"type": "text", "text": self.ask.text}]}]
        }
        if self.ask.system:
            request["system"] = [{"type": "text", "text": self.ask.system}]
        try:
            return self.wire.ask(model, request | _NO_REASONING, until)
        except ProviderError as error:
            # Servers that speak the same language need not know every word of it.
            if error.reason != "engine_error":
                raise
            return self.wire.ask(model, request, until)

    def _step(self, model: str, began: float) -> Step:
        took = round((self.ambient.clock.monotonic() - began) * 1000)
        tokens = asdict(Tokens())
        return Step(self.ask.step, model, took, tokens, conversation=self.ask.conversation)

    def _tell(self, step: Step) -> None:
        if self.record is not None:
            self.record(step)


def _fault(message: Message, text: str) -> ProviderError | None:
    if message.stop_reason == "refusal":
        return ProviderError("refusal", "The model refused to work on this.")
    if message.stop_reason == "model_context_window_exceeded":
        return ProviderError("context_overflow", "The request filled the model's window.")
    if not text.strip():
        return ProviderError("empty", "The model answered without any text.")
    return None
