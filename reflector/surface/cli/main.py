"""The `reflector` command: finds the command's module, runs it, turns errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol, cast

from reflector import __version__
from reflector.core.errors import ReflectorError, UsageError
from reflector.core.near import did_you_mean
from reflector.store.disk import unusable
from reflector.surface.cli import streams
from reflector.surface.cli.commands import COMMANDS, Entry, Group, says
from reflector.surface.cli.output import Output, stdout_output

BUG = 70
INTERRUPTED = 130
_EXAMPLE = "example: "
_MISSING = "the following arguments are required: "
_SAME = {"list": "ls", "show": "cat", "rm": "delete", "remove": "delete", "mv": "rename"}
"""What people type who know the command by another name."""
_CHOICE = re.compile(
    r"argument (?P<what>\S+): invalid choice: '(?P<word>.*)' \(choose from (?P<names>.*)\)\Z",
    re.DOTALL,
)
"""How argparse says that a word is none of the possible ones."""


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
        args, rest = parser.parse_known_args(argv)
    except SystemExit as end:  # help was asked for and given
        return int(end.code or 0)
    if rest:  # said by the command that was meant: the parser above it knows nothing of its words
        options = re.findall(r"--[\w-]+", args.parser.format_usage())
        hint = did_you_mean(rest[0], options) + f"`{args.prog} --help` explains it."
        raise UsageError(f"unrecognized arguments: {' '.join(rest)}", hint=hint)
    if args.module is None:
        args.parser.print_help()
        return 0
    return _module(args.module).run(args, out)


def _bug(out: Output) -> int:
    import traceback  # noqa: PLC0415 - only when something is already wrong

    out.note(f"This is a bug in Reflector {__version__}. Please report it with these lines:")
    streams.mutter(traceback.format_exc())
    return BUG


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError; for a word that is none of the possible ones, with the nearest of them."""
        hint = f"`{self.prog} --help` explains it."
        if message.startswith(_MISSING):
            message = f"`{self.prog}` needs {message.removeprefix(_MISSING)}."
            hint = f"Such as: {_example(self.prog)}"
        if found := _CHOICE.match(message):
            word, names = found["word"], re.findall(r"[\w-]+", found["names"])
            if found["what"] == "COMMAND":  # dozens of names are no answer
                message = f"`{self.prog}` has no command {word!r}."
                names += ["--help", "--version"]
            meant = _SAME.get(word, word)
            hint = did_you_mean(meant if meant in names else word, names) + hint
        raise UsageError(message, hint=hint)

    def format_help(self) -> str:
        """Return the help, with an example under it."""
        if example := _example(self.prog):
            self.epilog = f"{_EXAMPLE}{example}"
        return super().format_help()


class _Root(_Parser):
    """The parser of `reflector` itself: dozens of commands need headings, which argparse has not."""

    def format_help(self) -> str:
        """Return every command under its heading."""
        from reflector.surface.cli.overview import overview  # noqa: PLC0415 - only for help

        return overview()


class _Help(argparse.HelpFormatter):
    """Help whose longest command keeps to its line: argparse forgets that commands are indented."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Leave an example on its line: a command that is copied must not be broken in two."""
        return text if text.startswith(_EXAMPLE) else super()._fill_text(text, width, indent)

    def add_argument(self, action: argparse.Action) -> None:
        """Make room for the indent."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += 2


def _example(prog: str) -> str:
    from reflector.surface.cli.examples import EXAMPLES  # noqa: PLC0415 - only for help and errors

    return EXAMPLES.get(prog, "")


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Root(prog="reflector", allow_abbrev=False)
    parser.set_defaults(module=None, parser=parser, prog=parser.prog)
    parser.set_defaults(home=None, identity=None, json=False)
    parser.add_argument("--version", "-V", action="version", version=f"reflector {__version__}")
    _everywhere(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _add(commands, COMMANDS, _words(argv))
    return parser


def _everywhere(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes, before its name or after it: absent, it leaves the other's."""
    absent = argparse.SUPPRESS
    parser.add_argument("--home", metavar="DIR", default=absent, help="the Reflector home")
    parser.add_argument("--identity", metavar="NAME", default=absent, help="whose memory")
    parser.add_argument("--json", action="store_true", default=absent, help="print one JSON object")


def _words(argv: Sequence[str]) -> list[str]:
    """Return what may be names of commands: no options, and not what stands behind these two."""
    return [
        word
        for before, word in zip(("", *argv), argv, strict=False)
        if not word.startswith("-") and before not in {"--home", "--identity"}
    ]


def _add(
    commands: argparse._SubParsersAction[_Parser], table: Mapping[str, Entry], words: Sequence[str]
) -> None:
    """Add the command that the words begin with; the names of all when they begin with none."""
    chosen = words[0] if words and words[0] in table else None
    # Dozens of parsers that nobody asks anything cost more than the command itself.
    for name in [chosen] if chosen else table:
        entry = table[name]
        said = says(entry)
        command = commands.add_parser(name, help=said, description=_sentence(said))
        if name != chosen:
            continue
        command.allow_abbrev = False
        command.formatter_class = _Help
        command.set_defaults(parser=command, prog=command.prog)
        _everywhere(command)
        if isinstance(entry, Group):
            command.epilog = f"`{command.prog} COMMAND --help` explains a command."
            inner = command.add_subparsers(metavar="COMMAND", title="commands")
            _add(inner, entry.commands, words[1:])
        else:
            command.set_defaults(module=entry[0])
            _module(entry[0]).configure(command)


def _sentence(said: str) -> str:
    return said[0].upper() + said[1:] + "."


def _module(name: str) -> Command:
    return cast("Command", importlib.import_module(f"reflector.surface.cli.{name}"))
