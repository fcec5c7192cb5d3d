"""One request to a Messages API: streamed, tried again where that can help, its faults named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import anthropic
from anthropic import Anthropic, APIConnectionError, APIStatusError, APITimeoutError, Timeout
from anthropic.types import Message

from reflector.agent.engine import Route
from reflector.core.ambient import Ambient
from reflector.core.errors import ReflectorError

_TRIES = 4
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_CONNECT_SECONDS = 10.0
_TOO_LONG = re.compile(
    r"too long|context (?:window|length)|maximum context|exceeds? .*tokens", re.IGNORECASE
)
_MONEY = re.compile(r"credit balance|billing|quota|insufficient", re.IGNORECASE)
_BY_STATUS: Final[Mapping[int, str]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "model_not_found",
    408: "overloaded",
    409: "overloaded",
    413: "context_overflow",
    429: "overloaded",
}


class ProviderError(ReflectorError):
    """The server did not answer. `reason` is a value of `core.run.Reason`."""

    code = "provider"

    def __init__(self, reason: str, message: str) -> None:
        """Name why, in the closed vocabulary of runs."""
        super().__init__(message)
        self.reason = reason


class Wire:
    """The way to one server, to be closed."""

    def __init__(self, route: Route, ambient: Ambient) -> None:
        """Prepare the client; nothing is sent. Credentials come from the environment."""
        self._route = route
        self._ambient = ambient
        self._client = Anthropic(
            # A local server wants no key, and the library insists on one.
            api_key="none" if route.keyless else None,
            base_url=route.base_url or None,
            max_retries=0,
            timeout=Timeout(route.idle_seconds, connect=_CONNECT_SECONDS),
        )

    def close(self) -> None:
        """Close the connections; nothing can be asked after that.

        The library leaves them to a garbage collector that may come at any time, or never.
        """
        self._client.close()

    def ask(self, model: str, request: Mapping[str, Any], until: float | None = None) -> Message:
        """Send one request and return the whole answer. Raises ProviderError.

        `until` is when it is given up, tries and waits included, as the monotonic clock has it.
        """
        for attempt in range(_TRIES):
            try:
                return self._streamed(model, request, until)
            except _LIBRARY as error:
                fault = _fault_of(error)
                wait = self._wait(attempt, error)
                late = until is not None and self._ambient.clock.monotonic() + wait >= until
                if fault.reason != "overloaded" or attempt == _TRIES - 1 or late:
                    raise fault from error
                self._ambient.clock.sleep(wait)
        raise AssertionError

    def _streamed(self, model: str, request: Mapping[str, Any], until: float | None) -> Message:
        heat = self._route.temperature
        with self._client.messages.stream(
            model=model,
            max_tokens=self._route.most_output_tokens,
            extra_body=None if heat is None else {"temperature": heat},
            timeout=Timeout(self._silence(until), connect=_CONNECT_SECONDS),
            **request,
        ) as stream:
            if until is not None:
                for _ in stream:  # a server that drips is silent for no long time
                    self._silence(until)
            message = stream.get_final_message()
        if message.stop_reason is None:
            raise ProviderError("overloaded", "The answer broke off.")
        return message

    def _silence(self, until: float | None) -> float:
        """Return the seconds without a byte that end a request. Raises ProviderError at the end."""
        if until is None:
            return self._route.idle_seconds
        left = until - self._ambient.clock.monotonic()
        if left <= 0:
            raise ProviderError("deadline_exceeded", "The answer took too long.")
        return min(left, self._route.idle_seconds)

    def _wait(self, attempt: int, error: Exception) -> float:
        """Return the seconds to wait: what the server asks, else doubling, with jitter."""
        wait: float = _FIRST_WAIT * 2**attempt
        if isinstance(error, APIStatusError):
            asked = error.response.headers.get("retry-after", "")
            wait = float(asked) if re.fullmatch(r"\d{1,4}(\.\d+)?", asked) else wait
        chance = int(self._ambient.chance.hex(8), 16) / 2**32
        return min(wait * (0.75 + chance / 2), _LONGEST_WAIT)


# The library asserts that a stream begins as it should, and lets types and JSON speak for themselves.
_LIBRARY = (anthropic.AnthropicError, ProviderError, AssertionError, TypeError, ValueError)


def _fault_of(error: Exception) -> ProviderError:
    """Name an error of the library in the closed vocabulary of runs."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, APITimeoutError):
        return ProviderError("overloaded", "The server was silent for too long.")
    if isinstance(error, APIConnectionError):
        return ProviderError("overloaded", f"The server cannot be reached: {_cause(error)}.")
    if isinstance(error, APIStatusError):
        reason = _reason(error)
        return ProviderError(reason, f"The server answered {error.status_code}: {error.message}")
    return _of_no_answer(error)


def _of_no_answer(error: Exception) -> ProviderError:
    if isinstance(error, TypeError) and "auth" in str(error).lower():
        return ProviderError("auth", "No credentials: set ANTHROPIC_API_KEY, or engine.base_url.")
    if isinstance(error, ValueError) and "tool parameter JSON" in str(error):
        # A bad answer is the fault of what was asked, not of the server: others need not wait.
        return ProviderError("empty", "The model answered with a call that is no JSON.")
    if isinstance(error, AssertionError):
        return ProviderError("engine_error", "The server's answer is none of the Messages API.")
    return ProviderError("engine_error", f"{type(error).__name__}: {error}")


def _reason(error: APIStatusError) -> str:
    text, status = str(error.message), error.status_code
    if "overloaded" in (error.type or ""):  # also inside a stream that began with 200
        return "overloaded"
    if status in (400, 403, 429) and _MONEY.search(text):
        return "quota"
    if status == 400 and _TOO_LONG.search(text):
        return "context_overflow"
    if status >= 500 or (error.type or "") in ("api_error", "rate_limit_error", "timeout_error"):
        return "overloaded"
    return _BY_STATUS.get(status, "engine_error")


def _cause(error: Exception) -> str:
    return str(error.__cause__ or error) or type(error).__name__
