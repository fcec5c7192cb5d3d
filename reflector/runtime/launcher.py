"""`bin/reflector` in the home: how hooks are started, without the cost of site and packages."""

from __future__ import annotations

import sys
from pathlib import Path

import reflector
from reflector.store.disk import Home, make_folder, write_atomic

_SCRIPT = """#!{python} -IS
import sys
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
    content = _SCRIPT.format(python=sys.executable, folder=str(folder)).encode()
    if not place.exists() or place.read_bytes() != content:
        write_atomic(place, content)
        place.chmod(0o700)
    return place
