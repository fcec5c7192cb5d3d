"""`reflector diary export`."""

from __future__ import annotations

import argparse
from pathlib import Path

from reflector.runtime.diary.packs import export
from reflector.runtime.wiring import context
from reflector.surface.cli.diary.passphrase import add_file, chosen
from reflector.surface.cli.diary.sizes import sizes
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add where to, and whether it is closed."""
    parser.description = (
        "Write the diary into one file, for a backup or for another machine: entries, traits, terms, "
        "persona and notes, without secrets. A pack that is there is replaced."
    )
    parser.add_argument("file", metavar="FILE.pack", help="the file to write; only you may read it")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--passphrase", action="store_true", help="ask for a passphrase to close it")
    add_file(how)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write a pack."""
    done = export(context(args.home, args.identity), Path(args.file), chosen(args, out))
    what = sizes(done.entries, done.traits, done.terms)
    out.say(f"Wrote {safe(str(done.path))}: {what}, {done.size} bytes")
    if done.sealed:
        out.say("  without the passphrase nobody can open it, not even you")
    if done.secrets:
        out.say(f"  {counted(done.secrets, 'secret')} taken out")
    if done.damaged:
        out.say(
            f"  {counted(len(done.damaged), 'file')} could not be read and are not in it:",
            *(f"    {safe(path)}" for path in done.damaged),
        )
    out.object(
        {
            "file": str(done.path),
            "bytes": done.size,
            "entries": done.entries,
            "traits": done.traits,
            "terms": done.terms,
            "secrets_removed": done.secrets,
            "damaged": list(done.damaged),
            "sealed": done.sealed,
        }
    )
    return 0
