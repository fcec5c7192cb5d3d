"""The `reflector` command: finds the command's module, runs it, turns errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from reflector import __version__
from reflector.core.errors import ReflectorError
from reflector.surface.cli.output import Output, stdout_output

BUG = 70
INTERRUPTED = 130

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "make the memory of an identity, with its seed documents"),
    "reflect": ("reflect", "learn from transcripts: ingest, reflect, validate, merge"),
    "ingest": ("ingest", "journal transcripts only; nothing is reflected on"),
    "pause": ("pause", "stop recording, for good or for a time"),
    "resume": ("resume", "go on recording"),
    "status": ("status", "health at a glance"),
    "runs": ("runs", "the run ledger, newest first"),
    "show": ("show", "what one run read and changed"),
    "undo": ("undo", "take one run's merge back by a new commit"),
    "retry": ("retry", "read what one run read again; moves no cursor"),
    "park": ("park", "the circuit breaker: show or clear it"),
    "sweep": ("sweep", "remove what killed runs left behind"),
    "event": ("event", "tell that something happened: what embedders and hooks call"),
    "supervise": ("supervise", "the long-lived supervisor of all identities"),
    "prompt": ("prompt", "the compiled memory block, as an agent gets it"),
    "config": ("config", "the settings and where they come from"),
    "doctor": ("doctor", "look for trouble and say what to do"),
}
"""Command name → (module in this package, what it does). Modules are imported when chosen."""


class Command(Protocol):
    """What a command's module offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments."""
        ...

    def run(self, args: argparse.Namespace, out: Output) -> int:
        """Do it; return the exit code."""
        ...


def main(argv: Sequence[str]) -> int:
    """Run one command line."""
    parser = _parser(argv)
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    out = stdout_output(json=args.json)
    try:
        code = _command(args.command).run(args, out)
        sys.stdout.flush()
        return code
    except ReflectorError as error:
        out.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        out.note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`): not our error, and no traceback at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:  # noqa: BLE001 - the top of the CLI
        return _bug(out)


def _bug(out: Output) -> int:
    import traceback  # noqa: PLC0415 - only when something is already wrong

    out.note(f"This is a bug in Reflector {__version__}. Please report it with these lines:")
    traceback.print_exc()
    return BUG


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reflector",
        description="A git-backed memory for coding agents that improves by itself.",
        epilog="`reflector COMMAND --help` explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", "-V", action="version", version=f"reflector {__version__}")
    chosen = next((word for word in argv if word in COMMANDS), None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (_, says) in COMMANDS.items():
        command = commands.add_parser(name, help=says, description=_sentence(says))
        command.set_defaults(json=False)
        command.allow_abbrev = False
        command.add_argument("--home", metavar="DIR", help="the Reflector home")
        command.add_argument("--identity", metavar="NAME", help="whose memory")
        command.add_argument("--json", action="store_true", help="print one JSON object")
        if name == chosen:
            _command(name).configure(command)
    return parser


def _sentence(says: str) -> str:
    return says[0].upper() + says[1:] + "."


def _command(name: str) -> Command:
    module = COMMANDS[name][0]
    return cast("Command", importlib.import_module(f"reflector.surface.cli.{module}"))
