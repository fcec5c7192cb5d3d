"""A program tied to us: started in our place once the kernel knows to end it when we die."""

from __future__ import annotations

import os
import sys

from reflector.runtime.processes import die_with_parent


def main(parent: str, words: list[str]) -> None:
    """Become the program. Ends at once if the parent died before the tie was there."""
    die_with_parent()
    if os.getppid() != int(parent):
        return
    try:
        os.execvp(words[0], words)  # noqa: S606 - the person's own program, without a shell
    except OSError as error:
        sys.stderr.write(f"{words[0]} cannot be started: {error.strerror}\n")
        sys.exit(126)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
