"""`python -m reflector`: the same as the `reflector` command."""

from __future__ import annotations

import sys

from reflector.surface.hook import main

sys.exit(main())
