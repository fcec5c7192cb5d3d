"""The entry point: quick answers with the standard library only, all else goes to the CLI."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command in `sys.argv` and return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from reflector import __version__  # noqa: PLC0415

        sys.stdout.write(f"reflector {__version__}\n")
        return 0
    from reflector.surface.cli.main import main as command  # noqa: PLC0415 - argparse is not free

    return command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
