"""What a run of extraction is given besides its prompt: the segment, and what the host knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a reflection's child must not pay for what reads it
    from reflector.pipelines.experiences.rows import Row


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one segment, redacted, and what was said in the turns before it.

    `at` is when the last of it was said, as `stamp` writes it, `project` the key of a bank, `branch`
    a branch; each is "" when nobody knows it. `files` are the paths in the calls of tools. `scene`
    is the setting as it is. `verbatim` says that the user's words become a fact when nothing else
    does, `last_try` that a failure of this run is the last one. `unwanted` are the lines that a
    person took back.
    """

    conversation: str
    rows: tuple[Row, ...]
    before: tuple[Row, ...] = ()
    at: str = ""
    project: str = ""
    branch: str = ""
    files: tuple[str, ...] = ()
    scene: str = ""
    verbatim: bool = False
    last_try: bool = False
    unwanted: tuple[str, ...] = ()


def read(fields: Mapping[str, Any] | None) -> Segment | None:
    """Read what a payload holds of a segment."""
    if fields is None:
        return None
    from reflector.pipelines.experiences.rows import Row  # noqa: PLC0415 - as above

    lists = {name: tuple(fields[name]) for name in ("files", "unwanted")}
    rows = {name: tuple(Row(**each) for each in fields[name]) for name in ("rows", "before")}
    return Segment(**{**fields, **lists, **rows})
