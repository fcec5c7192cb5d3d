"""The MCP server as a real process, spoken to by the client of the SDK."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from reflector import Memory
from tests.support.cli import ROOT, Cli

pytestmark = pytest.mark.slow

SECONDS = 40
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
NOISE = """
import os, sys

def noise(event, args):
    if event == "sqlite3.connect" or (event == "import" and args[0] in ("mcp.server", "pygit2")):
        os.write(1, b"C code prints\\n")
        print("a library prints", flush=True)

sys.addaudithook(noise)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp") / "home"
    Memory.open(folder, "default", create=True)
    return folder


def environ() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}


def words(home: Path, *more: str) -> list[str]:
    return ["-m", "reflector", "mcp", "--home", str(home), *more]


# Standard input and output


@asynccontextmanager
async def connected(home: Path, errors: Path):
    """Start the real command as an agent's program does, and talk with it for a bounded time."""
    server = StdioServerParameters(command=sys.executable, args=words(home), env=environ())
    with anyio.fail_after(SECONDS), errors.open("w") as log:
        async with Client(stdio_client(server, log)) as client:
            yield client


def test_an_agent_learns_reads_and_writes_over_standard_input_and_output(
    home: Path, tmp_path: Path
) -> None:
    said = [{"role": "user", "content": "Always sign the tags of a release."}]
    conversation = Memory.open(home, "default").append("s1", said).conversation
    heard: list[str | None] = []

    async def progress(_done: float, _total: float | None, message: str | None) -> None:
        heard.append(message)

    async def talk() -> Any:
        async with connected(home, tmp_path / "errors") as client:
            made = {"path": "reference/x", "text": "x\n", "description": "X.", "reason": "said so"}
            await client.call_tool("memory_create", made)
            asked = {"conversations": [conversation], "wait": True}
            learned = await client.call_tool("reflect", asked, progress_callback=progress)
            block = await client.get_prompt("memory")
            return learned.structured_content, block.messages[0].content.text

    learned, block = anyio.run(talk)
    assert (learned["decision"], learned["outcome"]) == ("reserved", "merged")
    ((path, lines),) = learned["learned"].items()
    assert "sign the tags" in lines[0]
    assert "sign the tags" in block
    assert all(message is not None and learned["run"] in message for message in heard)
    memory = Memory.open(home, "default")
    assert "sign the tags" in memory.read(path)
    assert memory.read("reference/x").endswith("\nx\n")
    assert (tmp_path / "errors").read_text() == ""


def test_nothing_but_the_protocol_is_on_standard_output_whatever_a_library_prints(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    server = subprocess.Popen(
        [sys.executable, *words(home)],
        env=environ() | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    asks: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "reflect", "arguments": {"wait": True}},
        },
    ]
    said = [{"role": "user", "content": "We deploy on Tuesdays, always in the morning."}]
    Memory.open(home, "default").append("noisy", said)
    lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asks)
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(lines.encode())
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in asks[1:]]
        rest, errors = server.communicate(timeout=SECONDS)
    finally:
        server.kill()
    found = {each["id"]: each["result"].get("structuredContent") for each in answers}
    assert set(found) == {1, 2, 3}
    assert (found[2]["identity"], found[3]["decision"]) == ("default", "reserved")
    assert found[3]["outcome"]
    assert (rest, server.returncode) == (b"", 0)
    assert {b"C code prints", b"a library prints"} <= set(errors.splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_server_that_waits_for_its_client(
    home: Path, number: signal.Signals
) -> None:
    server = subprocess.Popen(
        [sys.executable, *words(home)],
        env=environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        server.stdin.write(json.dumps(hello).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(number)
        assert server.wait(SECONDS) == -number
    finally:
        server.kill()
        server.communicate(timeout=SECONDS)


def test_a_client_that_closes_its_ear_leaves_no_traceback(home: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, *words(home)],
        env=environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        server.stdin.write(json.dumps(hello).encode() + b"\n")
        server.stdin.close()
        with server.stderr as errors:
            assert errors.read() == b""
        assert server.wait(SECONDS) == 0
    finally:
        server.kill()
        server.wait(SECONDS)


# HTTP


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[tuple[str, int, str]]:
    """Serve over HTTP; the address, the port and the token."""
    process = subprocess.Popen(
        [sys.executable, *words(home, "--http", "--port", "0")],
        env=environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp; the token is in (\S+)", line)
        assert found, line
        token = Path(found[2]).read_text().strip()
        assert token not in line
        yield found[0].partition(";")[0], int(found[1]), token
    finally:
        process.terminate()
        out, errors = process.communicate(timeout=SECONDS)
    assert (out, errors) == (b"", b"")


def shown(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_client_with_the_token_reads_the_memory_over_http(
    home: Path, server: tuple[str, int, str]
) -> None:
    url, _, token = server

    async def talk() -> Any:
        with anyio.fail_after(SECONDS):
            async with (
                httpx2.AsyncClient(headers=shown(token)) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                return (await client.call_tool("memory_list", {})).structured_content

    assert "system/human.md" in [each["path"] for each in anyio.run(talk)["documents"]]
    assert stat.S_IMODE((home / "mcp-token").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"Authorization": "Bearer 0123456789abcdef"}, 401, "no_token"),
        ({"Authorization": ""}, 401, "no_token"),
        ({"Host": "evil.example"}, 421, "foreign_host"),
        ({"Origin": "http://evil.example"}, 403, "foreign_origin"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_request_that_may_not_pass_is_refused_in_a_sentence(
    server: tuple[str, int, str], more: dict[str, str], status: int, code: str, method: str
) -> None:
    url, _, token = server
    headers = shown(token) | {"Content-Type": "application/json"} | more
    with httpx2.Client() as http:
        answer = http.request(method, url, headers=headers, content=b"{}")
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["hint"]
    assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.2 is no address")
def test_another_address_of_this_machine_is_not_listened_on(
    server: tuple[str, int, str],
) -> None:
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", server[1]))


# Refusals


def test_a_port_that_is_taken_is_busy(home: Path, server: tuple[str, int, str]) -> None:
    done = Cli(home)("mcp", "--http", "--port", str(server[1]))
    assert (done.code, done.out) == (4, "")
    assert "--port" in done.err


def test_without_the_extra_the_command_says_how_to_install_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    missing = "raise ModuleNotFoundError('no', name='mcp.server')\n"
    (tmp_path / "mcp" / "__init__.py").write_text(missing)
    done = Cli(home, PYTHONPATH=f"{tmp_path}:{ROOT}")("mcp")
    assert (done.code, done.out) == (3, "")
    assert "-m pip install '.[mcp]'` in a checkout" in done.err


def test_a_memory_that_was_never_made_is_refused(tmp_path: Path) -> None:
    done = Cli(tmp_path / "home")("mcp")
    assert (done.code, done.out) == (3, "")
    assert "reflector init" in done.err


def test_flags_of_http_alone_are_a_usage_error(home: Path) -> None:
    assert Cli(home)("mcp", "--port", "1").code == 2
    assert Cli(home)("mcp", "--http", "--port", "70000").code == 2
