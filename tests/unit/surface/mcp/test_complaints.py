"""What libraries of the MCP server complain about."""

from __future__ import annotations

import asyncio
import logging

import anyio
import pytest
from starlette.requests import ClientDisconnect

from reflector.surface.mcp import complaints
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    complaints.plain()


def complain(error: BaseException) -> None:
    logging.getLogger("mcp.somewhere").error("Error handling the request", exc_info=error)


@pytest.mark.parametrize(
    "error",
    [
        ClientDisconnect(),
        BrokenPipeError(),
        ConnectionResetError(),
        anyio.ClosedResourceError(),
        asyncio.CancelledError(),
    ],
)
def test_a_client_that_leaves_is_nothing_to_complain_about(capsys, error):
    complain(error)
    assert capsys.readouterr() == ("", "")


def test_an_error_that_nobody_expected_is_told_without_its_secrets(capsys):
    complain(RuntimeError(f"broke at {TOKEN}\x1b[31m"))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Error handling the request\n")
    assert "RuntimeError: broke at [REDACTED:github]\\x1b[31m" in said.err
    assert TOKEN not in said.err


def test_only_what_is_wrong_is_said(capsys):
    logging.getLogger("uvicorn.error").info("Started server process")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert capsys.readouterr().err == "Invalid HTTP request received.\n"
