"""The server as the SDK's own client sees it, in process."""

from __future__ import annotations

import functools
import json
import re
import shutil
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from reflector.surface.api.memory import Memory
from reflector.surface.mcp.server import DIARY, TOOLS, Server, serving
from reflector.surface.mcp.words import told
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

SECONDS = 20
READS = {"memory_list", "memory_read", "memory_why", "recall", "search", "status"}
WRITES = {"memory_create", "memory_replace", "memory_insert", "memory_delete", "memory_rename"}
LISTED = READS | WRITES | {"reflect"}
MADE = {"path": "reference/hosts", "text": "- a: 1\n", "description": "The hosts."}


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


NOW: list[Scene] = []


def present() -> Memory:
    return Memory(NOW[-1].context())


@functools.cache
def server() -> Server:
    return serving(present)


def asked(scene: Scene, conversation) -> Any:
    """Talk with the server of a scene, for a bounded time. It is built once and opens each time."""

    async def talk():
        with anyio.fail_after(SECONDS):
            async with Client(server()) as client:
                return await conversation(client)

    NOW[:] = [scene]
    return anyio.run(talk)


def called(scene: Scene, name: str, **given: Any):
    return asked(scene, lambda client: client.call_tool(name, given))


def answer(scene: Scene, name: str, **given: Any) -> dict[str, Any]:
    done = called(scene, name, **given)
    assert not done.is_error, done.content[0].text
    found: dict[str, Any] = done.structured_content
    return found


def refusal(scene: Scene, name: str, **given: Any) -> str:
    done = called(scene, name, **given)
    assert done.is_error
    text: str = done.content[0].text
    assert "Traceback" not in text
    return text


def commits(scene: Scene) -> int:
    return int(scene.git("rev-list", "--count", "main"))


# What it says of itself


def test_every_tool_and_every_parameter_is_described_and_nothing_else(scene):
    listed = asked(scene, lambda client: client.list_tools()).tools
    assert {each.name for each in listed} == LISTED == set(TOOLS)
    words = told("default").tools
    assert set(words) == LISTED | {"prompt", "document", *DIARY}
    for each in listed:
        described = {
            name: p.get("description") for name, p in each.input_schema["properties"].items()
        }
        assert described == dict(words[each.name].parameters)
        assert each.description
        assert each.title
        assert each.output_schema


def test_the_hints_tell_reading_from_writing(scene):
    listed = asked(scene, lambda client: client.list_tools()).tools
    assert {each.name for each in listed if each.annotations.read_only_hint} == READS
    assert {each.name for each in listed if each.annotations.destructive_hint} == {
        "memory_replace",
        "memory_delete",
        "memory_rename",
    }


def test_the_server_names_whose_memory_it_is(scene):
    async def instructions(client):
        return client.instructions

    assert '"default"' in asked(scene, instructions)


# Memory


def test_documents_are_listed_and_read(scene):
    listed = answer(scene, "memory_list", below="system")
    assert [each["path"] for each in listed["documents"]] == [
        "system/boundaries.md",
        "system/human.md",
        "system/persona.md",
        "system/self-aware.md",
    ]
    assert listed["next"] is None
    text = answer(scene, "memory_read", path="system/human")
    assert text["text"].startswith("---\ndescription: ")
    assert (text["from_line"], text["next_line"]) == (1, None)
    rest = answer(scene, "memory_read", path="system/human", from_line=2)
    assert text["text"].split("\n", 1)[1] == rest["text"]
    assert "no line 99" in refusal(scene, "memory_read", path="system/human", from_line=99)


def test_a_change_is_one_commit_of_an_agent_with_the_reason(scene):
    before = commits(scene)
    done = answer(scene, "memory_create", **MADE, reason="hosts were named")
    assert done["paths"] == ["reference/hosts.md"]
    assert done["commit"] == scene.git("rev-parse", "main").strip()
    assert commits(scene) == before + 1
    message = scene.git("log", "-1", "--format=%B")
    assert message.startswith("hosts were named\n")
    assert "Memory-Writer: agent" in message


def test_documents_are_changed_in_every_way(scene):
    path = {"path": "reference/hosts.md", "reason": "r"}

    async def talk(client):
        await client.call_tool("memory_create", {**MADE, "reason": "r"})
        await client.call_tool("memory_replace", {**path, "old": "a: 1", "new": "a: 2"})
        await client.call_tool("memory_insert", {**path, "text": "- b: 3"})
        await client.call_tool("memory_rename", {**path, "to": "reference/machines.md"})
        text = await client.call_tool("memory_read", {"path": "reference/machines.md"})
        gone = await client.call_tool("memory_delete", {**path, "path": "reference/machines.md"})
        return text, gone

    text, gone = asked(scene, talk)
    assert text.structured_content["text"].endswith("- a: 2\n- b: 3")
    assert gone.structured_content["paths"] == ["reference/machines.md"]


@pytest.mark.parametrize("name", sorted(WRITES))
def test_no_change_is_made_without_a_reason(scene, name):
    before = commits(scene)
    given = {**MADE, "path": "system/human.md", "old": "#", "new": "!", "to": "reference/x.md"}
    schema = next(each for each in tools(scene) if each.name == name).input_schema
    known = {key: value for key, value in given.items() if key in schema["properties"]}
    assert "reason" in schema["required"]
    assert "reason" in refusal(scene, name, **known)
    assert "reason" in refusal(scene, name, **known, reason="")
    assert "reason" in refusal(scene, name, **known, reason="two\nlines")
    assert commits(scene) == before


def tools(scene):
    return asked(scene, lambda client: client.list_tools()).tools


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/passwd", "a/../../x.md", ".git/config", "reference/../../x", "~/x"]
)
def test_no_path_leads_out_of_the_memory(scene, path):
    before = commits(scene)
    outside = scene.home / "agents"
    files = set(outside.rglob("x*"))
    made = called(scene, "memory_create", **{**MADE, "path": path}, reason="r")
    assert called(scene, "memory_read", path=path).is_error
    assert made.is_error
    assert commits(scene) == before
    assert set(outside.rglob("x*")) == files


@pytest.mark.parametrize("name", sorted(WRITES - {"memory_insert"} | {"memory_read"}))
def test_a_path_that_climbs_is_refused_for_that_before_anything_is_looked_up(scene, name):
    given = {"path": "reference/../../x.md", "to": "reference/x.md", "reason": "r"}
    given |= {"text": "x\n", "description": "d", "old": "x", "new": "y"}
    schema = next(each for each in tools(scene) if each.name == name).input_schema
    known = {key: value for key, value in given.items() if key in schema["properties"]}
    assert "has a '..' part" in refusal(scene, name, **known)


def test_an_error_says_what_to_do_and_no_secret(scene):
    answer(scene, "memory_create", **MADE, reason="r")
    said = refusal(scene, "memory_create", **MADE, reason="r")
    assert "There is something already." in said
    assert "another name" in said
    token = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = refusal(scene, "memory_read", path=f"reference/{token}")
    assert token not in said
    said = refusal(scene, "memory_create", path="x", text=f"{token}\n", description="d", reason="r")
    assert token not in said


def test_arguments_that_do_not_fit_are_named_and_not_repeated(scene):
    said = refusal(scene, "memory_create", path="x", text="a canary", reason="", description="d")
    assert said.startswith("The arguments of memory_create do not fit. reason: ")
    assert "canary" not in said
    assert "memory_read" in refusal(scene, "memory_read", path=["canary"])
    assert "canary" not in refusal(scene, "memory_read", path=["canary"])


def test_what_nobody_expected_is_told_without_its_words(scene):
    def broken():
        if scene.talks:
            message = "the innermost secret"
            raise RuntimeError(message)
        return Memory(scene.context())

    async def talk():
        server = serving(broken)
        scene.talks["x"] = []
        with anyio.fail_after(SECONDS):
            async with Client(server) as client:
                return await client.call_tool("status", {})

    done = anyio.run(talk)
    assert done.is_error
    assert "innermost" not in done.content[0].text


# Reflection


def test_a_reflection_answers_at_once_or_when_there_is_nothing(scene):
    done = answer(scene, "reflect")
    assert (done["decision"], done["why"], done["run"]) == ("nothing", "nothing_new", None)
    assert "no conversation" in refusal(scene, "reflect", conversations=["jsonl/none"])


def test_the_status_has_stable_keys(scene):
    scene.says("Hello.", "Hi.")
    found = answer(scene, "status")
    assert sorted(found) == [
        "active",
        "budget_tokens",
        "conversations",
        "conversations_in_all",
        "documents",
        "engine",
        "identity",
        "last_runs",
        "notices",
        "parked",
        "pending",
        "problems",
        "recording",
        "revision",
        "system_tokens",
    ]
    assert [each["id"] for each in found["conversations"]] == ["jsonl/talk"]
    assert json.loads(json.dumps(found)) == found


# Resources and the prompt


def test_what_is_known_and_what_was_said_is_found(scene):
    scene.says("Always sign the tags.", "Yes.")
    answer(scene, "memory_create", reason="a note", **MADE)
    (known,) = answer(scene, "recall", query="hosts", below="reference/hosts")["results"]
    assert (known["path"], known["score"] > 0) == ("reference/hosts.md", True)
    assert (known["id"], known["layer"], known["details"]) == (None, "documents", None)
    assert answer(scene, "recall", query="hosts", layer="facts")["results"] == []
    assert answer(scene, "recall", query="hosts", until="2000-01-01")["results"] == []
    assert answer(scene, "recall", query="hosts", project="other-1")["results"] == []
    assert answer(scene, "recall", query="hosts", status="superseded")["results"] == []
    assert answer(scene, "recall", query="hosts", status="any", layer="documents")["results"]
    (said,) = answer(scene, "search", query="tags")["results"]
    assert (said["conversation"], said["kind"]) == ("jsonl/talk", "user")
    assert answer(scene, "recall", query="?! 'AND \" NEAR(")["results"] == []


def test_the_documents_are_resources(scene):
    async def talk(client):
        listed = (await client.list_resources()).resources
        return listed, [await client.read_resource(each.uri) for each in listed]

    listed, read = asked(scene, talk)
    assert [each.name for each in listed] == sorted(each.name for each in listed)
    assert all(re.fullmatch(r"memory://\S+\.md", str(each.uri)) for each in listed)
    assert all(each.contents[0].text.startswith("---\n") for each in read)
    assert {each.contents[0].mime_type for each in read} == {"text/markdown"}


def test_a_document_with_an_unusual_name_is_a_resource_as_well(scene):
    name = "reference/数据 50%25 & more.md"
    answer(scene, "memory_create", **{**MADE, "path": name}, reason="r")

    async def talk(client):
        (uri,) = [
            each.uri for each in (await client.list_resources()).resources if each.name == name
        ]
        return (await client.read_resource(uri)).contents[0].text

    assert asked(scene, talk).endswith("- a: 1\n")


def test_a_huge_resource_is_cut_and_says_how_to_read_on(scene):
    big = {**MADE, "text": "word word\n" * 21_000}
    answer(scene, "memory_create", **big, reason="r")
    found = asked(scene, lambda client: client.read_resource("memory://reference/hosts.md"))
    assert found.contents[0].text.endswith("characters left out; `memory_read` shows them]")


@pytest.mark.parametrize(
    "uri", ["memory://none.md", "memory://../x.md", "memory:///etc/passwd", "file:///etc/passwd"]
)
def test_what_is_no_document_is_no_resource(scene, uri):
    async def talk(client):
        try:
            return await client.read_resource(uri)
        except MCPError as error:
            return error

    assert isinstance(asked(scene, talk), MCPError)


def test_a_memory_that_went_away_is_an_error_in_a_sentence(scene):
    made = Memory(scene.context())
    shutil.rmtree(scene.repo)

    async def talk(client):
        try:
            return await client.list_resources()
        except MCPError as error:
            return str(error)

    async def gone():
        server = serving(lambda: made)
        with anyio.fail_after(SECONDS):
            async with Client(server) as client:
                return await talk(client)

    assert "There is no memory" in anyio.run(gone)


def test_the_prompt_is_the_block_of_a_folder(scene, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".reflector").mkdir()
    (tmp_path / ".reflector" / "MEMORY.md").write_text("- [tea] They like tea.\n")
    given = {"cwd": str(tmp_path)}
    found = asked(scene, lambda client: client.get_prompt("memory", given))
    text = found.messages[0].content.text
    assert "They like tea." in text
    assert text.startswith("<!-- reflector:begin")
    bare = asked(scene, lambda client: client.get_prompt("memory"))
    assert "They like tea." not in bare.messages[0].content.text
