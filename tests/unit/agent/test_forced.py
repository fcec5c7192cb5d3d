"""One forced call of one tool, through a real HTTP server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from reflector.agent.engine import Route, Step, Usage
from reflector.agent.forced import Ask, Forced, Given, Tool, whole_items
from reflector.agent.prices import dearest
from reflector.agent.wire import ProviderError
from tests.support.clocks import FakeClock, ambient
from tests.support.messages_server import Reply, Script, calls, fails, says, serving

TOOL = Tool("take", "Take what was found.", {"type": "object"})
ASK = Ask("things.take", "You find things.", "Here they are.", TOOL, "low", 2048, "h:s")
TWO = calls(("take", {"items": [{"a": 1}, {"a": 2}]}))


@dataclass
class Told:
    """What came of a call, and everything that was told on the way."""

    steps: list[Step] = field(default_factory=list)
    script: Script = field(default_factory=lambda: Script([]))
    clock: FakeClock = field(default_factory=FakeClock)
    forced: Forced | None = None

    def asks(
        self, *replies: Reply, talk: Callable[[Forced], Given] = Forced.ask, **way: object
    ) -> Given:
        self.script = Script(replies)
        with serving(self.script) as url:
            route = Route(**({"model": "m", "base_url": url, "keyless": True} | way))  # type: ignore[arg-type]
            self.forced = Forced(ASK, route, ambient(self.clock), self.steps.append)
            try:
                given = talk(self.forced)
            finally:
                self.forced.close()
        assert self.script.violations == []
        return given

    def fails(self, *replies: Reply, **way: object) -> str:
        with pytest.raises(ProviderError) as caught:
            self.asks(*replies, **way)  # type: ignore[arg-type]
        return caught.value.reason


@pytest.fixture
def told() -> Told:
    return Told()


def test_the_tool_is_forced_with_its_limit_and_effort(told: Told):
    given = told.asks(TWO)
    request = told.script.requests[0]
    assert given.arguments == {"items": [{"a": 1}, {"a": 2}]}
    assert not given.cut
    assert request["tool_choice"] == {"type": "tool", "name": "take"}
    assert request["max_tokens"] == 2048
    assert request["output_config"] == {"effort": "low"}
    assert "temperature" not in request


def test_what_is_always_the_same_is_cached_and_the_message_is_not(told: Told):
    told.asks(TWO)
    request = told.script.requests[0]
    assert "cache_control" in request["system"][0]
    assert "cache_control" in request["tools"][-1]
    assert "cache_control" not in request["messages"][0]["content"][0]


def test_a_provider_that_refuses_the_effort_is_asked_once_more_without(told: Told):
    told.asks(fails(400, "invalid_request_error", "output_config: unknown field"), TWO)
    assert ["output_config" in each for each in told.script.requests] == [True, False]
    assert [step.error for step in told.steps] == ["engine_error"]


def test_a_request_that_is_refused_without_effort_too_is_not_asked_a_third_time(told: Told):
    refused = fails(400, "invalid_request_error", "tools: not supported")
    assert told.fails(refused) == "engine_error"
    assert len(told.script.requests) == 2


def test_a_cut_answer_gives_the_items_that_are_surely_whole(told: Told):
    given = told.asks(calls(("take", {"items": [{"a": 1}, {"a": 2}]}), stop="max_tokens"))
    assert given.cut
    assert given.arguments == {"items": [{"a": 1}]}


def test_an_answer_cut_before_its_first_whole_item_is_a_fault(told: Told):
    assert told.fails(calls(("take", {"items": [{"a": 1}]}), stop="max_tokens")) == "limits"
    assert [step.error for step in told.steps] == ["limits"]


@pytest.mark.parametrize("answer", [says("There is nothing."), calls(("other", {}))])
def test_an_answer_without_the_call_is_empty(told: Told, answer: Reply):
    assert told.fails(answer) == "empty"


def test_a_dead_server_is_asked_four_times_with_growing_waits(told: Told):
    assert told.fails(fails(529, "overloaded_error")) == "overloaded"
    assert len(told.script.requests) == 4
    assert told.clock.passed > 5


def test_the_fallback_is_asked_when_a_model_is_not_there_or_refuses(told: Told):
    gone = fails(404, "not_found_error")
    told.asks(gone, Reply(stop="refusal"), TWO, fallback=("n", "o"))
    assert [each["model"] for each in told.script.requests] == ["m", "n", "o"]
    assert [step.error for step in told.steps] == ["model_not_found", "refusal"]


def test_the_last_model_that_refuses_ends_it(told: Told):
    assert told.fails(Reply(stop="refusal")) == "refusal"


def test_what_was_used_is_summed_over_all_calls_and_kept_after_a_fault(told: Told):
    told.fails(says("no", usage={"input_tokens": 50, "output_tokens": 7}), model="claude-haiku-4-5")
    assert told.forced is not None
    used = told.forced.usage
    assert (used.input_tokens, used.output_tokens) == (50, 7)
    assert used.cost_usd == pytest.approx((50 + 7 * 5) / 1_000_000)


def test_a_call_whose_price_nobody_knows_counts_as_one_of_the_dearest_model():
    known = Usage(1_000_000, 1_000_000, 0, 0.5)
    assert dearest(known) == 0.5
    assert dearest(replace(known, cost_usd=None)) == pytest.approx(30)


def test_an_answer_handed_back_goes_on_in_the_same_talk(told: Told):
    def twice(forced: Forced) -> Given:
        forced.ask()
        return forced.again("There is no item 2.")

    given = told.asks(TWO, calls(("take", {"items": []})), talk=twice)
    assert given.arguments == {"items": []}
    [_, _, answer] = told.script.requests[1]["messages"]
    assert answer["content"][0]["content"] == "There is no item 2."
    assert answer["content"][0]["is_error"] is True


def test_a_good_call_is_left_to_the_caller_to_record_with_its_counts(told: Told):
    given = told.asks(TWO)
    assert told.steps == []
    assert given.step.name == "things.take"
    assert given.step.conversation == "h:s"
    assert given.step.tokens["read"] == 100
    assert given.step.tools == ["take"]


def test_items_of_every_list_are_counted_from_the_front():
    assert whole_items({"a": [1, 2], "b": [3], "c": "torn"}) == {"a": [1]}


def test_a_call_that_is_no_json_is_the_fault_of_the_answer_not_of_the_server(told: Told):
    assert told.fails(calls(("take", {"items": ["\ud800"]}))) == "empty"
    assert len(told.script.requests) == 1


def test_a_server_that_speaks_another_language_ends_the_call_in_the_closed_vocabulary(told: Told):
    assert told.fails(Reply(fault="garbage")) == "engine_error"
    assert len(told.script.requests) == 2  # once more without the effort
