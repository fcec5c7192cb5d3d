"""`reflector show`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from reflector.core.run import Outcome, Run
from reflector.runtime import steps
from reflector.runtime.present import run_json
from reflector.runtime.supervisor import read_result
from reflector.runtime.undo import undone_by
from reflector.runtime.wiring import Context, context
from reflector.store import reservations
from reflector.surface.cli.output import Output, counted, safe
from reflector.surface.cli.pointers import ended
from reflector.vcs.reads import Reads


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run, and how much of it."""
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")
    parser.add_argument("--diff", action="store_true", help="show the changed lines")
    parser.add_argument("--steps", action="store_true", help="show every call of a model")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show one run: what it read, what it changed, how it ended."""
    found = context(args.home, args.identity)
    with found.state() as state:
        shown = reservations.find(state.connection, args.run)
    diff, commits = evidence(found, shown)
    said = report(found, shown)
    undone = undone_by(found, [shown]).get(shown.id, "")
    tell(shown, said, out, undone)
    if args.diff and diff:
        out.say("", *(coloured(line, out) for line in diff.rstrip("\n").split("\n")))
    told = list(steps.read(found.agent.run(shown.id))) if args.steps else []
    out.say(*map(_step, told))
    body: dict[str, object] = {
        "run": run_json(shown),
        "diff": diff,
        "report": said,
        "commits": commits,
    }
    body |= {"undone_by": undone or None}
    out.object({**body, "steps": told} if args.steps else body)
    return 0


def _step(row: Mapping[str, Any]) -> str:
    tokens = sum(row["tokens"].values())
    what = row["error"] or ", ".join(row["tools"]) or "words only"
    return safe(
        f"  {row['number']:>3} {row['step']} {row['model']} {row['elapsed_ms']} ms, "
        f"{tokens} tokens: {what} {row['detail']}".rstrip()
    )


def report(found: Context, shown: Run) -> str:
    """Return what the engine reported, "" when its folder is gone."""
    result = read_result(found.agent.run(shown.id))
    return str(result["finish"]["report"]) if result else ""


def evidence(found: Context, shown: Run) -> tuple[str, list[dict[str, Any]]]:
    """Return the difference that a run made, and its commits; nothing when they are gone."""
    if not shown.base or not shown.tip or shown.base == shown.tip:
        return "", []
    with Reads(found.agent.repo) as reads:
        if reads.resolve(shown.tip) is None:
            return "", []
        commits = [
            {"sha": each.sha, "message": each.message, "at": each.at}
            for each in reads.chain(shown.base, shown.tip) or ()
        ]
        return reads.diff_text(shown.base, shown.tip), commits


def tell(shown: Run, said: str, out: Output, undone: str = "") -> None:
    """Say what a run read and how it ended."""
    end = shown.settlement
    out.say(
        f"Run {out.style(shown.id, 'bold')}: {ended(shown)}",
        f"  {shown.request.pipeline}, {shown.request.trigger}, engine {shown.request.engine}, "
        f"{'sandboxed' if shown.sandboxed else 'not sandboxed'}",
        f"  {shown.reserved_at} to {shown.ended_at or 'now'}",
    )
    if end and end.merge_commit:
        out.say(f"  merge {end.merge_commit} of {shown.tip}")
    if undone:
        out.say(f"  undone by {undone}")
    if end and end.detail:
        out.say(f"  {safe(end.detail)}")
    for each in shown.snapshots:
        out.say(
            f"  read {safe(each.conversation)}: {counted(each.entries, 'entry', 'entries')}, {counted(each.size, 'byte')}, "
            f"{each.backlog_remaining} left after it",
            f"       {each.first_entry} .. {each.last_entry}",
        )
    for finding in end.findings if end else ():
        out.say(
            f"  {finding['severity']}: {safe(str(finding['path']))}:{finding['line']} "
            f"{safe(str(finding['message']))}"
        )
    if shown.outcome is Outcome.AWAITING_REVIEW:
        out.say(f"  it waits for you: reflector review approve {shown.id} (or reject)")
    if said:
        out.say("", *(safe(line) for line in said.rstrip().split("\n")))


def coloured(line: str, out: Output) -> str:
    """Return a line of a difference as a person sees it."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    colour = colours.get(line[:1])
    return out.style(safe(line), colour) if colour else safe(line)
