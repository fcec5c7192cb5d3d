"""One tiny call to the chosen engine's model: does a run have a chance."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace

from reflector.agent.presets import preset_of
from reflector.core.redact import redact
from reflector.runtime.doctor import Check
from reflector.runtime.routing import route
from reflector.runtime.wiring import Context

_HINTS = {
    "auth": "A key is in the environment; with engine.base_url a server that wants none is asked.",
    "quota": "The account has no credit left, or reached its limit.",
    "model_not_found": "Set engine.model to a model that the server has.",
    "overloaded": "Is the server running, and engine.base_url right?",
}


def preflight(context: Context, engine: str) -> Check:
    """Ask the model for one word, with everything as a run has it."""
    if engine == "rules":
        return Check("engine", ok=True, message="The engine 'rules' asks no model.")
    if engine == "command":
        return _program(context)
    # The library costs a second to import.
    from reflector.agent.talk import Talk  # noqa: PLC0415
    from reflector.agent.wire import ProviderError, Wire  # noqa: PLC0415

    settings = context.settings
    plain = route(settings, context.environ)
    way = replace(
        plain, base_url=settings.text("engine.base_url"), most_output_tokens=16, idle_seconds=30
    )
    talk = Talk("Answer in one word.", ())
    talk.say("Are you there?")
    try:
        with closing(Wire(way, context.ambient)) as wire:
            message = wire.ask(way.model, talk.request())
    except ProviderError as error:
        said = redact(error.message).text[:300]
        hint = _HINTS.get(error.reason, "")
        return Check("engine", ok=False, message=f"{way.model} did not answer: {said}", hint=hint)
    return Check("engine", ok=True, message=f"{message.model} answers")


def _program(context: Context) -> Check:
    """Look for the agent CLI. It is not asked anything: that would cost a whole session."""
    name = preset_of(route(context.settings, context.environ, engine="command")).words[0]
    found = shutil.which(name, path=context.environ.get("PATH"))
    if found is None:
        hint = "Install it, or set engine.command to a program that is there."
        return Check("engine", ok=False, message=f"There is no program {name!r}.", hint=hint)
    return Check("engine", ok=True, message=f"The agent CLI is {found}")
