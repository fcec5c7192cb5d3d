"""`python -m reflector`: the same as the `reflector` command."""

from __future__ import annotations

import contextlib
import os
import sys

from reflector.surface.hook import main

code = main()
with contextlib.suppress(OSError, ValueError):  # what could not be written was said already
    sys.stdout.flush()
    sys.stderr.flush()
# All is written. Taking the interpreter apart takes longer than many a command.
os._exit(code)
