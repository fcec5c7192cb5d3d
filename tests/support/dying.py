"""Ends of a process between two effects, as tests make them happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reflector.store.state import State


class DeathError(BaseException):
    """Stands for the end of the process; nobody catches it."""


def dead(*_words: Any, **_values: Any) -> None:
    """End the process."""
    raise DeathError


def dying(after: Callable[..., Any], when: Callable[..., bool]) -> Callable[..., Any]:
    """Return a function that does its work and ends the process."""

    def dies(*words: Any, **values: Any) -> Any:
        done = after(*words, **values)
        if when(*words):
            raise DeathError
        return done

    return dies


def died(patch: pytest.MonkeyPatch, number: int, work: Callable[[], object]) -> bool:
    """Do some work whose process ends before its so manyth transaction; tell if it came to that."""
    whole, left = State.transaction, number

    def transaction(state: State) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise DeathError
        return whole(state)

    with patch.context() as patched:
        patched.setattr(State, "transaction", transaction)
        try:
            work()
        except DeathError:
            return True
    return False
