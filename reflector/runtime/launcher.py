"""`bin/reflector` in the home: how hooks are started, without the cost of site and packages."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import reflector
from reflector.store.disk import Home, make_folder, write_atomic

# The home is written into it: whoever starts it, from wherever, serves the home that it lies in.
# `putenv` as well, because a command that is handed on starts from the environment of the process.
# The shell comes first, since a first line that names a Python that is gone fails every hook, and
# one with a space in its path, or longer than 127 bytes, never starts. To Python it is a text.
_SCRIPT = """#!/bin/sh
''':'
[ -x {python} ] && exec {python} -IS "$0" "$@"
[ "$1" = hook ] && exit 0
echo {gone} >&2
exit 127
'''
import posix
import sys
posix.environ[b"REFLECTOR_HOME"] = {home!r}
posix.putenv(b"REFLECTOR_HOME", {home!r})
sys.path.insert(0, {folder!r})
try:
    from hook import main
except ImportError:  # Reflector was moved or removed: a hook must never fail
    sys.exit(0 if sys.argv[1:2] == ["hook"] else {gone})
sys.exit(main())
"""
_GONE = "error: Reflector is not where it was; `reflector init` of a new installation mends that."


def write(home: Home) -> Path:
    """Write the launcher of this very installation and return its path."""
    folder = Path(reflector.__file__).resolve().parent / "surface"
    make_folder(home.path / "bin")
    place = home.path / "bin" / "reflector"
    values = {
        "python": shlex.quote(sys.executable),
        "folder": str(folder),
        "home": os.fsencode(home.path),
        "gone": shlex.quote(_GONE),
    }
    content = _SCRIPT.format(**values).encode()
    if not place.exists() or place.read_bytes() != content:
        write_atomic(place, content, 0o700)
    return place
