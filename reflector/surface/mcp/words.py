"""The words of the server: instructions and tool descriptions, from the templates alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflector.pipelines.contexts import McpContext
from reflector.pipelines.prompts import ToolWords, tool_words
from reflector.runtime.words import open_words

MOST_DOCUMENTS = 200
MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a client's model is told: of the server, and of each tool by its name."""

    instructions: str
    tools: Mapping[str, ToolWords]


def told(identity: str) -> Told:
    """Render everything for the memory of one identity."""
    words = open_words()
    given = McpContext(identity, MOST_DOCUMENTS, MOST_CHARACTERS)
    instructions = words.mcp_instructions(given).strip()
    return Told(instructions, tool_words(words.mcp_tools(given)))
