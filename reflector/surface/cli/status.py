"""`reflector status`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from reflector.agent.abilities import ABILITIES
from reflector.runtime.calls.names import ASKS
from reflector.runtime.status import Status, status
from reflector.runtime.wiring import context
from reflector.surface.cli.left_out import left_out
from reflector.surface.cli.output import Output, counted, safe
from reflector.surface.cli.pause import until
from reflector.surface.cli.pointers import ended
from reflector.surface.cli.runs import taken_back

_LISTED = 10
_SILENT = "never heard: it speaks from the next session on"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    del parser


def run(args: argparse.Namespace, out: Output) -> int:
    """Show health at a glance."""
    found = status(context(args.home, args.identity))
    out.object(found.as_json())
    if not out.json:
        _memory(found, out)
        _recording(found, out)
        _harnesses(found, out)
        _conversations(found, out)
        _decisions(found.decisions, out)
        _experiences(found, out)
        _runs(found, out)
        told = set(found.next_session.notice)
        for sentence in (each for _, each in found.notices if each not in told):
            out.say(safe(sentence))
        for problem in found.problems:
            out.say(
                f"{out.style('problem', 'red')}  {safe(problem.message)}", f"  {safe(problem.hint)}"
            )
    return 0


def _memory(found: Status, out: Output) -> None:
    context = found.context
    budget = context.settings.number("prompt.budget_tokens")
    dirty = f", {len(found.git.dirty)} uncommitted" if found.git.dirty else ""
    engine = context.settings.text("engine.name")
    goes = _where_text_goes(found, asks=ABILITIES[engine].calls_model)
    out.say(
        f"{out.style(context.agent.identity, 'bold')} in {context.home.path}",
        f"memory   {counted(found.documents, 'document')} at {found.git.head[:12]}{dirty}; system tier "
        f"{found.system_tokens} of {budget} tokens",
        f"engine   {engine} ({context.settings.origins['engine.name']}); {goes}",
        f"sandbox  {safe(found.sandbox.sentence)}",
    )
    if found.push.get("enabled"):
        _push(found.push, out)


def _where_text_goes(found: Status, *, asks: bool) -> str:
    remote = found.push.get("remote") if found.push.get("enabled") else ""
    places = ["the model of its engine"] * asks + [safe(str(remote))] * bool(remote)
    return f"text goes to {' and '.join(places)} alone" if places else "text goes nowhere"


def _push(known: Mapping[str, Any], out: Output) -> None:
    ahead, last = known["ahead"], known["last_push_at"]
    more = "" if ahead is None else f", {counted(ahead, 'commit')} ahead"
    when = f", last pushed {last} to {known['branch']}" if last else ", never pushed"
    out.say(f"push     {safe(str(known['remote'] or 'nowhere'))}{more}{when}")


def _recording(found: Status, out: Output) -> None:
    told = found.recording
    if told.unreadable:
        state = out.style("refused", "red")
    elif told.paused:
        state = out.style(f"paused {until(told.paused.until)}", "yellow")
    else:
        state = "on"
    here = f"; this folder is left out ({told.here})" if told.here else ""
    headless = "" if told.headless else "; headless sessions are left out"
    out.say(f"record   {state}{headless}{here}")
    for each in told.excluded:
        out.say(f"  excluded  {safe(each)}")
    if told.left_out:
        out.say(f"  {left_out(told.left_out)}")


def _harnesses(found: Status, out: Output) -> None:
    for each in found.harnesses:
        where = "installed" if each.scopes else "not installed"
        where = f"plugin {safe(each.plugin)}" if each.plugin and not each.scopes else where
        said = f"last heard {each.event} at {each.at}" if each.event else _SILENT
        out.say(f"hooks    {each.harness}: {where}, {said}")
    if not found.harnesses:
        out.say("hooks    none yet: `reflector install` lists the agents that are here")
    ready = found.next_session
    size = f"about {ready.tokens} tokens" if ready.tokens else "what is compiled then"
    out.say(f"next     a session is told {size}: `reflector prompt`")
    if ready.notice:
        out.say(f"  and you are shown: {safe(' '.join(ready.notice))}")


def _conversations(found: Status, out: Output) -> None:
    waiting = [each for each in found.conversations if each.unreflected_bytes > 0]
    out.say(
        f"journal  {counted(len(found.conversations), 'conversation')}, {len(waiting)} with a backlog"
    )
    for each in waiting[-_LISTED:]:
        out.say(
            f"  {safe(each.key)}  {counted(each.steps_since_reflection, 'step')}, "
            f"{max(each.unreflected_bytes // 1024, 1)} KiB"
            f"{each.title and '  ' + out.style(safe(each.title), 'dim')}"
        )


def _decisions(known: Mapping[str, Any], out: Output) -> None:
    if not (known["queued"] or known["waiting"] or known["failed"]):
        return
    due = f"; next due {known['next_due_at']}" if known["next_due_at"] else ""
    failed = f", {known['failed']} failed" if known["failed"] else ""
    out.say(
        f"decided  {counted(known['queued'], 'message')} to read{failed}, "
        f"{counted(known['waiting'], 'decision')} waiting{due}: `reflector decisions queue`"
    )
    if known["failed"] and known["last_error"]:
        out.say(f"  {safe(str(known['last_error']))}")


def _experiences(found: Status, out: Output) -> None:
    known = found.experiences
    if not (known["waiting"] and known["enabled"]):
        return
    asks = found.context.settings.text("engine.name") == ASKS
    due = f"; next due {known['next_due_at']}" if asks else ", by engine.name anthropic alone"
    failed = f", {known['failed']} failed" if known["failed"] else ""
    out.say(f"extract  {counted(known['waiting'], 'conversation')} to read{failed}{due}")
    if known["failed"] and known["last_error"]:
        out.say(f"  {safe(str(known['last_error']))}")


def _runs(found: Status, out: Output) -> None:
    for run in found.active:
        out.say(f"active   {run.id} {run.phase}")
    undone = taken_back(found.context, found.last_runs)
    for run in found.last_runs:
        end = f"{ended(run)}{', undone' if run.id in undone else ''}"
        out.say(f"run      {run.id}  {run.request.pipeline:<11}  {end}")
