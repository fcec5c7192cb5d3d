"""Deliberate errors, as somebody sees them who catches none."""

from __future__ import annotations

import traceback

from reflector.core.errors import HomeError


def test_a_traceback_ends_with_the_next_step():
    error = HomeError("There is no memory.", hint="`reflector init` makes it.")
    lines = traceback.format_exception(error)
    assert lines[-1].strip() == "`reflector init` makes it."
    assert str(error) == "There is no memory."
