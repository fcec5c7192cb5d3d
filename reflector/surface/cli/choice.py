"""Offering the choice of an engine: once, on a terminal, to a person."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from reflector.runtime import engine_choice
from reflector.runtime.engine_choice import Choice
from reflector.runtime.wiring import Context
from reflector.surface.cli.output import Output, safe

_TRIES = 3


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the flag that answers the question before it is asked."""
    parser.add_argument(
        "--engine",
        default="",
        choices=engine_choice.NAMES,
        help="who writes the reflections from now on; written into the settings",
    )


def check(found: Context, answer: str) -> None:
    """Refuse a flag's answer that cannot be taken, before anything is done."""
    if answer:
        engine_choice.named(found.environ, answer)


def offer(found: Context, answer: str, out: Output) -> str:
    """Take the answer of a flag, or ask a person who was never asked; return what was chosen.

    "" says that nothing was chosen: without a terminal and with --json nobody is asked.
    """
    chosen: Choice | None = None
    if answer:
        chosen = engine_choice.named(found.environ, answer)
    elif _person(out) and not engine_choice.offered(found):
        offers = engine_choice.choices(found.environ)
        chosen = ask(offers, sys.stdin.readline, out.say)
        engine_choice.note_offered(found)
    if chosen is None:
        return ""
    engine_choice.choose(found, chosen)
    out.say(f"Engine: {chosen.name} (engine.name in {safe(str(found.home.settings))}).")
    return chosen.name


def _person(out: Output) -> bool:
    """Tell whether there is somebody to ask."""
    return not out.json and sys.stdin.isatty() and sys.stdout.isatty()


def ask(
    offers: Sequence[Choice], read: Callable[[], str], say: Callable[[str], None]
) -> Choice | None:
    """Ask until there is an answer; Enter takes the first, the end of the input none."""
    say("")
    say("Who should write the reflections? You are asked once; nothing else chooses it for you.")
    for number, each in enumerate(offers, 1):
        say(f"  {number}  {each.name:<10} {safe(each.says)}")
    for _ in range(_TRIES):
        say(f"A number or a name; Enter takes {offers[0].name}:")
        line = read()
        if not line:
            return None
        word = line.strip() or "1"
        for number, each in enumerate(offers, 1):
            if word in (str(number), each.name):
                return each
    say(f"Nothing was chosen: {offers[0].name} it is, until you write another into the settings.")
    return None
