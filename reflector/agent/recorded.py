"""Every call of a model told to whoever keeps the records of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from anthropic.types import Message

from reflector.agent.engine import Record, Step
from reflector.agent.prices import Tokens
from reflector.agent.wire import ProviderError
from reflector.core.ambient import Clock


class Asks(Protocol):
    """Whoever can ask a model."""

    def ask(self, model: str, request: Mapping[str, Any]) -> Message:
        """Send one request and return the whole answer. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """Asks by another, and tells what came of it, also when nothing did."""

    wire: Asks
    pipeline: str
    record: Record
    clock: Clock

    def ask(self, model: str, request: Mapping[str, Any]) -> Message:
        """Send one request and return the whole answer. Raises ProviderError."""
        began = self.clock.monotonic()
        try:
            message = self.wire.ask(model, request)
        except ProviderError as error:
            step = self._step(model, request, began)
            self.record(replace(step, error=error.reason, detail=error.message))
            raise
        self.record(
            replace(
                self._step(model, request, began),
                tokens=asdict(used(message)),
                tools=[block.name for block in message.content if block.type == "tool_use"],
                answered=[
                    each.model_dump(mode="json", exclude_none=True) for each in message.content
                ],
            )
        )
        return message

    def _step(self, model: str, request: Mapping[str, Any], began: float) -> Step:
        elapsed = round((self.clock.monotonic() - began) * 1000)
        return Step(f"{self.pipeline}.turn", model, elapsed, {}, asked=request["messages"][-1])


def used(message: Message) -> Tokens:
    """Return what one request used."""
    usage = message.usage
    return Tokens(
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
    )
