"""Write the generated parts of the documents, or check that they are up to date (`--check`)."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from reflector.runtime.settings_keys import KEYS
from reflector.surface.cli.commands import HEADINGS, Entry, Group

ROOT = Path(__file__).resolve().parent.parent


def settings() -> str:
    """Return the table of settings."""
    rows = ["| key | default | variable | what it does |", "|---|---|---|---|"]
    for key in KEYS:
        default = key.shown or '""'
        rows.append(f"| `{key.name}` | `{default}` | `{key.variable}` | {key.told} |")
    return "\n".join(rows)


def commands() -> str:
    """Return a table of commands under each heading."""
    rows = []
    for heading, entries in HEADINGS.items():
        rows += [f"## {heading.capitalize()}", "", "| command | what it does |", "|---|---|"]
        for name, entry in entries.items():
            rows += _command(name, entry)
        rows.append("")
    return "\n".join(rows[:-1])


def _command(name: str, entry: Entry) -> list[str]:
    if isinstance(entry, Group):
        inner = entry.commands.items()
        return [f"| `reflector {name} {each}` | {says} |" for each, (_, says) in inner]
    return [f"| `reflector {name}` | {entry[1]} |"]


def modules() -> str:
    """Return the table of modules with the sentence each of them begins with."""
    rows = ["| module | owns |", "|---|---|"]
    for file in sorted((ROOT / "reflector").rglob("*.py")):
        sentence = ast.get_docstring(ast.parse(file.read_text("utf-8")))
        if sentence:
            name = file.relative_to(ROOT / "reflector").as_posix()
            rows.append(f"| `{name}` | {sentence.splitlines()[0]} |")
    return "\n".join(rows)


PARTS = {
    "docs/commands.md": {"commands": commands},
    "docs/settings.md": {"settings": settings},
    "ARCHITECTURE.md": {"modules": modules},
}


def main() -> int:
    """Fill every marked part of every document."""
    stale = []
    for name, parts in PARTS.items():
        file = ROOT / name
        old = new = file.read_text("utf-8")
        for marker, make in parts.items():
            begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
            pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
            if not pattern.search(new):
                stale.append(f"{name}: no {begin}")
            body = f"{begin}\n{make()}\n{end}"
            new = pattern.sub(lambda _match, body=body: body, new)  # type: ignore[misc]
        if new != old:
            stale.append(f"{name}: generated parts are not up to date (scripts/fix writes them)")
            if "--check" not in sys.argv:
                file.write_text(new, "utf-8")
    if "--check" in sys.argv:
        print("\n".join(stale) or "documents: the generated parts are up to date")
        return 1 if stale else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
