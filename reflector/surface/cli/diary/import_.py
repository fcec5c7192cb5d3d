"""`reflector diary import`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from reflector.core.errors import UsageError
from reflector.runtime.diary.packs import How, Imported, import_pack
from reflector.runtime.wiring import context
from reflector.surface.cli.diary.passphrase import add_file, asked
from reflector.surface.cli.diary.sizes import sizes
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what, and how it meets what is here."""
    parser.description = (
        "Bring a pack of `diary export` in by one commit. Merged, both are kept, and what was "
        "deleted here stays deleted; replaced, the diary is as the pack has it."
    )
    parser.add_argument("file", metavar="FILE.pack", help="the pack")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--merge", dest="how", action="store_const", const="merge", help="keep both")
    how.add_argument(
        "--replace",
        dest="how",
        action="store_const",
        const="replace",
        help="have what the pack has, and nothing else",
    )
    add_file(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Import a pack."""
    how = args.how or _chosen(out)
    if how is None:
        out.say("Nothing was changed.")
        return 0
    found = context(args.home, args.identity)
    done = import_pack(found, Path(args.file), how, lambda: asked(args, out))
    _tell(done, out)
    return 0


def _chosen(out: Output) -> How | None:
    """Ask a person; Enter chooses nothing."""
    if out.json or not sys.stdin.isatty():
        raise UsageError(
            "Say what becomes of the diary that is here.",
            hint="`--merge` keeps both, `--replace` has what the pack has.",
        )
    out.note("Merge the pack into the diary, or replace the diary by it? [merge/replace/neither]")
    word = sys.stdin.readline().strip().lower()
    if word in ("merge", "m"):
        return "merge"
    return "replace" if word in ("replace", "r") else None


def _deleted(done: Imported) -> Iterator[str]:
    if done.stayed_deleted:
        stay = "stays" if done.stayed_deleted == 1 else "stay"
        yield (
            f"  {counted(done.stayed_deleted, 'record')} of the pack had been deleted here and "
            f"{stay} so; `--replace` brings everything back"
        )
    if done.gone:
        one = done.gone == 1
        replaced = "is not in the pack" if one else "are not in the pack"
        deleted = f"{'was' if one else 'were'} deleted where the pack is from"
        yield (
            f"  {counted(done.gone, 'record')} that {replaced if done.how == 'replace' else deleted} "
            f"{'is' if one else 'are'} gone here; the commit before this one has "
            f"{'it' if one else 'them'}"
        )


def _tell(done: Imported, out: Output) -> None:
    what = sizes(done.entries, done.traits, done.terms)
    if done.commit:
        out.say(f"Committed {done.commit[:12]}; the diary holds {what}")
    else:
        out.say(f"The diary has all of it already; it holds {what}")
    out.say(*_deleted(done))
    if done.secrets:
        out.say(f"  {counted(done.secrets, 'secret')} taken out")
    if done.notes:
        out.say(
            "  NOTES.md is yours alone and was not touched. These lines of the pack are not in it:",
            *(f"    - {safe(line)}" for line in done.notes),
        )
    out.object(
        {
            "commit": done.commit or None,
            "how": done.how,
            "entries": done.entries,
            "traits": done.traits,
            "terms": done.terms,
            "stayed_deleted": done.stayed_deleted,
            "deleted_here": done.gone,
            "secrets_removed": done.secrets,
            "notes_not_taken": list(done.notes),
        }
    )
