"""`reflector mcp`: the memory for any client of the Model Context Protocol."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from reflector.core.errors import SettingsError, UsageError
from reflector.runtime.wiring import Context, context
from reflector.surface.cli.output import Output
from reflector.surface.mcp.stdout import taken

if TYPE_CHECKING:
    from reflector.surface.api.memory import Memory

PORT = 8377
_EXTRA = ("anyio", "mcp", "mcp_types", "starlette", "uvicorn")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add how clients connect."""
    parser.description = (
        "Serve the memory to an MCP client: on standard input and output, as an agent's program "
        "starts it, or over HTTP on this machine alone."
    )
    parser.add_argument("--http", action="store_true", help="serve HTTP on 127.0.0.1")
    parser.add_argument(
        "--port", type=int, metavar="N", help=f"its port ({PORT}; 0 takes a free one)"
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="F", help="the file of the token, made if it is missing"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Serve until the client hangs up, or until told to stop."""
    if not args.http and (args.port is not None or args.token_file):
        raise UsageError(
            "--port and --token-file go with --http.", hint="`reflector mcp --help` explains them."
        )
    wire = None if args.http else taken()
    found = context(args.home, args.identity)
    found.require()
    try:
        if wire is None:
            _http(found, args, out)
        else:
            _stdio(found, wire)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise SettingsError(
            f"The MCP server needs a package that is not installed ({error.name}).",
            hint=f"`{sys.executable} -m pip install '.[mcp]'` in a checkout of Reflector installs "
            "it; if you used pipx, `pipx install --force '.[mcp]'`.",
        ) from error
    return 0


def _stdio(found: Context, wire: TextIO) -> None:
    from reflector.surface.mcp import complaints  # noqa: PLC0415 - the extra may be missing
    from reflector.surface.mcp.server import serving  # noqa: PLC0415
    from reflector.surface.mcp.wire import serve  # noqa: PLC0415

    complaints.plain()
    # A thread waits in a read of standard input and would keep an interrupted loop from ending.
    # Whatever is written at that moment is as safe as in a crash.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A client starts us in the folder of the project that it works on.
    serve(serving(_opened(found, Path.cwd())), wire)


def _http(found: Context, args: argparse.Namespace, out: Output) -> None:
    from reflector.surface.mcp import complaints, http, token  # noqa: PLC0415 - as above
    from reflector.surface.mcp.server import serving  # noqa: PLC0415

    complaints.plain()
    file = args.token_file or found.home.path / token.NAME
    secret = token.token_at(file.absolute(), found.ambient)
    server = serving(_opened(found))
    with http.listening(PORT if args.port is None else args.port) as made:
        url = f"http://{http.ADDRESS}:{made.getsockname()[1]}{http.PATH}"
        out.note(f"Serving {found.agent.identity} at {url}; the token is in {file.absolute()}")
        http.serve(server, made, secret)


def _opened(found: Context, project: Path | None = None) -> Callable[[], Memory]:
    from reflector.surface.api.memory import Memory  # noqa: PLC0415 - help needs no git

    # Opened anew for each call: settings change while a server lives. Whose memory does not.
    home, identity = found.home.path, found.agent.identity
    return lambda: Memory.open(home, identity, cwd=project)
