"""`reflector experiences parse`."""

from __future__ import annotations

import argparse
import sys

from reflector.core.errors import UsageError
from reflector.core.experience import EpisodicFact, Experience
from reflector.pipelines.experiences import parsing
from reflector.surface.cli.output import Output, safe

_MOST = 16 * 1024 * 1024


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what it reads; it takes no arguments of its own."""
    parser.description = (
        "Read a model's reply as extraction does: stdin holds the reply, whatever stands around "
        "the object in it. Nothing is stored."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Read it."""
    del args
    reply = _reply()
    found = parsing.parse(reply)
    for one in found.experiences:
        _say_experience(out, one)
    if found.fact is not None:
        _say_fact(out, found.fact)
    for dropped in found.dropped:
        which = "the fact" if dropped.index is None else f"experience {dropped.index}"
        out.say(f"{out.style('dropped', 'yellow')}  {which}: {dropped.reason}")
    if not parsing.readable(reply):
        out.say("There is no answer in it: no object with `experiences` or `fact`.")
    elif not (found.experiences or found.fact or found.dropped):
        out.say("The answer is empty: no experience and no fact.")
    elif found.repaired:
        out.say("The reply had to be mended, or cut out of what stood around it.")
    out.object(parsing.as_json(found))
    return 0


def _reply() -> str:
    raw = sys.stdin.buffer.read(_MOST + 1)
    if len(raw) > _MOST:
        raise UsageError(f"stdin has more than {_MOST} bytes.", hint="Give one reply of a model.")
    return raw.decode("utf-8", "replace")


def _say_experience(out: Output, one: Experience) -> None:
    out.say(f"{out.style('experience', 'green')}  {safe(one.task)} ({one.confidence:g})")
    _say_lines(out, one.solution)
    _say_lines(out, one.boundary_envs)


def _say_fact(out: Output, one: EpisodicFact) -> None:
    out.say(f"{out.style('fact', 'green')}  {safe(one.subject) or '(no subject)'}")
    _say_lines(out, one.statement)
    for file in one.files:
        out.say(f"    {safe(file)}")


def _say_lines(out: Output, text: str) -> None:
    out.say(*(f"    {safe(line)}" for line in text.split("\n") if line))
