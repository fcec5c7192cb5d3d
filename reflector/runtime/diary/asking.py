"""Plain calls of the diary: made within their time, counted, and what a failure means for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reflector.agent.engine import Usage
from reflector.core.errors import SettingsError, StateError
from reflector.core.failure import Failure, classify
from reflector.core.park import FailedRun
from reflector.core.redact import redact
from reflector.core.run import Outcome, Reason
from reflector.runtime.calls import allowance
from reflector.runtime.calls.allowance import Asked
from reflector.runtime.calls.asking import job_record, own_route
from reflector.runtime.calls.waits import Waits
from reflector.runtime.diary.names import PIPELINE
from reflector.runtime.wiring import Context
from reflector.store.state import State

if TYPE_CHECKING:  # the library costs a second to import
    from reflector.agent.wire import Wire

AUTOMATIC = Asked(PIPELINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One call: `name` is its step, `limit` the most output tokens, `seconds` all of its time."""

    name: str
    system: str
    text: str
    limit: int
    seconds: float
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What the model said, and what that used."""

    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Fault:
    """Why nothing was said. A failure of the content is the question's own fault."""

    failure: Failure
    reason: Reason
    detail: str
    usage: Usage = field(default_factory=Usage)

    @property
    def ours(self) -> bool:
        """Tell whether the provider is not to blame, so that others need not wait."""
        return self.failure.scope == "content"


@dataclass(slots=True)
class Caller:
    """Asks for one identity; connections are kept until `close`. `parked` is told when the route parks."""

    context: Context
    state: State
    parked: Callable[[], None] = lambda: None
    _wires: dict[int, Wire] = field(default_factory=dict)

    def close(self) -> None:
        """End the connections."""
        for wire in self._wires.values():
            wire.close()
        self._wires.clear()

    def held(self) -> Waits | None:
        """Return what keeps a call from being made now; a probe that is due is let through."""
        return allowance.held(self.context, self.state, AUTOMATIC)

    def ask(self, question: Question) -> Told | Fault:
        """Make a call and count what it used. A provider's fault lets the whole pipeline wait."""
        from reflector.agent.plain import Ask, Plain  # noqa: PLC0415 - costs a second to import
        from reflector.agent.wire import ProviderError  # noqa: PLC0415 - as above

        ambient = self.context.ambient
        try:
            way = replace(own_route(self.context), most_output_tokens=question.limit)
        except SettingsError as error:  # as with a run: it parks, until the setting is another
            return self._failed(Usage(), Reason.ENGINE_MISSING, error.message, question)
        record = job_record(self.context, f"diary-{ambient.chance.hex(8)}")
        ask = Ask(
            question.name, question.system, question.text, question.seconds, question.conversation
        )
        plain = Plain(ask, way, ambient, self._wire(way.most_output_tokens), record)
        try:
            said = plain.said()
        except ProviderError as error:
            return self._failed(plain.usage, Reason(error.reason), error.message, question)
        if record is not None:
            record(said.step)
        with self.state.transaction() as connection:
            allowance.paid(connection, plain.usage, ambient.clock.now())
            allowance.succeeded(self.context, connection, PIPELINE)
        return Told(said.text, plain.usage)

    def _wire(self, limit: int) -> Wire:
        from reflector.agent.forced import wire_for  # noqa: PLC0415 - as above

        if limit not in self._wires:
            way = own_route(self.context)
            self._wires[limit] = wire_for(way, limit, self.context.ambient)
        return self._wires[limit]

    def _failed(self, usage: Usage, reason: Reason, message: str, question: Question) -> Fault:
        now = self.context.ambient.clock.now()
        detail = redact(message).text[:512]
        failure = classify(Outcome.FAILED, reason, detail)
        if failure is None:  # nobody interrupts a call
            raise StateError(f"The call {question.name} cannot fail of {reason}.")
        found = Fault(failure, reason, detail, usage)
        said = FailedRun(question.name, frozenset({question.conversation}), reason.value, detail)
        with self.state.transaction() as connection:
            allowance.paid(connection, usage, now)
            parked = not found.ours and allowance.failed(
                self.context, connection, PIPELINE, failure, said, now
            )
        if parked:
            self.parked()
        return found
