"""`reflector decisions show`."""

from __future__ import annotations

import argparse

from reflector.core.cleaning import clean
from reflector.core.decision import FILES, FileName
from reflector.pipelines.decisions.bullets import path_of
from reflector.runtime.decisions.bank import Held, chosen, held
from reflector.runtime.wiring import context
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which project."""
    parser.description = (
        "The decisions of this project, as committed: what its sessions are shown in their memory."
    )
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Show the files of a bank."""
    found = context(args.home, args.identity)
    bank = chosen(args.bank, here())
    shown = held(found, bank)
    _told(shown, out, enabled=found.settings.flag("decisions.enabled"))
    out.object(
        {
            "bank": bank,
            "revision": shown.revision,
            "enabled": found.settings.flag("decisions.enabled"),
            "files": [_file(shown, file) for file in FILES if shown.files.body(file)],
            "findings": [each.as_json() for each in shown.faults],
        }
    )
    return 0


def _told(shown: Held, out: Output, *, enabled: bool) -> None:
    if not shown.files.bullets:
        out.say(
            f"No decisions are written down for {safe(shown.bank)} yet.",
            "  `reflector decisions queue` tells what waits; `decisions add` writes one down.",
        )
    if not enabled:
        out.say("Agents are not shown them: decisions.enabled is false.")
    for file in FILES:
        if bullets := [each for each in shown.files.bullets if each.file == file]:
            out.say(out.style(safe(path_of(shown.bank, file)), "bold"))
            section = ""
            for each in bullets:
                if each.section != section:
                    section = each.section
                    out.say(f"  {safe(clean(section))}")
                out.say(f"    - {safe(clean(each.text))}")
    for fault in shown.faults:
        out.say(f"{out.style('fault', 'yellow')}  {fault.path}: {safe(clean(fault.message))}")


def _file(shown: Held, file: FileName) -> dict[str, object]:
    bullets = [each for each in shown.files.bullets if each.file == file]
    return {
        "file": file,
        "path": path_of(shown.bank, file),
        "bullets": [
            {"section": each.section, "text": each.text, "place": shown.place(each)}
            for each in bullets
        ],
    }
