"""What a new diary holds: the default persona, empty notes, and what git leaves alone."""

from __future__ import annotations

from reflector.core.diary import Diary
from reflector.pipelines.diary import records
from reflector.runtime.wiring import data_folder

VIEW = "README.md"
"""The readable view. It is never committed: it repeats what the diary says, and is made anew."""

_IGNORED = f"/{VIEW}\n.DS_Store\n*.swp\n*~\n"
_ATTRIBUTES = "* -text\n"
"""Every byte as it is: line ends are ours, whatever the machine likes."""


def files(replica: str = "") -> dict[str, bytes]:
    """Return the files of a diary's first commit; `replica` tells it from others that it meets."""
    folder = data_folder() / "templates" / "diary"
    texts = {name: (folder / name).read_bytes() for name in (records.PERSONA, records.NOTES)}
    ours = {".gitignore": _IGNORED.encode(), ".gitattributes": _ATTRIBUTES.encode()}
    return {**dict(records.files(Diary(replica=replica))), **ours, **texts}
