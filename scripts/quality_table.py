"""Dialogues judged one by one, each in a home of its own: the table of all of them, and its exit."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from reflector.runtime import birth
from reflector.runtime.settings import with_flags
from reflector.runtime.wiring import Context, context

_NAME = 52


class Named(Protocol):
    """A dialogue. `plain` marks what is expected of an engine without a model as well."""

    @property
    def name(self) -> str:
        """Return what the dialogue is about."""
        ...

    @property
    def plain(self) -> bool:
        """Tell whether the rules engine must pass it."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a dialogue, in the columns of the table, and what is wrong with it."""

    columns: Sequence[object]
    faults: Sequence[str]


_Dialogue = TypeVar("_Dialogue", bound=Named)


def table(
    about: str,
    dialogues: Sequence[_Dialogue],
    columns: Sequence[str],
    judged: Callable[[_Dialogue, str, str], Judged],
) -> int:
    """Judge every dialogue with the engine and model of the command line; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--engine", default="rules")
    parser.add_argument("--model", default="")
    args = parser.parse_args()
    os.environ.pop("REFLECTOR_HOME", None)
    chosen = [each for each in dialogues if args.engine != "rules" or each.plain]
    bad = 0
    _row("dialogue", columns, "what is wrong")
    for dialogue in chosen:
        found = judged(dialogue, args.engine, args.model)
        _row(dialogue.name, found.columns, "; ".join(found.faults) or "-")
        bad += bool(found.faults)
    print(f"{len(chosen) - bad} of {len(chosen)} as they should be")
    return 1 if bad else 0


@contextmanager
def home(engine: str, model: str) -> Iterator[tuple[Context, Path]]:
    """Give a fresh memory that works with an engine, and a folder beside it; both are removed."""
    with tempfile.TemporaryDirectory(prefix="reflector-quality-") as name:
        folder = Path(name)
        plain = context(str(folder / "home"), "default")
        birth.init(plain)
        # Read again: what was made is there now.
        made = context(str(folder / "home"), "default")
        flags = {"engine.name": ("--engine", engine), "engine.model": ("--model", model)}
        yield replace(made, settings=with_flags(made.settings, flags)), folder


def _row(name: str, columns: Sequence[object], wrong: str) -> None:
    told = "".join(f"{column!s:>18}" for column in columns)
    print(f"{name:<{_NAME}}{told}  {wrong}", flush=True)
