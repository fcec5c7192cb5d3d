"""The plugin and extension files that we ship, with the launcher's place written into them."""

from __future__ import annotations

import json
from pathlib import Path

from reflector.harness.installs.parts import Whole

_LAUNCHER = '"@LAUNCHER@"'


def script(harness: str, name: str, launcher: str) -> Whole:
    """Return the file of a harness that loads code of ours."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    mark = f"Written by `reflector install {harness}`"
    return Whole(text.replace(_LAUNCHER, json.dumps(launcher)), mark)
