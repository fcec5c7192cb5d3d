"""Single values of a settings file changed in its text: every other byte stays as it was."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_HEADER = re.compile(r"[ \t]*\[[ \t]*([A-Za-z0-9_.-]+)[ \t]*\][ \t]*(#.*)?\r?\n?\Z")
_ANY_HEADER = re.compile(r"[ \t]*\[")
_VALUE = r"""("(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')"""


class UnclearError(ValueError):
    """The file is written in a way in which we cannot place a value and be sure of it."""


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return a settings file with these strings set; keys are `table.name`.

    What comes out is read again: it must mean what the old text meant, but for these values.
    Raises UnclearError.
    """
    new = text
    try:
        wanted = tomllib.loads(text.removeprefix("\ufeff"))
        # From the last to the first, so that they stand in order in a new table.
        for key, value in reversed(list(values.items())):
            new = _with_value(new, key, value)
            _set(wanted, key, value)
        found = tomllib.loads(new.removeprefix("\ufeff"))
    except (ValueError, TypeError, AttributeError) as error:
        raise UnclearError(str(error)) from error
    if found != wanted:
        raise UnclearError("a value ended up where it does not belong")
    return new


def _set(settings: dict[str, Any], key: str, value: str) -> None:
    table, _, name = key.partition(".")
    settings.setdefault(table, {})[name] = value


def _with_value(text: str, key: str, value: str) -> str:
    table, _, name = key.partition(".")
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in text else "\n"
    said = json.dumps(value, ensure_ascii=False)
    here, header, beside = "", -1, -1
    inside = re.compile(rf"([ \t]*{re.escape(name)}[ \t]*=[ \t]*){_VALUE}")
    dotted = re.compile(
        rf"([ \t]*{re.escape(table)}[ \t]*\.[ \t]*{re.escape(name)}[ \t]*=[ \t]*){_VALUE}"
    )
    for number, line in enumerate(lines):
        if _ANY_HEADER.match(line):
            found = _HEADER.match(line)
            here = found[1] if found else "?"
            header = number if here == table else header
            continue
        pattern = inside if here == table else dotted
        if here in ("", table) and (old := pattern.match(line)):
            lines[number] = old[1] + said + line[old.end() :]
            return "".join(lines)
        if not here and re.match(rf"[ \t]*{re.escape(table)}[ \t]*\.", line):
            beside = number
    if header >= 0:
        return _after(lines, header, f"{name} = {said}{newline}", newline)
    if beside >= 0:
        return _after(lines, beside, f"{key} = {said}{newline}", newline)
    gap = newline if text.strip() else ""
    end = "" if text.endswith("\n") or not text.strip() else newline
    return f"{text}{end}{gap}[{table}]{newline}{name} = {said}{newline}"


def _after(lines: list[str], number: int, new: str, newline: str) -> str:
    if not lines[number].endswith("\n"):
        lines[number] += newline
    return "".join([*lines[: number + 1], new, *lines[number + 1 :]])
