"""How it is said what an import read, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reflector.core.errors import ReflectorError
from reflector.runtime.backfill import Imported, Wish
from reflector.runtime.ingest import Ingested
from reflector.runtime.look import Look
from reflector.surface.cli.left_out import left_out
from reflector.surface.cli.output import Output, counted, safe

_SHOWN = 10
_PASSED_OVER = {
    "unchanged": "unchanged",
    "older": "without activity since then",
    "not_a_transcript": "not a transcript",
    "link": "a link",
    "not_a_file": "not a regular file",
    "gone": "gone meanwhile",
}


def machine(done: Imported, wish: Wish) -> dict[str, Any]:
    """Return the machine form."""
    read: list[Ingested | Look] = [*done.files, *done.looks]
    return {
        "files": [each.as_json() for each in read],
        "refused": [_refused(each) for each in done.refused],
        "passed_over": dict(done.passed_over),
        "conversations": dict(done.conversations),
        "waits_for_no_run": dict(done.passed_by),
        "dry_run": wish.dry_run,
    }


def _refused(error: ReflectorError) -> dict[str, str]:
    path = str(error.facts.get("path") or "")
    return {"code": error.code, "message": error.message, "path": path}


def show(done: Imported, wish: Wish, out: Output) -> None:
    """Tell a person what was read: file by file what was named, in sum what was found."""
    for each in done.named:
        out.say(_line(each))
        if each.left_out:
            out.say(f"  {left_out(each.left_out)}")
    if done.is_sum:
        _sum(done, wish, out)
    _refusals(done.refused, _SHOWN if done.is_sum else len(done.refused), out)


def _line(each: Ingested) -> str:
    return (
        f"{safe(each.path)}: {counted(each.entries, 'new entry', 'new entries')}, "
        f"{counted(each.steps, 'step')}, {each.skipped} skipped, "
        f"{counted(each.bad_lines, 'bad line')} ({each.format}, {safe(each.conversation)})"
    )


def _sum(done: Imported, wish: Wish, out: Output) -> None:
    read: list[Ingested | Look] = [*done.files, *done.looks]
    entries = counted(sum(done.conversations.values()), "new entry", "new entries")
    talks = counted(len(done.conversations), "conversation")
    would = "Would read" if wish.dry_run else "Read"
    out.say(
        f"{would} {counted(len(read), 'file')} of {done.bytes / 1e6:.1f} MB: {entries} in {talks}."
    )
    for harness, count in sorted(Counter(each.format for each in read).items()):
        found = {key: n for key, n in done.conversations.items() if key.startswith(f"{harness}/")}
        many = counted(sum(found.values()), "new entry", "new entries")
        out.say(
            f"  {harness}: {counted(count, 'file')}, {counted(len(found), 'conversation')}, {many}"
        )
        _talks(found, out, all_of_them=wish.dry_run)
    for why, count in done.passed_over.items():
        out.say(f"  {count} {_PASSED_OVER.get(why, why)}")
    _left_out(read, out)
    if done.passed_by:
        out.say(
            f"{counted(len(done.passed_by), 'conversation')} of these will not be reflected on by "
            "themselves: you imported the past.",
            "  `reflector reflect --conversation ID --recent N` reads the last N steps of one.",
        )


def _talks(found: Mapping[str, int], out: Output, *, all_of_them: bool) -> None:
    if not all_of_them:
        return
    largest = sorted(found.items(), key=_by_size)
    for key, count in largest[:_SHOWN]:
        out.say(f"    {safe(key)}: {count}")
    if len(largest) > _SHOWN:
        out.say(f"    and {len(largest) - _SHOWN} more; --json names them all")


def _by_size(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


def _left_out(read: Sequence[Ingested | Look], out: Output) -> None:
    total: Counter[str] = Counter()
    for each in read:
        total.update(each.left_out)
    if total:
        out.say(f"  {left_out(total)}")


def _refusals(refused: Sequence[ReflectorError], shown: int, out: Output) -> None:
    for error in refused[:shown]:
        out.refusal(error)
    if len(refused) <= shown:
        return
    kinds = Counter(str(each.facts.get("looks_like") or each.code) for each in refused)
    told = ", ".join(f"{safe(kind)} {count}" for kind, count in sorted(kinds.items()))
    out.note(f"{len(refused)} files were refused in all ({told}); --json names them.")
