"""One plain call within its time, through a real HTTP server on loopback."""

from __future__ import annotations

import pytest

from reflector.agent.engine import Route, Step, Usage
from reflector.agent.forced import wire_for
from reflector.agent.plain import Ask, Plain, Said
from reflector.agent.wire import ProviderError
from tests.support.clocks import FakeClock, ambient
from tests.support.messages_server import Block, Reply, Script, fails, says, serving

ASK = Ask("diary.judge", "", "Is it worth it?", 20.0)
REFUSED = fails(400, "invalid_request_error", "thinking: unknown field")


class Apart(Script):
    """Calls that have nothing to do with each other: no stable prefix is promised."""

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        self.keys.append(key)
        self.requests.append(request)
        return len(self.requests), self.replies[min(len(self.requests), len(self.replies)) - 1]


class Ticking(FakeClock):
    """Every look at it costs six seconds."""

    def monotonic(self) -> float:
        self.passed += 6
        return self.passed


def asked(
    *replies: Reply, ask: Ask = ASK, clock: FakeClock | None = None, fallback: tuple[str, ...] = ()
) -> tuple[Said | str, list[Block], list[Step], Usage]:
    script, steps = Apart(replies), list[Step]()
    with serving(script) as url:
        route = Route(model="m", base_url=url, keyless=True, fallback=fallback)
        now = ambient(clock)
        wire = wire_for(route, 8, now)
        plain = Plain(ask, route, now, wire, steps.append)
        try:
            found: Said | str = plain.said()
        except ProviderError as error:
            found = error.reason
        finally:
            wire.close()
    return found, script.requests, steps, plain.usage


def test_it_is_asked_without_tools_and_without_reasoning():
    found, (request,), steps, usage = asked(says("yes", usage={"output_tokens": 3}))
    assert isinstance(found, Said)
    assert (found.text, found.cut, steps) == ("yes", False, [])
    assert request["thinking"] == {"type": "disabled"}
    assert request["max_tokens"] == 8
    assert not {"tools", "system", "output_config"} & request.keys()
    assert usage.output_tokens == 3


def test_a_provider_that_refuses_the_setting_is_asked_once_more_without():
    found, requests, _, _ = asked(REFUSED, says("no"))
    assert isinstance(found, Said)
    assert ["thinking" in each for each in requests] == [True, False]
    found, requests, _, _ = asked(REFUSED)
    assert (found, len(requests)) == ("engine_error", 2)


@pytest.mark.parametrize("answer", [says(" \n"), Reply([]), says("x", stop="refusal")])
def test_a_reply_without_text_is_an_error_with_a_reason(answer: Reply):
    found, _, (step,), _ = asked(answer)
    assert found in ("empty", "refusal")
    assert step.error == found


def test_the_words_of_neither_side_are_recorded():
    _, _, (step,), _ = asked(says(""), ask=Ask("diary.judge", "be", "secret of a diary", 20.0))
    assert (step.asked, step.answered) == (None, None)
    assert "secret" not in step.detail


def test_an_answer_that_is_cut_says_so_and_the_fallback_is_asked():
    found, _, _, _ = asked(says("ye", stop="max_tokens"))
    assert isinstance(found, Said)
    assert found.cut
    gone = fails(404, "not_found_error", "model: m")
    found, requests, _, _ = asked(gone, says("yes"), fallback=("n",))
    assert isinstance(found, Said)
    assert [each["model"] for each in requests] == ["m", "n"]


def test_a_server_that_drips_is_given_up_when_the_time_is_over():
    found, requests, _, _ = asked(says("yes"), clock=Ticking())
    assert (found, len(requests)) == ("deadline_exceeded", 1)


def test_no_wait_between_tries_goes_over_the_time():
    clock = FakeClock()
    overloaded = fails(529, "overloaded_error", retry_after="30")
    found, requests, _, _ = asked(overloaded, clock=clock)
    assert (found, len(requests), clock.passed) == ("overloaded", 1, 0)
