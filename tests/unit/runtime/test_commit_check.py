"""The check before a person's commits: when it may come and go."""

from __future__ import annotations

import pytest

from reflector.core.errors import BusyError
from reflector.core.schedule import Reserve, Settled
from reflector.runtime.commit_check import install, remove
from tests.support.scenes import SCRIPTED, Scene


def test_the_check_waits_for_a_run_to_end(tmp_path):
    scene = Scene(tmp_path, "[trigger]\nstep_count = 2\n", engine=SCRIPTED)
    scene.says("Always use tabs.", "Yes.", "And four of them.", "Yes.")
    assert isinstance(scene.event(Settled(success=True)), Reserve)
    with pytest.raises(BusyError) as caught:
        install(scene.context())
    assert caught.value.exit_code == 4
    assert not remove(scene.context()).changed  # there is nothing to remove
    assert not (scene.repo / ".git/hooks/pre-commit").exists()


def test_a_name_with_quotes_and_spaces_reaches_the_check_whole(tmp_path):
    scene = Scene(tmp_path, identities=("it's mine",))
    done = install(scene.context("it's mine"))
    assert "--identity='it'\"'\"'s mine'" in done.hook.read_text("utf-8")
