"""The default model is one that can still be asked, and whose price is known."""

from __future__ import annotations

from anthropic._data import DEPRECATED_MODELS

from reflector.agent.prices import Tokens, cost
from reflector.runtime.routing import route
from reflector.runtime.settings import load


def test_the_default_model_is_not_about_to_be_switched_off():
    model = route(load([], {}), {}).model
    assert model not in DEPRECATED_MODELS
    assert cost(model, Tokens(read=1_000_000)) is not None
