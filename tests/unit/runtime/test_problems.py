"""What is abnormal, and what only takes a moment."""

from __future__ import annotations

import pytest

from reflector.core.schedule import Settled
from reflector.runtime.status import status
from tests.support.scenes import Scene


@pytest.mark.parametrize(("seconds", "told"), [(0, []), (59, []), (61, ["run_interrupted"])])
def test_a_run_that_was_just_reserved_is_not_called_interrupted(tmp_path, seconds, told):
    scene = Scene(tmp_path, "[trigger]\nstep_count = 1\n")
    scene.says("Use uv.", "Yes.")
    scene.event(Settled(success=True))
    scene.clock.sleep(seconds)
    found = [each.code for each in status(scene.context()).problems]
    assert [code for code in found if code.startswith("run_")] == told
