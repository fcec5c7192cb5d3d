"""How the CLI speaks: text for people on a terminal, one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from reflector.core.cleaning import clean_values
from reflector.core.errors import ReflectorError
from reflector.surface.cli.streams import mutter, tell, tell_bytes, tell_cleaned

_LONGEST = 4000
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def safe(text: str) -> str:
    """Show control characters instead of sending them: a title must not drive a terminal."""
    return "".join(
        char if char >= " " and not "\x7f" <= char <= "\x9f" else f"\\x{ord(char):02x}"
        for char in text.encode("utf-8", "replace").decode("utf-8")
    )


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number with the word for so many; `more` is the plural if it takes more than an s."""
    return f"{count} {one if count == 1 else more or f'{one}s'}"


def error_json(error: ReflectorError) -> dict[str, str | None]:
    """Return the machine form of an error."""
    body = {"code": error.code, "message": error.message, "hint": error.hint}
    facts = {name: value if value is None else str(value) for name, value in error.facts.items()}
    return body | facts


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
            tell("".join(f"{line}\n" for line in lines))

    def exact(self, text: str) -> None:
        """Write a text as it is: an agent gets these very bytes. A terminal's next line is its own."""
        if not self.json:
            tell(text)
            if not text.endswith("\n") and sys.stdout.isatty():
                tell("\n")

    def raw(self, value: bytes) -> None:
        """Write bytes that hold no secret any more."""
        if not self.json:
            tell_bytes(value)

    def object(self, value: Mapping[str, object] | None) -> None:
        """Write the machine form; None is `null`, where there is nothing to give."""
        if self.json:
            clean = None if value is None else clean_values(value)
            tell_cleaned(json.dumps(clean, ensure_ascii=True, separators=(",", ":")) + "\n")

    def note(self, line: str) -> None:
        """Write a lasting line to stderr, in both forms."""
        self._end_line()
        mutter(f"{line}\n")

    def progress(self, line: str) -> None:
        """Show what is going on: one line that is written over on a terminal, else nothing."""
        if self._live:
            mutter(f"\r\x1b[K{line[:110]}")
            self._open_line = True

    def done(self) -> None:
        """Take the progress line away."""
        self._end_line()

    def _end_line(self) -> None:
        if self._open_line:
            mutter("\r\x1b[K")
            self._open_line = False

    def error(self, error: ReflectorError) -> None:
        """Report an error in the form asked for."""
        self._end_line()
        if self.json:
            clean = clean_values({"error": error_json(error)})
            tell_cleaned(json.dumps(clean, ensure_ascii=True) + "\n")
        else:
            self.refusal(error)

    def refusal(self, error: ReflectorError) -> None:
        """Report on stderr what one part of a command could not do; in the machine form nothing."""
        self._end_line()
        if self.json:
            return
        self.complaint(error)

    def complaint(self, error: ReflectorError) -> None:
        """Write an error to stderr for a person, whatever form was asked for."""
        mark = "\x1b[31merror:\x1b[0m" if self._live and self._colour else "error:"
        mutter(f"{mark} {safe(_short(error.message))}\n")
        for more in (str(error.facts.get("detail") or ""), error.hint):
            if more:
                mutter(f"       {safe(_short(more))}\n")


def stdout_output(*, json: bool) -> Output:
    """Return the output of this process."""
    from reflector.runtime.wiring import plain_terminal  # noqa: PLC0415 - help needs no wiring

    plain = plain_terminal()
    terminal = sys.stdout.isatty() and not json and not plain
    return Output(json=json, colour=terminal, live=sys.stderr.isatty() and not plain)


def _short(text: str) -> str:
    """Keep both ends of a text too long to be read: somebody's argument of 100 KB, repeated."""
    return text if len(text) <= _LONGEST else f"{text[:400]} […] {text[-400:]}"
