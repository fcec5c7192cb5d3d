"""What `reflector --help` prints: every command under its heading."""

from __future__ import annotations

from reflector.surface.cli.commands import HEADINGS, says

_HEAD = """\
usage: reflector COMMAND ...

A git-backed memory for coding agents that improves by itself.
"""
_FOOT = """
every command takes
  --home DIR       the Reflector home, instead of ~/.reflector
  --identity NAME  whose memory
  --json           print one JSON object

`reflector COMMAND --help` explains a command, with an example.
`reflector --version` prints the version.
"""


def overview() -> str:
    """Return the help of the program as a whole; no line is wider than 80."""
    width = max(len(name) for commands in HEADINGS.values() for name in commands)
    blocks = (
        "".join(
            (
                f"\n{heading}\n",
                *(f"  {name:<{width}}  {says(entry)}\n" for name, entry in commands.items()),
            )
        )
        for heading, commands in HEADINGS.items()
    )
    return "".join((_HEAD, *blocks, _FOOT))
