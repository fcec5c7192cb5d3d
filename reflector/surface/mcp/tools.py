"""The tools of the server: each one call of the Python API, its errors told in a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, ParamSpec, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from reflector.core.cleaning import clean
from reflector.core.errors import NotFoundError, ReflectorError
from reflector.runtime.reasons import MAX_REASON
from reflector.store.disk import unusable
from reflector.surface.api.memory import Memory
from reflector.surface.mcp import answers

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST_ERROR = 2000
_LOOK_SECONDS = 0.25

Path_ = Annotated[str, Field(min_length=1, max_length=1000)]
Reason = Annotated[str, Field(min_length=1, max_length=MAX_REASON)]
Line = Annotated[int, Field(ge=1, le=10**9)]
Query = Annotated[str, Field(min_length=1, max_length=2000)]
Limit = Annotated[int, Field(ge=1, le=50)]
Layer = Literal["", "documents", "decisions", "experiences", "facts"]
Status = Literal["active", "superseded", "any"]
Day = Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$")]
Content = Annotated[str, Field(max_length=1_000_000)]


def sentence(error: ReflectorError) -> str:
    """Say an error for a model: what went wrong, the details, what to do; never a secret."""
    parts = (error.message, str(error.facts.get("detail") or ""), error.hint)
    return answers.cut(clean(" ".join(filter(None, parts))), _LONGEST_ERROR)


def telling(function: Callable[P, R]) -> Callable[P, R]:
    """Turn what can go wrong in a tool into an error that the model is shown."""

    @functools.wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ReflectorError as error:
            raise ToolError(sentence(error)) from error
        except OSError as error:  # the machine refused something that no door of ours expected
            raise ToolError(sentence(unusable(Path(), error))) from error

    return told


class Tools:
    """The functions behind the tools. The memory is opened anew for each call: settings change."""

    def __init__(self, opened: Callable[[], Memory]) -> None:
        """Keep how the memory is opened."""
        self._opened = opened

    @telling
    def memory_list(self, below: str = "", after: str = "") -> answers.Listing:
        """Answer `memory_list`."""
        return answers.listing(self._opened().documents(below), after)

    @telling
    def memory_read(self, path: Path_, from_line: Line = 1) -> answers.Text:
        """Answer `memory_read`."""
        whole = self._opened().read(path)
        lines = whole.removesuffix("\n").count("\n") + 1
        if from_line > lines:
            raise NotFoundError(f"{path} has {lines} lines, so there is no line {from_line}.")
        return answers.text(path, whole, from_line)

    @telling
    def memory_create(
        self, path: Path_, text: Content, reason: Reason, description: str = ""
    ) -> answers.Change:
        """Answer `memory_create`."""
        return answers.change(self._opened().create(path, text, description, reason=reason))

    @telling
    def memory_replace(
        self, path: Path_, old: Content, new: Content, reason: Reason
    ) -> answers.Change:
        """Answer `memory_replace`."""
        return answers.change(self._opened().replace(path, old, new, reason=reason))

    @telling
    def memory_insert(
        self,
        path: Path_,
        text: Content,
        reason: Reason,
        after: Annotated[int, Field(ge=0, le=10**9)] | None = None,
    ) -> answers.Change:
        """Answer `memory_insert`."""
        return answers.change(self._opened().insert(path, text, after, reason=reason))

    @telling
    def memory_delete(self, path: Path_, reason: Reason) -> answers.Change:
        """Answer `memory_delete`."""
        return answers.change(self._opened().delete(path, reason=reason))

    @telling
    def memory_rename(self, path: Path_, to: Path_, reason: Reason) -> answers.Change:
        """Answer `memory_rename`."""
        return answers.change(self._opened().rename(path, to, reason=reason))

    @telling
    def memory_why(self, path: Path_, line: Line) -> answers.Origin:
        """Answer `memory_why`."""
        return answers.origin(self._opened().why(path, line))

    @telling
    def recall(
        self,
        query: Query,
        limit: Limit = 10,
        below: str = "",
        layer: Layer = "",
        status: Status = "active",
        project: str = "",
        branch: str = "",
        since: Day = "",
        until: Day = "",
        details: bool = False,  # noqa: FBT001, FBT002 - arguments of tools are named
    ) -> answers.Passages:
        """Answer `recall`."""
        found = self._opened().recall(
            query,
            limit=limit,
            below=below,
            layer=layer,
            status="" if status == "any" else status,
            project=project,
            branch=branch,
            since=since,
            until=until,
            details=details,
        )
        return answers.passages(found)

    @telling
    def search(self, query: Query, limit: Limit = 10, conversation: str = "") -> answers.Sayings:
        """Answer `search`."""
        found = self._opened().search(query, limit=limit, conversation=conversation)
        return answers.sayings(found)

    @telling
    def note(self, text: Annotated[str, Field(min_length=1, max_length=1000)]) -> answers.Note:
        """Answer `note`."""
        return answers.noted(self._opened().note(text))

    @telling
    def status(self) -> answers.Status:
        """Answer `status`."""
        return answers.status(self._opened().status())

    async def reflect(
        self,
        ctx: Context,
        focus: Annotated[str, Field(max_length=2000)] = "",
        conversations: Annotated[list[str], Field(max_length=100)] | None = None,
        wait: bool = False,  # noqa: FBT001, FBT002 - arguments of tools are named
    ) -> answers.Reflection:
        """Answer `reflect`."""
        memory = await anyio.to_thread.run_sync(telling(self._opened))
        ask = telling(functools.partial(memory.ask, focus, tuple(conversations or ())))
        asked = await anyio.to_thread.run_sync(ask)
        if asked.run is None or not wait:
            return answers.reflection(asked)
        look = telling(functools.partial(memory.run, asked.run))
        looks = 0
        # The run belongs to its own supervisor: a client that leaves does not end it.
        while (done := await anyio.to_thread.run_sync(look)).runs[0]["outcome"] is None:
            looks += 1
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await ctx.report_progress(
                    looks, message=f"run {asked.run}: {done.runs[0]['phase']}"
                )
            await anyio.sleep(_LOOK_SECONDS)
        return answers.reflection(asked, done)
