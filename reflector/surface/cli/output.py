"""How the CLI speaks: text for people on a terminal, one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from reflector.core.errors import ReflectorError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def safe(text: str) -> str:
    """Show control characters instead of sending them: a title must not drive a terminal."""
    return "".join(
        char if char >= " " and not "\x7f" <= char <= "\x9f" else f"\\x{ord(char):02x}"
        for char in text.encode("utf-8", "replace").decode("utf-8")
    )


class Output:
    """Where a command writes. With `json` on, nothing but the one object reaches stdout."""

    def __init__(self, *, json: bool, colour: bool, live: bool) -> None:
        """Choose the form; `live` allows a progress line that is written over."""
        self.json = json
        self._colour = colour
        self._live = live
        self._open_line = False

    def style(self, text: str, name: str) -> str:
        """Colour a piece of text, on a terminal only."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self._colour else text

    def say(self, *lines: str) -> None:
        """Write lines for a person; nothing in the machine form."""
        if not self.json:
            self._end_line()
            for line in lines:
                print(line)

    def object(self, value: Mapping[str, object]) -> None:
        """Write the machine form."""
        if self.json:
            print(json.dumps(value, ensure_ascii=True, separators=(",", ":")))

    def note(self, line: str) -> None:
        """Write a lasting line to stderr, in both forms."""
        self._end_line()
        print(line, file=sys.stderr)

    def progress(self, line: str) -> None:
        """Show what is going on: one line that is written over on a terminal, else nothing."""
        if self._live:
            sys.stderr.write(f"\r\x1b[K{line[:110]}")
            sys.stderr.flush()
            self._open_line = True

    def done(self) -> None:
        """Take the progress line away."""
        self._end_line()

    def _end_line(self) -> None:
        if self._open_line:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._open_line = False

    def error(self, error: ReflectorError) -> None:
        """Report an error in the form asked for."""
        self._end_line()
        if self.json:
            body = {"code": error.code, "message": error.message, "hint": error.hint}
            facts = {name: str(value) for name, value in error.facts.items()}
            print(json.dumps({"error": body | facts}, ensure_ascii=True))
        else:
            self.refusal(error)

    def refusal(self, error: ReflectorError) -> None:
        """Report on stderr what one part of a command could not do; in the machine form nothing."""
        self._end_line()
        if self.json:
            return
        print(f"{self.style('error:', 'red')} {safe(error.message)}", file=sys.stderr)
        detail = error.facts.get("detail")
        if detail:
            print(f"       {safe(str(detail))}", file=sys.stderr)
        if error.hint:
            print(f"       {safe(error.hint)}", file=sys.stderr)


def stdout_output(*, json: bool) -> Output:
    """Return the output of this process."""
    terminal = sys.stdout.isatty() and not json
    return Output(json=json, colour=terminal, live=sys.stderr.isatty())
