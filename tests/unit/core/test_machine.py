from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reflector.core import park
from reflector.core.due import spent
from reflector.core.failure import Failure
from reflector.core.machine import MANUAL, PRIORITY, SLOT, evaluate, manual
from reflector.core.pending import capped, merge, mergeable, take_for_run
from reflector.core.promotion import promote
from reflector.core.run import Request
from reflector.core.schedule import (
    Asked,
    CompactionAccepted,
    Day,
    Dropped,
    Engine,
    Event,
    Idle,
    Manual,
    Mark,
    Nothing,
    Part,
    Queue,
    Refuse,
    Reserve,
    SchedulerConfig,
    SchedulerState,
    Settled,
    Shutdown,
    Standing,
    Why,
)
from reflector.core.snapshot import Snapshot

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY_ENDS = datetime(2026, 1, 2, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
MODEL = Engine("anthropic", "m")
RULES = Engine("rules", can_dream=False, calls_model=False)
CONFIG = SchedulerConfig()
BROKEN = Failure("b", retryable=False, fatal=False, scope="provider")
SPENT = Day(DAY_ENDS, {"reflection": 40})


def _one(name: str = "h/a", **values) -> Standing:
    plain = {"unreflected_bytes": 500, "has_new": True, "last_entry_at": NOW - HOUR}
    return Standing(name, **{**plain, **values})


def _due(name: str = "h/a", **values) -> Standing:
    return _one(name, steps_since_reflection=25, **values)


def _state(*standings: Standing, **values) -> SchedulerState:
    plain = {"engine": MODEL, "day": Day(DAY_ENDS), "standings": standings}
    return SchedulerState(**{**plain, **values})


def _asked(trigger="manual", *names: str, pipeline="reflection", **values) -> Asked:
    request = Request(pipeline, trigger, "test", PRIORITY[trigger], "anthropic", "m")
    parts = tuple(Part(name, "advance", 500) for name in names)
    return Asked(request, values.pop("at", NOW), parts, **values)


def _snapshot(name: str, size: int = 100, mode="advance") -> Snapshot:
    return Snapshot(name, 1, 2, f"{name}:1", f"{name}:2", 2, size, 0, mode)


def _parked(at: datetime = NOW) -> park.Parked:
    failed = park.FailedRun("r", frozenset({"h/a"}), "engine_error", "")
    state: park.ParkState = park.Watching()
    for _ in range(3):
        state, _ = park.after_failure(state, failed, BROKEN, at, automatic=True)
    assert isinstance(state, park.Parked)
    return state


def _decide(state, event, config=CONFIG, now=NOW):
    return evaluate(state, event, config, now)


def _reserved(state, event, config=CONFIG, now=NOW) -> Asked:
    decision = _decide(state, event, config, now)
    assert isinstance(decision, Reserve)
    return decision.asked


def _names(asked: Asked) -> list[str]:
    return [part.conversation for part in asked.parts]


# What was there before


def test_a_person_s_request_has_the_highest_priority():
    request = manual(origin="cli", engine="rules", focus="tests")
    assert request == Request("reflection", "manual", "cli", MANUAL, "rules", focus="tests")
    assert max(PRIORITY.values()) == MANUAL


def test_reflection_and_dream_share_a_slot_and_no_others_do():
    assert SLOT["reflection"] == SLOT["dream"]
    assert len(set(SLOT.values())) == len(SLOT) - 1 == 4


# E3.1


def test_a_compaction_only_marks():
    state = _state(_due())
    assert _decide(state, CompactionAccepted("h/a", "b1")) == Mark("h/a", "b1")


@pytest.mark.parametrize(
    ("standing", "why"),
    [
        (_one("h/z"), Why.UNKNOWN_CONVERSATION),
        (_one(pending_compaction="b1"), Why.ALREADY_MARKED),
        (_one(boundaries=frozenset({"b1"})), Why.ALREADY_MARKED),
        (_one(unreflected_bytes=0, has_new=False), Why.NOTHING_NEW),
    ],
)
def test_a_boundary_marks_once_and_only_what_is_still_to_read(standing, why):
    assert _decide(_state(standing), CompactionAccepted("h/a", "b1")) == Nothing(why)


# E3.2


def test_a_failed_turn_starts_nothing():
    state = _state(_due(pending_compaction="b"))
    assert _decide(state, Settled(success=False)) == Nothing(Why.FAILED_TURN)


def test_compaction_comes_before_steps_and_steps_before_bytes():
    marked, many = _one("h/m", pending_compaction="b"), _due("h/s")
    large = _one("h/l", unreflected_bytes=131_072)
    first = _reserved(_state(large, many, marked), Settled(success=True))
    assert (first.request.trigger, first.request.priority, _names(first)) == (
        "compaction", 20, ["h/m"],
    )  # fmt: skip
    then = _reserved(_state(large, many), Settled(success=True))
    assert (then.request.trigger, then.request.priority, _names(then)) == (
        "step-count", 10, ["h/s"],
    )  # fmt: skip
    last = _reserved(_state(large), Settled(success=True))
    assert (last.request.trigger, _names(last)) == ("step-count", ["h/l"])


@pytest.mark.parametrize(
    ("standing", "config"),
    [
        (_one(steps_since_reflection=24), CONFIG),
        (_one(unreflected_bytes=131_071), CONFIG),
        (_due(), replace(CONFIG, step_count=0)),
        (_one(pending_compaction="b"), replace(CONFIG, on_compaction=False)),
        (_due(has_new=False, pending_compaction="b", unreflected_bytes=999_999), CONFIG),
    ],
)
def test_below_every_threshold_nothing_starts(standing, config):
    decision = _decide(_state(standing), Settled(success=True), config)
    assert decision == Nothing(Why.BELOW_THRESHOLD)


def test_one_request_takes_every_conversation_that_is_due():
    state = _state(_due("h/a"), _one("h/b"), _due("h/c"))
    assert _names(_reserved(state, Settled(success=True))) == ["h/a", "h/c"]


def test_no_conversation_backs_off_for_another():
    waits = NOW + MINUTE
    state = _state(_due("h/a", next_eligible_at=waits), _due("h/b"), _due("h/c", blocked=True))
    assert _names(_reserved(state, Settled(success=True))) == ["h/b"]
    late = _state(_due("h/a", next_eligible_at=waits), _due("h/c", blocked=True))
    assert _decide(late, Settled(success=True)) == Refuse(Why.BACK_OFF, waits)
    _reserved(late, Settled(success=True), now=waits)


def test_a_weaker_trigger_fires_while_the_stronger_one_backs_off():
    state = _state(_one("h/a", pending_compaction="b", next_eligible_at=NOW + MINUTE), _due("h/b"))
    asked = _reserved(state, Settled(success=True))
    assert (asked.request.trigger, _names(asked)) == ("step-count", ["h/b"])


def test_a_conversation_with_a_kept_tip_starts_no_run():
    state = _state(_due(blocked=True))
    for event in (Settled(success=True), Shutdown(), Manual("cli")):
        assert _decide(state, event) == Refuse(Why.KEPT_TIP)


@pytest.mark.parametrize("event", [Settled(success=True)])
def test_thresholds_ask_for_nothing_beside_a_reflection(event):
    active = _state(_due(), active={"reflection": "reflection"})
    assert _decide(active, event) == Nothing(Why.ACTIVE)
    waiting = _state(_due(), pending={"reflection": _asked("shutdown", "h/a")})
    assert _decide(waiting, event) == Nothing(Why.PENDING)


def test_beside_a_dream_a_reflection_waits():
    decision = _decide(_state(_due(), active={"reflection": "dream"}), Settled(success=True))
    assert isinstance(decision, Queue)
    assert decision.asked.request.trigger == "step-count"


def test_what_waits_goes_before_what_comes():
    dream = _asked("idle", pipeline="dream")
    decision = _decide(_state(_due(), pending={"dream": dream}), Settled(success=True))
    assert isinstance(decision, Queue)


def test_another_slot_is_in_nobody_s_way():
    state = _state(_due(), active={"diary": "diary"}, pending={"decisions": _asked()})
    _reserved(state, Settled(success=True))


@pytest.mark.parametrize("event", [Settled(success=True), Shutdown()])
def test_a_pipeline_that_is_off_starts_nothing_by_itself(event):
    off = replace(CONFIG, reflection_enabled=False)
    assert _decide(_state(_due()), event, off) == Nothing(Why.DISABLED)
    _reserved(_state(_due()), Manual("cli"), off)


# Shutdown


def test_a_session_s_end_reflects_what_is_new_in_it():
    state = _state(_one("h/a"), _one("h/b"), _one("h/c", has_new=False))
    one = _reserved(state, Shutdown("h/a"))
    assert (one.request.trigger, one.request.priority, _names(one)) == ("shutdown", 25, ["h/a"])
    assert _names(_reserved(state, Shutdown())) == ["h/a", "h/b"]
    assert _decide(state, Shutdown("h/c")) == Nothing(Why.NOTHING_NEW)


def test_a_shutdown_during_a_run_waits_and_merges():
    waiting = _asked("step-count", "h/b")
    state = _state(
        _one(), active={"reflection": "reflection"}, pending={"reflection": waiting}
    )  # fmt: skip
    decision = _decide(state, Shutdown())
    assert isinstance(decision, Queue)
    assert (decision.asked.request.trigger, _names(decision.asked)) == ("shutdown", ["h/b", "h/a"])


# E3.3


def test_manual_passes_thresholds_back_off_park_and_hold():
    state = _state(
        _one(next_eligible_at=NOW + MINUTE, consecutive_failures=9),
        park=_parked(),
        held="journal_lost",
    )
    asked = _reserved(state, Manual("cli", focus="tests"))
    assert (asked.request.focus, asked.request.priority) == ("tests", 30)


def test_manual_with_nothing_new_is_no_error():
    assert _decide(_state(_one(has_new=False)), Manual("cli")) == Nothing(Why.NOTHING_NEW)
    assert _decide(_state(), Manual("cli")) == Nothing(Why.NOTHING_NEW)


def test_manual_takes_what_was_named_in_that_order():
    state = _state(_one("h/a"), _one("h/b"), _one("h/c", has_new=False))
    asked = _reserved(state, Manual("cli", conversation_ids=("h/b", "h/c", "h/a", "h/b", "h/x")))
    assert _names(asked) == ["h/b", "h/a"]
    assert {part.mode for part in asked.parts} == {"advance"}


def test_recent_replays_and_never_advances():
    state = _state(_one("h/a", has_new=False), _one("h/b"))
    asked = _reserved(state, Manual("cli", recent_n=3))
    assert _names(asked) == ["h/a", "h/b"]
    assert {part.mode for part in asked.parts} == {"replay"}
    assert asked.recent_n == 3


def test_a_recorded_range_is_replayed_even_if_it_once_advanced():
    taken = _snapshot("h/a")
    asked = _reserved(_state(_one(has_new=False)), Manual("cli", ranges=(taken, _snapshot("h/x"))))
    assert asked.parts == (Part("h/a", "replay", 100, replace(taken, mode="replay")),)


def test_day_limits_hold_for_manual_runs_too():
    for event in (Manual("cli"), Settled(success=True), Shutdown()):
        assert _decide(_state(_due(), day=SPENT), event) == Refuse(Why.DAY_RUNS, DAY_ENDS)
    poor = _state(_due(), day=Day(DAY_ENDS, cost_usd=2.0))
    assert _decide(poor, Manual("cli")) == Refuse(Why.DAY_COST, DAY_ENDS)
    _reserved(poor, Manual("cli", over_budget=True))


def test_a_day_limit_of_one_slot_holds_for_no_other():
    _reserved(_state(_due(), day=Day(DAY_ENDS, {"diary": 99})), Manual("cli"))


def test_an_engine_without_a_model_has_no_day_limit():
    _reserved(_state(_due(), day=SPENT, engine=RULES), Settled(success=True))
    _reserved(_state(_due(), day=SPENT), Manual("cli", engine=RULES))


def test_an_unknown_price_counts_as_the_most_a_run_may_cost():
    assert spent([0.25, None, 0.0], 0.5) == 0.75


def test_manual_beside_an_active_run_waits_and_a_dry_one_is_refused():
    state = _state(_one(), active={"reflection": "reflection"})
    assert isinstance(_decide(state, Manual("cli")), Queue)
    assert _decide(state, Manual("cli", dry_run=True)) == Refuse(Why.BUSY)
    assert _reserved(_state(_one()), Manual("cli", dry_run=True)).request.dry_run


# E3.5


def test_an_idle_hour_dreams_of_the_newest_conversations():
    ages = [_one(f"h/{n}", last_entry_at=NOW - n * HOUR) for n in range(7, 0, -1)]
    asked = _reserved(_state(*ages), Idle())
    assert (asked.request.pipeline, asked.request.trigger, asked.request.priority) == (
        "dream", "idle", 15,
    )  # fmt: skip
    assert _names(asked) == ["h/1", "h/2", "h/3", "h/4", "h/5"]
    assert {part.mode for part in asked.parts} == {"replay"}


@pytest.mark.parametrize(
    ("values", "config", "why"),
    [
        ({"standings": (_one(last_entry_at=NOW - 29 * MINUTE),)}, CONFIG, Why.NOT_IDLE),
        ({"last_dream_at": NOW - 23 * HOUR}, CONFIG, Why.TOO_SOON),
        ({"last_dream_at": NOW + HOUR}, CONFIG, Why.TOO_SOON),
        ({"last_dream_at": NOW - 25 * HOUR, "standings": (_one(last_entry_at=NOW - 26 * HOUR),)},
         CONFIG, Why.NOTHING_NEW),
        ({"standings": ()}, CONFIG, Why.NOTHING_NEW),
        ({"standings": (_one(blocked=True),)}, CONFIG, Why.NOTHING_NEW),
        ({"standings": (), "pressure": True, "memory_changed": False}, CONFIG, Why.NOTHING_NEW),
        ({"engine": RULES}, CONFIG, Why.CANNOT_DREAM),
        ({}, replace(CONFIG, dream_enabled=False), Why.DISABLED),
        ({"active": {"reflection": "dream"}}, CONFIG, Why.ACTIVE),
        ({"pending": {"dream": _asked("idle", pipeline="dream")}}, CONFIG, Why.PENDING),
    ],
)  # fmt: skip
def test_no_dream_without_rest_quiet_and_something_new(values, config, why):
    assert _decide(_state(_one(), **values) if "standings" not in values else _state(**values),
                   Idle(), config) == Nothing(why)  # fmt: skip


def test_a_dream_that_was_missed_is_caught_up_once():
    state = _state(_one(), last_dream_at=NOW - 90 * 24 * HOUR)
    _reserved(state, Idle())
    assert _decide(replace(state, last_dream_at=NOW), Idle()) == Nothing(Why.TOO_SOON)


def test_a_wrong_clock_neither_ends_dreams_nor_repeats_them():
    ahead = _one(last_entry_at=NOW + 400 * 24 * HOUR)
    assert _decide(_state(ahead), Idle()) == Nothing(Why.NOTHING_NEW)
    _reserved(_state(_one(), last_dream_at=NOW + 400 * 24 * HOUR), Idle())


def test_pressure_dreams_without_anything_new():
    asked = _reserved(_state(pressure=True), Idle())
    assert (asked.request.trigger, asked.parts) == ("pressure", ())


def test_a_dream_without_an_origin_is_a_programming_error():
    for event in (Idle(origin=""), Manual("", pipeline="dream")):
        with pytest.raises(ValueError, match="origin"):
            _decide(_state(_one()), event)


def test_rules_cannot_dream_when_asked_either():
    event = Manual("cli", pipeline="dream")
    assert _decide(_state(engine=RULES), event) == Refuse(Why.CANNOT_DREAM)
    assert _reserved(_state(engine=RULES), replace(event, engine=MODEL)).request.priority == 30


# E4.1 merging


def test_the_stronger_request_decides_trigger_and_focus_and_of_equals_the_newer():
    strong = replace(_asked("manual", "h/a"), request=manual(origin="cli", engine="e", focus="x"))
    weak = _asked("step-count", "h/b", at=NOW + MINUTE)
    assert merge(strong, weak).request == strong.request
    assert merge(weak, strong).request == strong.request
    newer = replace(strong, request=replace(strong.request, focus="y"))
    assert merge(strong, newer).request.focus == "y"
    assert merge(newer, replace(strong, at=NOW + HOUR)).at == NOW


def test_conversations_are_united_as_first_seen_and_steps_are_the_most():
    one = replace(_asked("manual", "h/b", "h/a"), recent_n=7)
    other = replace(_asked("manual", "h/c", "h/a"), recent_n=3)
    assert _names(merge(one, other)) == ["h/b", "h/a", "h/c"]
    assert merge(one, other).recent_n == merge(other, one).recent_n == 7


def test_merging_turns_neither_mode_into_the_other():
    replay = replace(_asked(), parts=(Part("h/a", "replay", 9),), recent_n=2)
    merged = merge(_asked("manual", "h/a", "h/b"), replay)
    assert [(part.conversation, part.mode) for part in merged.parts] == [
        ("h/a", "advance"), ("h/b", "advance"), ("h/a", "replay"),
    ]  # fmt: skip


def test_two_ranges_of_one_conversation_stay_two():
    ranges = [_snapshot("h/a", mode="replay"), replace(_snapshot("h/a"), first_entry="h/a:9")]
    one, two = (replace(_asked(), parts=(Part("h/a", "replay", 1, each),)) for each in ranges)
    assert len(merge(one, two).parts) == 2
    assert len(merge(one, one).parts) == 1


def test_dreams_merge_only_over_one_document_and_never_with_reflection():
    dream = _asked("idle", pipeline="dream")
    other = replace(dream, request=replace(dream.request, target="system/x.md"))
    assert mergeable(dream, dream)
    assert not mergeable(dream, other)
    assert not mergeable(dream, _asked("manual"))
    with pytest.raises(ValueError, match="merge"):
        merge(dream, other)


def test_a_dry_run_merges_with_nothing():
    dry = replace(_asked(), request=manual(origin="cli", engine="e", dry_run=True))
    assert not mergeable(dry, _asked())
    assert not mergeable(_asked(), dry)


def test_a_person_s_dream_takes_the_place_of_an_idle_one():
    idle = _asked("idle", pipeline="dream")
    state = _state(_one(), active={"reflection": "reflection"}, pending={"dream": idle})
    event = Manual("cli", pipeline="dream", target="system/x.md")
    decision = _decide(state, event)
    assert isinstance(decision, Queue)
    assert decision.asked.request.target == "system/x.md"
    assert decision.dropped == (Dropped(idle, Why.REPLACED),)
    taken = replace(state, pending={"dream": decision.asked})
    assert _decide(taken, replace(event, target="system/y.md")) == Refuse(Why.BUSY)


# E4.2 caps


def test_what_waits_is_capped_by_count_first_seen_first():
    many = _asked("manual", *[f"h/{n}" for n in range(40)])
    kept, (cut,) = capped(many, CONFIG)
    assert _names(kept) == [f"h/{n}" for n in range(8, 40)]
    assert _names(cut.asked) == [f"h/{n}" for n in range(8)]
    assert cut.why is Why.CAPPED


def test_what_waits_is_capped_by_bytes_and_whole_conversations():
    parts = (
        Part("h/a", "advance", 3_000_000), Part("h/b", "advance", 10), Part("h/a", "replay", 10),
        Part("h/c", "advance", 2_000_000),
    )  # fmt: skip
    kept, _ = capped(replace(_asked(), parts=parts), CONFIG)
    assert _names(kept) == ["h/b", "h/c"]
    alone, dropped = capped(replace(_asked(), parts=(Part("h/a", "replay", 9_000_000),)), CONFIG)
    assert (_names(alone), dropped) == (["h/a"], ())


def test_a_queue_says_what_the_cap_dropped():
    standings = [_one(f"h/{n}") for n in range(33)]
    decision = _decide(_state(*standings, active={"reflection": "dream"}), Manual("cli"))
    assert isinstance(decision, Queue)
    assert len(decision.asked.parts) == 32
    assert [_names(each.asked) for each in decision.dropped] == [["h/0"]]


def test_a_run_takes_conversations_in_order_until_it_is_full():
    a, b, c = _snapshot("h/a", 60), _snapshot("h/b", 50), _snapshot("h/c", 10)
    assert take_for_run([a, b, c], 100) == ((a,), (b, c))
    assert take_for_run([a, b, c], 110) == ((a, b), (c,))
    assert take_for_run([a, b, c], 1) == ((a,), (b, c))
    assert take_for_run([], 1) == ((), ())


def test_a_suspect_shares_its_run_with_nobody():
    a, b, c = _snapshot("h/a"), _snapshot("h/b"), _snapshot("h/c")
    assert take_for_run([a, b, c], 999, {"h/a"}) == ((a,), (b, c))
    assert take_for_run([a, b, c], 999, {"h/b"}) == ((a, c), (b,))
    assert take_for_run([a, b], 999, {"h/a", "h/b"}) == ((a,), (b,))


def test_a_suspect_is_asked_for_with_its_own_budget():
    asked = _reserved(_state(_one(unreflected_bytes=90_000, budget=700)), Manual("cli"))
    assert asked.parts[0].size == 700


# E4.5 promotion


def test_promotion_goes_by_priority_and_then_by_age():
    state = _state(_due("h/a"))
    dream = _asked("idle", pipeline="dream", at=NOW - HOUR)
    person = _asked("manual", "h/a")
    assert promote([dream, person], state, CONFIG, NOW).launch == person
    steps = _asked("step-count", "h/a", at=NOW - 2 * HOUR)
    promotion = promote([steps, dream], state, CONFIG, NOW)
    assert (promotion.launch, promotion.kept) == (dream, (steps,))
    old, new = (
        replace(dream, at=NOW - 9 * HOUR),
        replace(dream, request=replace(dream.request, target="t")),
    )
    assert promote([new, old], state, CONFIG, NOW).launch == old


def test_promotion_of_what_was_asked_for_at_one_moment_is_the_same_in_any_order():
    state = _state(_due("h/a"))
    dream = _asked("idle", pipeline="dream", at=NOW)
    asked = _asked("manual", "h/a", at=NOW)
    other = replace(asked, request=replace(asked.request, priority=dream.request.priority))
    assert promote([dream, other], state, CONFIG, NOW) == promote(
        [other, dream], state, CONFIG, NOW
    )


def test_nothing_is_promoted_beside_an_active_run():
    asked = _asked("manual", "h/a")
    state = _state(_due(), active={"reflection": "dream"})
    assert promote([asked], state, CONFIG, NOW).kept == (asked,)
    assert promote([asked], state, CONFIG, NOW).launch is None


@pytest.mark.parametrize(
    ("trigger", "standing", "why"),
    [
        ("compaction", _one(pending_compaction="b"), None),
        ("compaction", _due(), Why.BELOW_THRESHOLD),
        ("compaction", _one(pending_compaction="b", has_new=False), Why.NOTHING_NEW),
        ("step-count", _due(), None),
        ("step-count", _one(unreflected_bytes=131_072), None),
        ("step-count", _one(), Why.BELOW_THRESHOLD),
        ("step-count", _due(next_eligible_at=NOW + MINUTE), Why.BACK_OFF),
        ("shutdown", _one(), None),
        ("shutdown", _one(has_new=False), Why.NOTHING_NEW),
        ("shutdown", _one(next_eligible_at=NOW + MINUTE), Why.BACK_OFF),
        ("manual", _one(next_eligible_at=NOW + MINUTE), None),
        ("manual", _one(has_new=False), Why.NOTHING_NEW),
        ("manual", _one(blocked=True), Why.KEPT_TIP),
        ("manual", _one("h/z"), Why.UNKNOWN_CONVERSATION),
    ],
)
def test_only_what_is_still_triggered_starts(trigger, standing, why):
    promotion = promote([_asked(trigger, "h/a")], _state(standing), CONFIG, NOW)
    assert (promotion.launch is None) == (why is not None)
    assert [each.why for each in promotion.dropped] == ([why] if why else [])


def test_the_next_request_starts_when_the_first_has_lost_its_reason():
    steps, dream = _asked("compaction", "h/a"), _asked("idle", pipeline="dream")
    promotion = promote([steps, dream], _state(_one()), CONFIG, NOW)
    assert promotion.launch == dream
    assert [each.asked for each in promotion.dropped] == [steps]


def test_only_the_part_that_lost_its_reason_is_dropped():
    state = _state(_due("h/a"), _one("h/b"))
    promotion = promote([_asked("step-count", "h/a", "h/b")], state, CONFIG, NOW)
    assert promotion.launch is not None
    assert _names(promotion.launch) == ["h/a"]
    assert [(_names(each.asked), each.why) for each in promotion.dropped] == [
        (["h/b"], Why.BELOW_THRESHOLD)
    ]


@pytest.mark.parametrize("values", [{"park": _parked()}, {"held": "journal_lost"}])
def test_automatic_requests_are_dropped_while_parked_or_held(values):
    state = _state(_due(), **values)
    steps, dream = _asked("step-count", "h/a"), _asked("idle", pipeline="dream")
    person = _asked("manual", "h/a")
    promotion = promote([steps, dream, person], state, CONFIG, NOW + 9 * HOUR)
    assert promotion.launch == person
    assert {each.asked for each in promotion.dropped} == {steps, dream}
    assert promotion.kept == ()


def test_a_spent_day_drops_what_would_call_a_model():
    state = _state(_due(), day=SPENT)
    steps = _asked("step-count", "h/a")
    assert promote([steps], state, CONFIG, NOW).dropped == (Dropped(steps, Why.DAY_RUNS, DAY_ENDS),)
    over = replace(_asked("manual", "h/a"), over_budget=True)
    assert promote([over], state, CONFIG, NOW).launch == over


def test_an_automatic_request_takes_the_engine_of_now():
    state = _state(_due(), engine=Engine("command", "c"))
    promotion = promote([_asked("step-count", "h/a")], state, CONFIG, NOW)
    assert promotion.launch is not None
    assert (promotion.launch.request.engine, promotion.launch.request.model) == ("command", "c")
    person = promote([_asked("manual", "h/a")], state, CONFIG, NOW).launch
    assert person is not None
    assert person.request.engine == "anthropic"


def test_a_dream_that_waits_is_dropped_when_dreams_are_off():
    dream = _asked("idle", pipeline="dream")
    for state, config, why in (
        (_state(engine=RULES), CONFIG, Why.CANNOT_DREAM),
        (_state(), replace(CONFIG, dream_enabled=False), Why.DISABLED),
    ):
        assert [each.why for each in promote([dream], state, config, NOW).dropped] == [why]
    off = replace(CONFIG, reflection_enabled=False)
    dropped = promote([_asked("step-count", "h/a")], _state(_due()), off, NOW).dropped
    assert [each.why for each in dropped] == [Why.DISABLED]


# E7.2


def test_while_parked_automatic_requests_learn_when_the_next_probe_is():
    state = _state(_due(), park=_parked())
    for event in (Settled(success=True), Shutdown(), Idle()):
        assert _decide(state, event) == Refuse(Why.PARKED, NOW + 6 * HOUR)


def test_a_probe_reads_the_conversation_that_failed_least():
    state = _state(
        _due("h/a", consecutive_failures=3), _due("h/b", consecutive_failures=1), park=_parked()
    )
    later = NOW + 6 * HOUR
    decision = _decide(state, Settled(success=True), now=later)
    assert isinstance(decision, Reserve)
    assert _names(decision.asked) == ["h/b"]
    assert decision.store is not None
    assert decision.store.last_probe_at == later
    again = replace(state, park=decision.store)
    assert _decide(again, Settled(success=True), now=later) == Refuse(Why.PARKED, later + 6 * HOUR)


def test_a_probe_never_waits_in_line():
    state = _state(_due(), park=_parked(), active={"reflection": "dream"})
    later = NOW + 7 * HOUR
    assert _decide(state, Shutdown(), now=later) == Refuse(Why.PARKED, later)


def test_a_refusal_for_the_day_uses_up_no_probe():
    state = _state(_due(), park=_parked(), day=SPENT)
    assert _decide(state, Shutdown(), now=NOW + 7 * HOUR) == Refuse(Why.DAY_RUNS, DAY_ENDS)


@pytest.mark.parametrize("event", [Settled(success=True), Shutdown(), Idle()])
def test_nothing_automatic_starts_while_held(event: Event):
    assert _decide(_state(_due(), held="journal_lost"), event) == Refuse(Why.HELD)
