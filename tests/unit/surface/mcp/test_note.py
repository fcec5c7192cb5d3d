"""The tool `note` is there for memories that keep a diary, and nothing of a diary is in its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from reflector.runtime.diary.repository import Repository
from reflector.surface.api.memory import Memory
from reflector.surface.mcp.server import TOOLS, serving
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

NOTE = "My friend Anna hates mornings; be slow before ten."


def asked(scene: Scene, conversation: Any) -> Any:
    async def talk() -> Any:
        with anyio.fail_after(20):
            async with Client(serving(lambda: Memory(scene.context()))) as client:
                return await conversation(client)

    return anyio.run(talk)


def test_a_note_is_committed_when_the_tool_answers_and_tells_what_was_kept(tmp_path: Path):
    scene = Scene(tmp_path, "diary.enabled = true\n")
    done = asked(scene, lambda client: client.call_tool("note", {"text": NOTE}))
    assert not done.is_error
    assert done.structured_content == {"text": "A friend hates mornings; be slow before ten."}
    (kept,) = Repository(scene.context()).read().entries.values()
    assert (kept.kind, kept.text) == ("note", done.structured_content["text"])


def test_no_description_of_a_tool_says_what_the_diary_says(tmp_path: Path):
    scene = Scene(tmp_path, "diary.enabled = true\n")
    Memory(scene.context()).note(NOTE)
    listed = asked(scene, lambda client: client.list_tools())
    assert {each.name for each in listed.tools} == {*TOOLS, "note"}
    assert "mornings" not in listed.model_dump_json()
    assert "All conversations are the same you" not in listed.model_dump_json()


def test_what_is_no_note_is_refused_in_a_sentence(tmp_path: Path):
    scene = Scene(tmp_path, "diary.enabled = true\n")
    done = asked(scene, lambda client: client.call_tool("note", {"text": "\u200b"}))
    assert done.is_error
    assert "A note is one to 1000 characters" in done.content[0].text


def test_without_a_diary_there_is_no_such_tool(tmp_path: Path):
    scene = Scene(tmp_path)
    listed = asked(scene, lambda client: client.list_tools())
    assert {each.name for each in listed.tools} == set(TOOLS)
    done = asked(scene, lambda client: client.call_tool("note", {"text": NOTE}))
    assert done.is_error
    assert not scene.context().agent.diary.exists()
