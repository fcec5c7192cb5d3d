"""The sandbox of an agent CLI: made out by the supervisor, put around the CLI by the child."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from reflector.agent.engine import Route
from reflector.agent.presets import preset_of
from reflector.runtime import sandbox
from reflector.runtime.agent_process import CONFINEMENT
from reflector.runtime.sandbox import Work
from reflector.runtime.sandbox_probe import Probed

# Programs that scripts of others are run by.
_INTERPRETERS = ("node", "bun", "deno")


def confine(
    run_folder: Path, found: Probed, work: Work, route: Route, environ: Mapping[str, str]
) -> None:
    """Write down the words that confine the CLI of a run."""
    host = sandbox.host_mounts()
    there = [Path(each.place) for each in host if each.kind != "--tmpfs"]
    programs = [
        each
        for each in _programs(route, environ)
        # What lies in a place that is there already needs none of its own, and could not get one.
        if not any(each.is_relative_to(place) for place in there)
    ]
    profile = sandbox.command_profile(host, work, _settings(route, environ), programs, environ)
    # Newer options forbid a sandbox within; that of a CLI keeps its commands off the network.
    options = () if preset_of(route).nests else found.options
    words = sandbox.arguments(found.program, profile, options)
    (run_folder / CONFINEMENT).write_text(json.dumps(words), "ascii")


def _settings(route: Route, environ: Mapping[str, str]) -> Iterator[Path]:
    for place in preset_of(route).places:
        if folder := environ.get(place.variable):
            path = Path(folder) / place.below
            if path.is_dir():
                yield path


def _programs(route: Route, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield what the CLI is made of and no system folder holds."""
    path = environ.get("PATH")
    words = preset_of(route).words
    for name in (words[0], *_INTERPRETERS):
        found = shutil.which(name, path=path)
        if found is None:
            continue
        yield from _of(Path(os.path.abspath(found)))  # noqa: PTH100 - a link is not followed yet
    for word in words[1:]:  # `python3 /home/me/agent.py`
        if os.path.isabs(word) and os.path.isfile(word):  # noqa: PTH113, PTH117 - a word
            yield Path(word)


def _of(program: Path) -> Iterator[Path]:
    real = program.resolve()
    if "node_modules" in real.parts:
        # A package finds its parts, and those of its neighbours, beside itself.
        yield Path(*real.parts[: real.parts.index("node_modules") + 1])
    else:
        yield real
        yield program
