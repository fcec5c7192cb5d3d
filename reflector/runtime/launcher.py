"""`bin/reflector` in the home: how hooks are started, without the cost of site and packages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import reflector
from reflector.store.disk import Home, make_folder, write_atomic

# The home is written into it: whoever starts it, from wherever, serves the home that it lies in.
# `putenv` as well, because a command that is handed on starts from the environment of the process.
_SCRIPT = """#!{python} -IS
import posix
import sys
posix.environ[b"REFLECTOR_HOME"] = {home!r}
posix.putenv(b"REFLECTOR_HOME", {home!r})
sys.path.insert(0, {folder!r})
try:
    from hook import main
except ImportError:  # Reflector was moved or removed: a hook must never fail
    sys.exit(0)
sys.exit(main())
"""


def write(home: Home) -> Path:
    """Write the launcher of this very installation and return its path."""
    folder = Path(reflector.__file__).resolve().parent / "surface"
    make_folder(home.path / "bin")
    place = home.path / "bin" / "reflector"
    values = {"python": sys.executable, "folder": str(folder), "home": os.fsencode(home.path)}
    content = _SCRIPT.format(**values).encode()
    if not place.exists() or place.read_bytes() != content:
        write_atomic(place, content, 0o700)
    return place
