"""The flags that choose an engine and a model for one command."""

from __future__ import annotations

import argparse
from dataclasses import replace

from reflector.runtime.settings import with_flags
from reflector.runtime.wiring import Context


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "--engine", default="", metavar="NAME", help="rules, anthropic or command, for this run"
    )
    parser.add_argument("--model", default="", metavar="NAME", help="its model, for this run")


def chosen(found: Context, args: argparse.Namespace) -> Context:
    """Return the context with what the flags choose."""
    flags = {"engine.name": ("--engine", args.engine), "engine.model": ("--model", args.model)}
    return replace(found, settings=with_flags(found.settings, flags))
