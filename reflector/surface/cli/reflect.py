"""`reflector reflect`: the main job in the foreground."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from reflector.core.run import Outcome, Run, exit_code
from reflector.runtime.learned import Learned, learned
from reflector.runtime.present import run_json
from reflector.runtime.reflect import Options, Reflected, reflect
from reflector.runtime.review import asking
from reflector.runtime.wiring import Context, context
from reflector.surface.cli.choice import offer
from reflector.surface.cli.engine import add_engine, chosen
from reflector.surface.cli.left_out import left_out
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output, counted, error_json, safe
from reflector.surface.cli.pointers import aligned, ended, waits_for_you, where
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.watch import TerminalWatch


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the main job."""
    parser.description = (
        "Ingest FILEs (the format is detected), then work through what is new, snapshot by "
        "snapshot: one run, one validation, one merge each. Without FILE: every conversation with "
        "a backlog. Nothing new is not an error."
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", type=Path, help="a transcript")
    add("--conversation", action="append", default=[], metavar="ID", help="only this one")
    add("--recent", type=positive, default=0, metavar="N", help="read the last N steps again")
    add("--focus", default="", metavar="TEXT", help="what to look at above all")
    add("--dry-run", action="store_true", help="show what would be merged, and merge nothing")
    add("--review", action="store_true", help="let what is learned wait for your approval")
    add("--max-runs", type=positive, default=10, metavar="N", help="at most so many runs (10)")
    add_engine(parser)
    add("--over-budget", action="store_true", help="run although a limit of the day is reached")


def run(args: argparse.Namespace, out: Output) -> int:
    """Do the main job and say what was learned."""
    found = context(args.home, args.identity)
    found.require()
    if not args.engine and offer(found, "", out):
        found = context(args.home, args.identity)
    found = chosen(found, args)
    found = asking(found) if args.review else found
    options = Options(
        files=tuple(args.files),
        conversations=tuple(args.conversation),
        recent=args.recent,
        focus=args.focus,
        dry_run=args.dry_run,
        max_runs=args.max_runs,
        over_budget=args.over_budget,
    )
    with stoppable() as stop:
        done = reflect(found, options, TerminalWatch(out, stop))
    out.done()
    lessons = learned(found, done.runs)
    _show(found, done, lessons, where(args), out)
    out.object(_machine(done, lessons))
    return _exit_code(done)


def _machine(done: Reflected, lessons: Learned) -> dict[str, Any]:
    last = done.runs[-1] if done.runs else None
    machine: dict[str, Any] = {
        "run": run_json(last) if last else None,
        "runs": [run_json(each) for each in done.runs],
        "ingested": {
            "files": len(done.ingested),
            "conversations": len({each.conversation for each in done.ingested}),
            "entries": sum(each.entries for each in done.ingested),
            "skipped": sum(each.skipped for each in done.ingested),
            "steps": sum(each.steps for each in done.ingested),
        },
        "refused": [{"code": each.code, "message": each.message} for each in done.refused],
        "changes": [each.as_json() for each in lessons.changes],
        "report": lessons.report,
    }
    return machine | {"error": error_json(done.over)} if done.over else machine


def _exit_code(done: Reflected) -> int:
    if done.interrupted:
        return INTERRUPTED
    if done.over:
        return done.over.exit_code
    last = done.runs[-1].outcome if done.runs else None
    code = exit_code(last) if last else 0
    return code or (4 if done.waiting else 0) or (1 if done.refused else 0)


def _show_files(done: Reflected, out: Output) -> None:
    for file in done.ingested:
        bad = f", {counted(file.bad_lines, 'unreadable line')}" if file.bad_lines else ""
        new = counted(file.entries, "new entry", "new entries")
        out.say(
            f"Read {safe(Path(file.path).name)}: {new}, {counted(file.steps, 'step')} "
            f"({file.format}{bad})"
        )
        if file.left_out:
            out.say(f"  {left_out(file.left_out)}")
    for refusal in done.refused:
        out.refusal(refusal)


def _show(found: Context, done: Reflected, lessons: Learned, place: str, out: Output) -> None:
    _show_files(done, out)
    for each in done.runs:
        _show_run(each, out)
    for each in done.waiting:
        out.say(
            f"Run {each.id} waits: {safe(each.settlement.detail if each.settlement else '')}",
            "  It merges by itself at the next `reflector reflect`, once those changes are gone.",
        )
    if done.over:
        out.refusal(done.over)
    if not (done.runs or done.waiting or done.interrupted or done.refused or done.over):
        out.say(f"Nothing new to reflect on. `reflector prompt{place}` shows what is known.")
    _show_lessons(found, lessons, place, out)
    if done.interrupted:
        out.say("Stopped. What was merged stays; the rest is read next time.")


def _show_run(run: Run, out: Output) -> None:
    end = run.settlement
    if end is None:
        return
    colour = "green" if end.outcome is Outcome.MERGED else "yellow"
    entries = sum(each.entries for each in run.snapshots)
    read = counted(entries, "entry", "entries")
    line = f"Run {run.id} · {read} · {out.style(ended(run), colour)}"
    out.say(line)
    if end.merge_commit:
        out.say(f"  merge {end.merge_commit}")
    if end.detail:
        out.say(f"  {safe(end.detail)}")


def _show_lessons(found: Context, lessons: Learned, place: str, out: Output) -> None:
    if not lessons.added:
        _show_summary(lessons.report, out)
        return
    last = lessons.runs[-1]
    heading = "Learned:" if last.outcome is Outcome.MERGED else "Would learn:"
    out.say("", out.style(heading, "bold"))
    for path, lines in lessons.added.items():
        out.say(f"  {out.style(safe(path), 'cyan')}")
        for line in lines:
            out.say(f"    {safe(line)}")
    _show_where(found, last, place, out)


def _show_where(found: Context, last: Run, place: str, out: Output) -> None:
    """Name the commands that go on from here, ready to be copied."""
    if last.outcome is Outcome.AWAITING_REVIEW:
        out.say(*waits_for_you(last, place))
        return
    rows = [(f"reflector show {last.id} --diff{place}", "what it changed")]
    if last.outcome is Outcome.MERGED:
        rows.append((f"reflector undo {last.id}{place}", "take it back"))
    rows.append((f"reflector prompt{place}", "what your agent will see"))
    out.say("", "Where to look:", *aligned(rows), f"  {found.agent.repo}")


def _show_summary(report: str, out: Output) -> None:
    """Say in the engine's own words why nothing was learned."""
    _, _, rest = report.partition("## Summary\n")
    summary = rest.partition("\n## ")[0].strip()
    if summary:
        out.say("", safe(summary))
