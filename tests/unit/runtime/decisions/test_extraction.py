"""Messages that wait for extraction: one call each, in order, nothing lost and nothing doubled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.core.park import Parked
from reflector.runtime.calls import allowance
from reflector.runtime.decisions import extraction
from reflector.runtime.decisions.extraction import Worked, work_off
from reflector.runtime.scheduling import Scheduler
from reflector.store import decisions, scheduling
from tests.support.messages_server import Reply, fails, says
from tests.support.projects import OVERLOADED, Person, delta, person

pytestmark = pytest.mark.slow

REDIS = "Queues live in Redis, never in SQLite."
REPLY = "Option 1 is Redis, option 2 is SQLite."


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Person]:
    with person(tmp_path) as made:
        yield made


def works(scene: Person) -> Worked:
    with scene.context().state() as state:
        return work_off(scene.context(), state)


def ledger(scene: Person) -> list[str]:
    with scene.context().state() as state:
        return [one.delta.statement for one in decisions.ledger(state.connection)]


def queued(scene: Person) -> int:
    with scene.context().state() as state:
        return len(decisions.jobs(state.connection))


def test_each_message_of_a_person_is_one_call_in_the_order_of_typing(scene: Person):
    scene.model.hears["Redis"] = [delta(REDIS, "Queues live in Redis")]
    scene.types(REDIS, REPLY, "and the second message here", "fine", "the third message is here")
    assert works(scene) == Worked(extracted=3, deltas=1)
    assert scene.model.asked == [REDIS, "and the second message here", "the third message is here"]
    assert ledger(scene) == [REDIS]
    assert works(scene) == Worked()


def test_the_call_is_cheap_and_forced_and_its_rules_are_always_the_same(scene: Person):
    scene.types("one long enough message", "ok", "another long enough message")
    works(scene)
    first, second = scene.model.requests
    assert first["tool_choice"] == {"type": "tool", "name": "record_deltas"}
    assert first["output_config"] == {"effort": "low"}
    assert first["max_tokens"] == 2048
    assert first["system"] == second["system"]


@pytest.mark.parametrize(("small", "asked"), [("tiny", "tiny"), ("", "m")])
def test_the_small_model_is_asked_and_without_one_the_engines(
    tmp_path: Path, small: str, asked: str
):
    with person(tmp_path, f'[models]\nsmall = "{small}"\n') as scene:
        scene.types("one long enough message")
        works(scene)
        assert [each["model"] for each in scene.model.requests] == [asked]


def test_a_short_answer_is_shown_with_what_it_answers(scene: Person):
    scene.types("which queue should we take?", REPLY, "opt 2")
    works(scene)
    shown = scene.model.requests[-1]["messages"][0]["content"][0]["text"]
    assert f"<assistant_context>\n{REPLY}\n" in shown
    assert "<previous_human>\nwhich queue should we take?\n" in shown


def test_what_cannot_decide_anything_starts_no_call(scene: Person):
    scene.types("/compact now please, all of it", "Done.", "ok", "More?", "好的", "So?", "..")
    assert works(scene) == Worked(skipped=4)
    assert scene.model.requests == []


def test_a_message_in_no_folder_and_one_of_a_subagent_wait_for_nothing(scene: Person):
    scene.says("We use Redis and never SQLite here.")
    assert queued(scene) == 0


def test_nothing_waits_while_decisions_are_off(tmp_path: Path):
    with person(tmp_path, "[decisions]\nenabled = false\n") as scene:
        scene.types("We use Redis and never SQLite here.")
        assert queued(scene) == 0


def test_reading_a_transcript_again_makes_no_second_job(scene: Person):
    scene.types("We use Redis and never SQLite here.")
    works(scene)
    scene.types()
    assert queued(scene) == 0


def test_the_bank_is_that_of_the_folder_when_it_was_typed(scene: Person):
    scene.types("We use Redis and never SQLite here.", session="a")
    scene.types("We use Redis and never SQLite here.", session="b", cwd=scene.project("other"))
    with scene.context().state() as state:
        banks = [job.bank.rpartition("-")[0] for job in decisions.jobs(state.connection)]
    assert banks == ["shop", "other"]


def test_a_provider_that_is_down_is_not_asked_again_before_its_time(scene: Person):
    scene.types("We use Redis and never SQLite here.", "ok", "and another message that waits")
    scene.model.down = OVERLOADED
    first = works(scene)
    assert (first.failed, first.held and first.held.why) == (1, "back_off")
    assert len(scene.model.requests) == 4
    assert works(scene).failed == 0
    assert len(scene.model.requests) == 4
    scene.model.down = None
    scene.clock.sleep(6)
    assert works(scene).extracted == 2


def test_after_six_faults_the_route_is_parked_and_probed_every_six_hours(scene: Person):
    scene.types("We use Redis and never SQLite here.")
    scene.model.down = OVERLOADED
    told: list[str] = []
    for _ in range(10):
        with scene.context().state() as state:
            work_off(scene.context(), state, parked=lambda: told.append("parked"))
        scene.clock.sleep(400)
    assert len(scene.model.requests) == 6 * 4
    assert told == ["parked"]
    held = works(scene).held
    assert held
    assert held.why == "parked"
    scene.clock.sleep(6 * 3600)
    works(scene)
    assert len(scene.model.requests) == 7 * 4
    scene.model.down = None
    scene.clock.sleep(6 * 3600 + 60)
    assert works(scene).extracted == 1
    with scene.context().state() as state:
        assert not isinstance(scheduling.park_state(state.connection, "anthropic"), Parked)


def test_a_message_that_no_model_takes_is_given_up_and_the_next_one_goes_on(scene: Person):
    scene.types("This message is refused for ever.", "ok", "this one is taken by the model")
    scene.model.down = Reply(stop="refusal")
    for _ in range(2):
        works(scene)
        scene.clock.sleep(60)
    scene.model.down = None
    assert works(scene) == Worked(extracted=1)
    with scene.context().state() as state:
        assert decisions.counts(state.connection).skipped == {"gave_up_refusal": 1}


def test_a_setting_that_names_no_server_parks_until_it_is_another(scene: Person):
    config = (scene.home / "config.toml").read_text()
    (scene.home / "config.toml").write_text(config.replace("http:", "nonsense "))
    scene.types("We use Redis and never SQLite here.")
    assert works(scene).failed == 1
    held = works(scene).held
    assert held
    assert held.why == "back_off"
    with scene.context().state() as state:
        assert isinstance(scheduling.park_state(state.connection, "anthropic"), Parked)
    (scene.home / "config.toml").write_text(config)
    with scene.context().state() as state:
        Scheduler(scene.context(), state).at_start()
    scene.clock.sleep(10)
    assert works(scene).extracted == 1


def test_an_answer_without_the_call_is_a_fault_and_no_empty_extraction(scene: Person):
    scene.types("We use Redis and never SQLite here.")
    scene.model.down = says("There is nothing in it.")
    assert works(scene).failed == 1
    assert queued(scene) == 1


def test_over_the_days_limit_nothing_is_asked_until_tomorrow(scene: Person):
    config = (scene.home / "config.toml").read_text().replace("1000.0", "0.001")
    (scene.home / "config.toml").write_text(config)
    scene.types("We use Redis and never SQLite here.", "ok", "and another message that waits")
    done = works(scene)
    assert (done.extracted, done.held and done.held.why) == (1, "day_cost")
    scene.clock.sleep(timedelta(days=1).total_seconds())
    assert works(scene).extracted == 1


def test_a_death_after_the_answer_loses_nothing_and_doubles_nothing(scene: Person, monkeypatch):
    class DeathError(BaseException):
        pass

    def dies(*_: object) -> None:
        raise DeathError

    scene.model.hears["Redis"] = [delta(REDIS, "Queues live in Redis")]
    scene.types(REDIS)
    with monkeypatch.context() as patch:
        # After the deltas were added, before the transaction ends.
        patch.setattr(allowance, "succeeded", dies)
        with pytest.raises(DeathError):
            works(scene)
    assert ledger(scene) == []
    assert works(scene) == Worked(extracted=1, deltas=1)
    assert ledger(scene) == [REDIS]


def test_a_message_that_was_forgotten_meanwhile_is_not_shown_to_a_model(scene: Person):
    scene.types("We use Redis and never SQLite here.")
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE entries SET hidden = 1")
    assert works(scene) == Worked(skipped=1)
    assert scene.model.requests == []


def test_every_call_leaves_a_record_of_its_day_with_counts(scene: Person):
    bad = delta("Invented.", "words that nobody typed")
    scene.model.hears["Redis"] = [delta(REDIS, "Queues live in Redis"), bad]
    scene.types(REDIS)
    scene.model.down = fails(401, "authentication_error")
    works(scene)
    scene.model.down = None
    scene.clock.sleep(7 * 3600)
    works(scene)
    [folder] = (scene.context().agent.path / "runs" / "jobs").iterdir()
    rows = [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]
    assert [row["error"] for row in rows] == ["auth", ""]
    assert rows[1]["step"] == "decisions.extract"
    assert rows[1]["counts"] == {"deltas": 1, "rejected.evidence_not_found": 1}
    assert rows[1]["conversation"] == "jsonl/talk"
    assert len(list((folder / "steps").iterdir())) == 2


def test_without_a_model_the_explicit_forms_are_taken(tmp_path: Path):
    scene = Person(tmp_path)
    scene.types("We use Redis, not SQLite.", "ok", "could you look at the failing test?")
    assert works(scene).extracted == 2
    assert len(ledger(scene)) == 1


def test_with_an_agent_cli_messages_wait_but_those_that_need_no_call(tmp_path: Path):
    scene = Person(tmp_path, '[engine]\nname = "command"\ncommand = "claude"\n')
    scene.types("We use Redis, not SQLite.", "Fine.", "ok", "So?", "/compact")
    done = works(scene)
    assert (done.skipped, done.held) == (2, extraction.NO_MODEL)
    assert queued(scene) == 1
    assert works(scene).skipped == 0


def test_what_a_person_asks_not_to_record_is_shown_to_no_model_nor_is_its_answer(scene: Person):
    private = "Don't record this: I am going to leave for another job."
    scene.types(private, "Oh, I am sorry to hear it.", "then back to the queue, please")
    assert works(scene) == Worked(extracted=1, skipped=1)
    said = json.dumps(scene.model.requests)
    assert "back to the queue" in said
    assert "another job" not in said
    assert "sorry to hear" not in said
