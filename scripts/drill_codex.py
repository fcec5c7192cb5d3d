"""Run the main job by the real Codex CLI against a scripted Responses server on loopback.

    npm install --prefix /tmp/clis @openai/codex
    .venv/bin/python scripts/drill_codex.py /tmp/clis/node_modules/.bin

As `drill_cli.py`, for the CLI whose only tool is a shell in a sandbox of its own. It keeps helper
programs below its home, which therefore may not lie in /tmp. As root it cannot make its sandbox
inside ours, so root drills it without.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reflector.agent.presets import PRESETS  # noqa: E402 - the path comes first
from tests.support.cli import Cli  # noqa: E402
from tests.support.fake_cli import LINE, message  # noqa: E402
from tests.support.transcripts import conversation  # noqa: E402

CONFIG = """
[mcp_servers.planted]
command = "touch"
args = ["{folder}/served"]
"""


def command(home: Path, url: str) -> str:
    """Return the preset's own words, with a server and a home of ours."""
    provider = f'{{name="drill",base_url="{url}/v1",wire_api="responses"}}'
    more = ("-c", "model_provider=drill", "-c", f"model_providers.drill={provider}")
    words = ("env", f"CODEX_HOME={home}", *PRESETS["codex"].words[:-1], *more, "-m", "gpt-5", "-")
    return shlex.join(words)


class Handler(BaseHTTPRequestHandler):
    """Has the model run one command, then end."""

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        """Answer a request for a response."""
        asked = self.rfile.read(int(self.headers["content-length"])).decode()
        entry = re.search(r"\[entry (\S+?)\] user", asked)
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m"}
        item["content"] = [{"type": "output_text", "text": "Summary: one preference."}]
        if "function_call_output" not in asked and entry:
            given = json.dumps({"cmd": self._command(entry[1])})
            item = {"type": "function_call", "id": "f", "call_id": "c", "name": "exec_command"}
            item["arguments"] = given
        self._stream(item)

    def _command(self, entry: str) -> str:
        outside = self.server.folder / "outside"  # type: ignore[attr-defined]
        text = message(entry)
        return (
            f"echo '{LINE}' >> system/human.md; echo x > {outside}; git commit -qam mine; "
            f"printf '%s' '{text}' > .tmp/commit.md"
        )

    def _stream(self, item: dict[str, Any]) -> None:
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r"}},
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


def play(bin_folder: Path, folder: Path, sandbox: str) -> list[str]:
    """Play the main job and return what is wrong."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.folder = folder  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = folder / "person" / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    config.write_text(CONFIG.format(folder=folder))
    path = f"{bin_folder}:{os.environ['PATH']}"
    cli = Cli(folder / "home", PATH=path, HOME=str(config.parent.parent))
    cli("init")
    engine = f"name = 'command'\ncommand = '''{command(config.parent, url)}'''\n"
    (cli.home / "config.toml").write_text(f'sandbox = "{sandbox}"\n[engine]\n{engine}')
    done = cli(
        "reflect", conversation(folder / "talk.jsonl", "I prefer pytest.", "Noted."), "--json"
    )
    server.shutdown()
    server.server_close()
    run = done.json["run"]
    print(json.dumps({name: run[name] for name in ("outcome", "reason", "detail", "usage")}))
    checks = {
        f"outcome {run['outcome']}": run["outcome"] == "merged",
        "a write outside": not (folder / "outside").exists(),
        "a server was started": not (folder / "served").exists(),
        "a session was kept": not list(config.parent.glob("sessions/**/*.jsonl")),
    }
    return [name for name, fine in checks.items() if not fine]


def main() -> int:
    """Play the main job with and without the sandbox."""
    bin_folder = Path(sys.argv[1]).resolve()
    version = subprocess.run([bin_folder / "codex", "--version"], capture_output=True, check=True)
    print(version.stdout.decode().strip())
    bad = 0
    for sandbox in ("off",) if os.geteuid() == 0 else ("required", "off"):
        with tempfile.TemporaryDirectory(prefix=".drill-", dir=Path.home()) as folder:
            wrong = play(bin_folder, Path(folder), sandbox)
        print(f"sandbox {sandbox}:", "; ".join(wrong) or "as it should be")
        bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
