"""`reflector facts list`."""

from __future__ import annotations

from functools import partial

from reflector.surface.cli.experiences import list as shared

configure = partial(shared.configure, layer="fact")
run = partial(shared.run, layer="fact")
