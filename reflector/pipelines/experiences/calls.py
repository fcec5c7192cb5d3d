"""The two calls that an extraction makes a model answer with: names, words, and what they take."""

from __future__ import annotations

from typing import Any, Final

from reflector.core.experience import Scene

SCENE: Final = "name_scene"
SCENE_SAYS: Final = "Say which kind of work a piece of a conversation holds."
EXTRACT: Final = "record_extraction"
EXTRACT_SAYS: Final = (
    "Write down what a piece of a conversation taught: how things are done, and what is now true."
)

EXTRACT_TOKENS: Final = 6000
"""So many tokens an answer may have."""

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCENE_SCHEMA: Final = _object({"scene": {"type": "string", "enum": [each.value for each in Scene]}})

EXPERIENCE: Final = _object(
    {
        "task": _TEXT,
        "search_keys": _TEXTS,
        "solution": _TEXT,
        "boundary_envs": _TEXT,
        "confidence": {"type": "number"},
        "evidence": _TEXTS,
    }
)

FACT: Final = _object(
    {
        "subject": _TEXT,
        "statement": _TEXT,
        "files": _TEXTS,
        "details": _TEXTS,
        "evidence": _TEXTS,
    }
)

EXTRACT_SCHEMA: Final = _object(
    {"experiences": {"type": "array", "items": EXPERIENCE}, "fact": FACT}
)
