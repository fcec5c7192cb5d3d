"""Which signals a command takes for a wish to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from reflector.surface.cli.stop import stoppable


@pytest.fixture
def under_nohup() -> Iterator[None]:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("under_nohup")
def test_a_command_under_nohup_hears_no_hang_up():
    with stoppable() as stop:
        signal.raise_signal(signal.SIGHUP)
        assert not stop()
        signal.raise_signal(signal.SIGTERM)
        assert stop()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
