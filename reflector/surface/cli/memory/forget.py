"""`reflector memory forget`."""

from __future__ import annotations

import argparse
import sys

from reflector.core.errors import UsageError
from reflector.runtime.forget import (
    Forgotten,
    Plan,
    Proof,
    all_locks,
    forget,
    look,
    open_memory,
    prove,
    started,
)
from reflector.runtime.forget_proof import shown
from reflector.runtime.forget_target import Asked, target_of
from reflector.runtime.wiring import Context, context
from reflector.surface.cli.output import Output, many, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what, and how far."""
    parser.description = (
        "Remove something from memory, journal, runs, logs and caches, then look for it everywhere "
        "and say so. A text is taken letter for letter; a document or folder is named by its path, "
        "a conversation by its id."
    )
    parser.add_argument("what", metavar="PATTERN|PATH|CONVERSATION", help="what to forget")
    parser.add_argument("--regex", action="store_true", help="the pattern is an expression")
    parser.add_argument(
        "--history", action="store_true", help="rewrite git history too; commit ids change"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what would go, ask, remove it, prove it."""
    found = context(args.home, args.identity)
    asked = Asked(args.what, args.regex, args.history)
    unfinished = started(found, asked) if not args.dry_run else ""
    if not unfinished:
        plan = _look(found, asked, lock=not args.dry_run)
        _show(plan, asked, out)
        if args.dry_run or plan.empty:
            return _nothing_done(found, asked, plan, out)
        if not args.yes and not _agreed(asked, out):
            out.say("Nothing was changed.")
            return 0
    with all_locks(found) as memory:
        target = target_of(found, memory.state, asked, unfinished)
        done = forget(memory, asked, target)
    return _told(done, asked, out)


def _look(found: Context, asked: Asked, *, lock: bool) -> Plan:
    with (all_locks if lock else open_memory)(found) as memory:
        return look(memory, target_of(found, memory.state, asked))


def _agreed(asked: Asked, out: Output) -> bool:
    if out.json or not sys.stdin.isatty():
        raise UsageError(
            "Nothing is forgotten without a yes, and there is no terminal to ask on.",
            hint="`--dry-run` shows what would go; `--yes` does it.",
        )
    more = " and rewrite git history" if asked.history else ""
    out.note(f"Remove all of this{more}? It cannot be taken back. [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _nothing_done(found: Context, asked: Asked, plan: Plan, out: Output) -> int:
    with open_memory(found) as memory:
        proof = prove(found, target_of(found, memory.state, asked)) if plan.empty else None
    if proof is not None:
        out.say("found nowhere; there is nothing to remove.")
        _reach(proof, out)
    out.object(_json(Forgotten(plan, proof=proof or Proof((), (), ())), done=False))
    return 0


def _show(plan: Plan, asked: Asked, out: Output) -> None:
    out.say("This goes:" if not plan.empty else f"Nothing holds this {plan.kind}.")
    for path, lines, whole in plan.documents:
        out.say(f"  {safe(path)}: {'the whole file' if whole else many(lines, 'line')}")
    counts = (
        (plan.entries, "journal entry", "journal entries"),
        (len(plan.conversations), "title or folder of a conversation", "conversations' titles"),
        (plan.rows, "other row of the database", "other rows of the database"),
        (len(plan.runs), "run folder", "run folders"),
        (len(plan.refs), "kept tip or branch of a run", "kept tips and branches of runs"),
        (len(plan.files), "log, cache or other file", "logs, caches and other files"),
    )
    for count, one, more in counts:
        if count:
            out.say(f"  {many(count, one, more)}")
    if plan.objects:
        then = "it is written anew" if asked.history else "that stays, --history rewrites it"
        out.say(f"  git history holds it in {many(plan.objects, 'place')}: {then}")


def _told(done: Forgotten, asked: Asked, out: Output) -> int:
    proof = done.proof
    if done.commit:
        out.say(f"Removed from memory by commit {done.commit}.")
    if done.rewritten:
        out.say(f"Rewrote {many(done.rewritten, 'commit')}; the ledger names the new ones.")
    still = [*proof.still, *(proof.in_git if asked.history else ())]
    if still:
        out.say("It is still in:", *(f"  {safe(place)}" for place in shown(still)))
    elif proof.in_git:
        out.say(
            "found nowhere but in git history, which still holds it in "
            f"{many(len(proof.in_git), 'place')}.",
            "  The same command with --history rewrites that.",
        )
    else:
        out.say("found nowhere")
    _reach(proof, out)
    out.object(_json(done, done=True))
    return 1 if still else 0


def _reach(proof: Proof, out: Output) -> None:
    if proof.out_of_reach:
        out.say("Out of reach:", *(f"  {safe(place)}" for place in proof.out_of_reach))


def _json(what: Forgotten, *, done: bool) -> dict[str, object]:
    plan, proof = what.plan, what.proof
    return {
        "forgotten": done,
        "kind": plan.kind,
        "documents": [
            {"path": path, "lines": lines, "removed": whole}
            for path, lines, whole in plan.documents
        ],
        "entries": plan.entries,
        "conversations": list(plan.conversations),
        "runs": list(plan.runs),
        "refs": list(plan.refs),
        "files": list(plan.files),
        "rows": plan.rows,
        "git_objects": plan.objects,
        "commit": what.commit or None,
        "rewritten": what.rewritten,
        "still_in": list(proof.still),
        "in_git_history": list(proof.in_git),
        "found_nowhere": done and not proof.still and not proof.in_git,
        "out_of_reach": list(proof.out_of_reach),
    }
