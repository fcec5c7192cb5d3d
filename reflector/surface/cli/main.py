"""The `reflector` command: finds the command's module, runs it, turns errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol, cast

from reflector import __version__
from reflector.core.errors import ReflectorError, UsageError
from reflector.store.disk import unusable
from reflector.surface.cli import streams
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
    streams.prepare()
    out = stdout_output(json="--json" in argv)
    try:
        code = _told(argv, out)
        streams.flush()
    except streams.OutputError as error:
        out.complaint(error)
        code = error.exit_code
    except BrokenPipeError:
        # The reader went away (`| head`): not our error, and no traceback at exit either.
        streams.abandon(sys.stdout)
        code = 0
    streams.mutter("")
    return code


def _told(argv: Sequence[str], out: Output) -> int:
    """Run the command and say what went wrong, in the form asked for."""
    try:
        return _run(argv, out)
    except (streams.OutputError, BrokenPipeError):
        raise
    except ReflectorError as error:
        out.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        out.note("interrupted")
        return INTERRUPTED
    except OSError as error:
        # The machine refused something that no door of ours expected: still not a bug.
        refused = unusable(Path(), error)
        out.error(refused)
        return refused.exit_code
    except Exception:  # noqa: BLE001 - the top of the CLI
        return _bug(out)


def _run(argv: Sequence[str], out: Output) -> int:
    parser = _parser(argv)
    try:
        args = parser.parse_args(argv)
    except SystemExit as end:  # help was asked for and given
        return int(end.code or 0)
    if args.command is None:
        parser.print_help()
        return 0
    return _command(args.command).run(args, out)


def _bug(out: Output) -> int:
    import traceback  # noqa: PLC0415 - only when something is already wrong

    out.note(f"This is a bug in Reflector {__version__}. Please report it with these lines:")
    streams.mutter(traceback.format_exc())
    return BUG


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message, hint=f"`{self.prog} --help` explains it.")


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="reflector",
        description="A git-backed memory for coding agents that improves by itself.",
        epilog="`reflector COMMAND --help` explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", "-V", action="version", version=f"reflector {__version__}")
    chosen = next((word for word in argv if word in COMMANDS), None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    # Seventeen parsers that nobody asks anything cost more than the command itself.
    for name in [chosen] if chosen else COMMANDS:
        says = COMMANDS[name][1]
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
