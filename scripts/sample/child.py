"""The child of a sample run: the real one, at the time that its supervisor had."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# It is started by its path, with an environment built from nothing.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from reflector.core.ambient import instant  # noqa: E402
from reflector.runtime import child  # noqa: E402
from sample.steady import steady  # noqa: E402


def main() -> int:
    """Do the run in the folder that comes last, at the instant that comes first."""
    given = instant(sys.argv[1])
    child.system = lambda: steady(given)  # type: ignore[attr-defined]
    return child.main(Path(sys.argv[2]))


if __name__ == "__main__":
    code = main()
    os._exit(code)
