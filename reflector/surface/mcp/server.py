"""The MCP server: the tools, the documents as resources, and the block as a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    CallToolResult,
    InputRequiredResult,
    Resource,
    ToolAnnotations,
)
from pydantic import ValidationError

from reflector import __version__
from reflector.core.errors import NotFoundError, PathError, ReflectorError
from reflector.pipelines.prompts import ToolWords
from reflector.surface.api.memory import Memory
from reflector.surface.mcp.answers import cut
from reflector.surface.mcp.tools import Tools, sentence
from reflector.surface.mcp.words import told

NAME = "reflector"
_MOST_RESOURCES = 1000
_LONGEST_RESOURCE = 200_000
_MOST_FAULTS = 10

_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
_ASKS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)

TOOLS: Mapping[str, ToolAnnotations] = {
    "memory_list": _READS,
    "memory_read": _READS,
    "memory_create": _ADDS,
    "memory_replace": _CHANGES,
    "memory_insert": _ADDS,
    "memory_delete": _CHANGES,
    "memory_rename": _CHANGES,
    "memory_why": _READS,
    "recall": _READS,
    "search": _READS,
    "reflect": _ASKS,
    "status": _READS,
}

DIARY: Mapping[str, ToolAnnotations] = {"note": _ADDS}
"""What is there for memories that keep a diary, and for no others."""


class Server(MCPServer[None]):
    """A server whose list of resources is the memory's list of documents, whenever it is asked."""

    opened: Callable[[], Memory]

    async def list_resources(self) -> list[Resource]:
        """Return the documents, as many as one list holds; `memory_list` names all."""
        try:
            found = await anyio.to_thread.run_sync(self.opened().documents)
        except ReflectorError as error:
            raise MCPError(INTERNAL_ERROR, sentence(error)) from error
        return [
            Resource(
                uri=f"memory://{quote(each.path)}",
                name=each.path,
                description=each.description or None,
                mime_type="text/markdown",
                size=each.size,
            )
            for each in found[:_MOST_RESOURCES]
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Arguments that do not fit are named, and not repeated: they may be secret."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_unfit(name, error.__cause__)) from error.__cause__
            raise


def _unfit(name: str, error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}." for each in faults[:_MOST_FAULTS]]
    return f"The arguments of {name} do not fit. {' '.join(said)}"


def serving(opened: Callable[[], Memory]) -> Server:
    """Return the server of a memory that `opened` opens."""
    memory = opened()
    words, tools = told(memory.identity), Tools(opened)
    offered = [*TOOLS, *(DIARY if memory.keeps_diary else ())]
    server = Server(
        NAME,
        title="Reflector",
        instructions=words.instructions,
        version=__version__,
        tools=[_tool(tools, name, words.tools[name]) for name in offered],
        log_level="WARNING",
        subscriptions=False,
    )
    server.opened = opened
    _add_document(server, opened, words.tools["document"])
    _add_prompt(server, opened, words.tools["prompt"])
    return server


def _tool(tools: Tools, name: str, words: ToolWords) -> Tool:
    tool = Tool.from_function(
        getattr(tools, name),
        name=name,
        title=words.title,
        description=words.description,
        annotations={**TOOLS, **DIARY}[name],
    )
    for parameter, text in words.parameters.items():
        tool.parameters["properties"][parameter]["description"] = text
    return tool


def _add_document(server: Server, opened: Callable[[], Memory], words: ToolWords) -> None:
    @server.resource(
        "memory://{+path}",
        name="document",
        title=words.title,
        description=words.description,
        mime_type="text/markdown",
    )
    def document(path: str) -> str:
        try:
            return cut(opened().read(path), _LONGEST_RESOURCE, "; `memory_read` shows them")
        except (NotFoundError, PathError) as error:
            raise ResourceNotFoundError(sentence(error)) from error
        except ReflectorError as error:
            raise ResourceError(sentence(error)) from error


def _add_prompt(server: Server, opened: Callable[[], Memory], words: ToolWords) -> None:
    @server.prompt(name="memory", title=words.title, description=words.description)
    def memory(cwd: str = "") -> str:
        try:
            return opened().prompt(cwd=cwd or None)
        except ReflectorError as error:
            raise ValueError(sentence(error)) from error

    for argument in next(iter(server._prompt_manager.list_prompts())).arguments or []:  # noqa: SLF001
        argument.description = words.parameters[argument.name]
