"""The count of secrets that a person typed, by rule, until a session told of it."""

from __future__ import annotations

import pytest

from reflector.core.ambient import stamp
from reflector.runtime import notices
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.scheduling import midnight
from reflector.store import scheduling
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]
PASSWORD = "hunter" + "22xyz"


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def told(scene: Scene) -> list[str]:
    found = scene.context()
    with found.state() as state:
        return [text for code, text in notices.notices(found, state) if code == "redacted"]


def test_nothing_replaced_is_nothing_to_say(scene):
    scene.says("Hello.", f"The assistant said {TOKEN}.")
    assert told(scene) == []


def test_what_a_person_typed_is_counted_by_rule_and_never_shown(scene):
    scene.says(f"Use {TOKEN}", "Fine.", f"and {TOKEN}, password: {PASSWORD}", "Fine.")
    (text,) = told(scene)
    assert text == (
        "3 secrets were replaced in what you typed since the last session "
        "(github 2, password-field 1)."
    )


def test_reading_again_counts_nothing(scene):
    scene.says(f"Use {TOKEN}", "Fine.")
    before = told(scene)
    ingest(scene.context(), scene.folder / "talk.jsonl", Quiet())
    assert told(scene) == before


def test_a_session_that_told_of_it_ends_the_count(scene):
    scene.says(f"Use {TOKEN}", "Fine.")
    with scene.context().state() as state, state.transaction() as connection:
        shown = notices.at_start(scene.context(), state)[1]
        notices.told(scene.context(), connection, shown)
    assert told(scene) == []
    scene.says(f"Again {TOKEN}", "Fine.")
    assert told(scene) == [
        "1 secret was replaced in what you typed since the last session (github 1)."
    ]


def test_a_day_whose_limit_is_reached_says_so_and_what_passes_it(scene):
    (scene.home / "config.toml").write_text(
        "[engine]\nname = 'anthropic'\n[day]\nmax_cost_usd = 1.5\n"
    )
    found = scene.context()
    with found.state() as state:
        assert "day_cost" not in dict(notices.notices(found, state))
        with state.transaction() as connection:
            begins = stamp(midnight(found.ambient.clock.now()))
            scheduling.add_job_cost(connection, begins, 1.6)
        said = dict(notices.notices(found, state))["day_cost"]
    assert said.startswith("Today's limit of 1.50 USD is reached (1.60)")
    assert "--over-budget" in said
