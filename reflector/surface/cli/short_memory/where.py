"""Which file a command is about: the options that all commands of short memory share."""

from __future__ import annotations

import argparse
from pathlib import Path

from reflector.runtime.wiring import Context
from reflector.surface.cli.output import Output


def add_cwd(parser: argparse.ArgumentParser) -> None:
    """Add the folder that the session started in."""
    parser.add_argument(
        "--cwd", metavar="DIR", help="where the session started; it chooses the project file"
    )


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add which of the two files is changed."""
    parser.add_argument(
        "--scope",
        choices=["user", "project"],
        default="user",
        help="the file of what holds everywhere (default), or of this project alone",
    )
    add_cwd(parser)


def start(args: argparse.Namespace) -> Path | None:
    """Return the folder that the session started in; None when it is gone."""
    try:
        return Path(args.cwd).absolute() if args.cwd else Path.cwd()
    except OSError:
        return None


def note_when_off(context: Context, out: Output) -> None:
    """Tell a person whose files nobody is shown."""
    if not context.settings.flag("short_memory.enabled"):
        out.note("short_memory.enabled is false: agents are not shown these files.")
