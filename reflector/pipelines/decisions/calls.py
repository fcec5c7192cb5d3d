"""The two calls that a model is made to answer with: names, and what the first of them takes."""

from __future__ import annotations

from typing import Any, Final

from reflector.core.decision import Kind, Source

RECORD: Final = "record_deltas"
RECORD_SAYS: Final = "Write down the durable project decisions of one message; none is common."
EDIT: Final = "edit_memory_files"
EDIT_SAYS: Final = (
    "Change the project's decision files by single bullets; empty lists change nothing."
)

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}


def _object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


DELTA: Final = _object(
    {
        "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
        "statement": _TEXT,
        "source": {"type": "string", "enum": [source.value for source in Source]},
        "evidence": _TEXT,
        "friction": _object({"corrective": _FLAG, "regression": _FLAG, "subtle": _FLAG}),
        "rejected_alternative": _TEXT,
        "rationale": _TEXT,
    },
    "rejected_alternative",
    "rationale",
)

RECORD_SCHEMA: Final = _object({"deltas": {"type": "array", "items": DELTA}})
