"""A run by a model: from the launch to the first request, and what each tool call costs us."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks.measure import Row, both, ms, repeated
from reflector.runtime import birth
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.settings import with_flags
from reflector.runtime.wiring import Context, context
from tests.support.messages_server import Script, calls, serving
from tests.support.transcripts import conversation

_END = calls(("finish", {"report": "Summary: nothing."}))


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Reflect with a scripted server that answers at once."""
    rounds, turns = (2, 5) if quick else (7, 40)
    looks = [calls(("search", {"text": f"word {number}"})) for number in range(turns)]
    plain = repeated(rounds, lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    firsts: list[float] = []
    each: list[float] = []
    most = 0
    for number in range(rounds):
        script = Script([*looks, _END])
        began, peak = _reflected(folder / f"model-{number}", script)
        firsts.append(script.heard[0] - began)
        each += [
            later - answered
            for answered, later in zip(script.answered, script.heard[1:], strict=False)
        ]
        most = max(most, peak)
    first = min(firsts)
    return [
        Row(
            "from the start of a run to its first request, against `python -c pass`",
            f"{ms(first)} / {ms(median(firsts))}",
            both(plain),
            first / plain.least,
            note="worktree, sandbox, interpreter and SDK included",
        ),
        Row(
            "between an answer with one tool call and the next request",
            f"{ms(min(each))} / {ms(median(each))}",
            "",
        ),
        Row("memory of the child at its peak", f"{most // 1024} MiB", ""),
    ]


def _reflected(folder: Path, script: Script) -> tuple[float, int]:
    """Run once; return when it began, and the largest child so far in KiB."""
    import resource  # noqa: PLC0415 - not on every system

    folder.mkdir()
    with serving(script) as url:
        birth.init(context(str(folder / "home"), "default"))
        (folder / "home" / "config.toml").write_text(
            f'[engine]\nname = "anthropic"\nbase_url = "{url}"\n', "utf-8"
        )
        found = _chosen(context(str(folder / "home"), "default"))
        talk = conversation(folder / "talk.jsonl", "word 1", "Noted.")
        began = monotonic()
        (run,) = reflect(found, Options(files=[talk]), Quiet()).runs
    if run.outcome is None or run.outcome.value != "no_changes":
        raise RuntimeError(f"the run ended otherwise: {run.settlement}")
    return began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def _chosen(found: Context) -> Context:
    environ = {**os.environ, "ANTHROPIC_API_KEY": "none"}
    flags = {"engine.model": ("--model", "bench")}
    return replace(found, environ=environ, settings=with_flags(found.settings, flags))
