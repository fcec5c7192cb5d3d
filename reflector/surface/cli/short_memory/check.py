"""`reflector short-memory check`."""

from __future__ import annotations

import argparse

from reflector.memory.budget import estimate_tokens
from reflector.memory.short_memory import (
    MOST_CHARACTERS,
    MOST_ENTRIES,
    Fault,
    diagnostic,
    diagnostics,
    sentence,
)
from reflector.runtime.short_memory import Looked, candidates, look, looked
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.short_memory.where import add_cwd, note_when_off, start


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the file."""
    parser.description = (
        "Check MEMORY.md files like a linter: every fault with its line, then the counts. Exit 1"
        " when there is a fault. Nothing is changed."
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="instead of the session's files")
    add_cwd(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Check one file, or both files of a session."""
    if args.file is not None:
        return _one(look(args.file), out)
    found_context = context(args.home, args.identity)
    found = looked(candidates(found_context, start(args)))
    note_when_off(found_context, out)
    for one in found:
        out.say(*_lines(one, f" ({one.candidate.scope})"))
    out.object({"files": [_machine(one) for one in found]})
    return 1 if any(one.parsed.faults for one in found) else 0


def _one(found: Looked, out: Output) -> int:
    out.say(*_lines(found, ""))
    out.object(
        {
            "entries": [{"id": each.id, "body": each.body} for each in found.parsed.entries],
            "characters": found.parsed.characters,
            "diagnostics": diagnostics(found.parsed.faults),
            "injected": found.injected,
        }
    )
    return 1 if found.parsed.faults else 0


def _machine(one: Looked) -> dict[str, object]:
    said = [{"code": "same_file", "path": one.twin}] if one.hidden else []
    return {
        "path": one.candidate.path,
        "scope": one.candidate.scope,
        "exists": one.exists,
        "count": len(one.parsed.entries),
        "characters": one.parsed.characters,
        "tokens": estimate_tokens(one.rendered),
        "injected": one.injected,
        "diagnostics": [*said, *diagnostics(one.faults)],
    }


def _lines(one: Looked, scope: str) -> list[str]:
    path, parsed = safe(one.candidate.path), one.parsed
    if not one.exists:
        return [f"{path}: no file{scope}"]
    found = [_finding(path, fault) for fault in one.faults]
    if found:
        found.append(
            f"{path}: not_injected: agents are shown nothing of this file; the file on disk was"
            " not changed"
        )
    if one.hidden:
        found.append(f"{path}: same_file: this is also {safe(one.twin)} and is shown as that")
    counts = (
        f"entries: {len(parsed.entries)} of {MOST_ENTRIES}, characters: {parsed.characters} of"
        f" {MOST_CHARACTERS}, tokens: {estimate_tokens(one.rendered)}"
    )
    return [*found, f"{path}: {counts}{scope}"]


def _finding(path: str, fault: Fault) -> str:
    facts = diagnostic(fault)
    line = f":{facts['line']}" if "line" in facts else ""
    return f"{path}{line}: {facts['code']}: {safe(sentence(fault))}"
