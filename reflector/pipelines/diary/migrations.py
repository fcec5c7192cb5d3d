"""The form of a diary on disk, brought up to date: forward only, or not read at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from reflector.core.diary import SCHEMA
from reflector.core.errors import ReflectorError

HEADER = "diary.json"
"""The file that names the schema, and the replica."""

Files = Mapping[str, bytes]
Step = Callable[[Files], Files]

STEPS: Sequence[Step] = ()
"""What makes the files of schema n + 1 out of those of schema n, from the first on."""


class DiaryPausedError(ReflectorError):
    """A diary in a form that this program does not read; its bytes stay as they are."""

    code = "diary_paused"
    exit_code = 3


def migrated(files: Files, steps: Sequence[Step] = STEPS) -> Files:
    """Return the files in the present schema. Raises DiaryPausedError when that cannot be."""
    newest = len(steps) + 1
    schema = version(files)
    if schema > newest:
        raise DiaryPausedError(
            f"The diary has schema {schema}, and this program reads {newest} at most.",
            hint="Update Reflector; until then the diary is paused and nothing in it is changed.",
            schema=schema,
        )
    for number, step in enumerate(steps[schema - 1 :], schema):
        try:
            files = step(files)
        except (ValueError, LookupError, TypeError) as error:
            raise DiaryPausedError(
                f"The diary cannot be brought from schema {number} to {number + 1}.",
                hint="Nothing in it was changed; it is paused until a program can read it.",
                schema=schema,
            ) from error
    return files


def version(files: Files) -> int:
    """Return the schema that files are in; those that name none are in the first."""
    raw = files.get(HEADER)
    if raw is None:
        return 1
    try:
        found = json.loads(raw)
        schema = found["schema"] if isinstance(found, dict) else None
    except (ValueError, KeyError, RecursionError):
        schema = None
    if type(schema) is not int or schema < 1:
        raise DiaryPausedError(
            f"The diary's {HEADER} does not say which schema the diary has.",
            hint=f'`{{"replica": "", "schema": {SCHEMA}}}` is what it holds in a diary of today; '
            "the diary is paused until it can be read.",
        )
    return schema
