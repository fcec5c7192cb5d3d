"""Let real harnesses learn: two sessions each, against a scripted model on loopback.

    npm install --prefix /tmp/clis @anthropic-ai/claude-code @openai/codex opencode-ai \\
        @google/gemini-cli @mariozechner/pi-coding-agent
    .venv/bin/python scripts/drill_harness.py /tmp/clis/node_modules/.bin [HARNESS…]

In an empty HOME our hooks are installed, a session of thirty steps is held, and a reflection must
be merged by itself. The request of the next session, as the server received it, must then contain
what was learned; its model reads a document by the command that the block names, which nobody
is asked about. Nothing leaves this machine. Not part of the tests, since the harnesses are no
dependencies of ours; run it when a recipe, an adapter or the hook changes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.cli import Cli, git  # noqa: E402 - the path comes first
from tests.support.messages_server import Reply, _events  # noqa: E402

STEPS = 30
LESSON = "Always run the tests with make test."
MARKER = "The deploy window opens on Tuesday."
KEY = "sk-ant-api03-" + "k" * 95
PATIENCE = 120
Json = dict[str, Any]


@dataclass
class Model:
    """What every dialect's server asks: a text, and the shell command to run, if any."""

    reads: bool = False
    """Whether it follows the block and reads the document that it names."""
    heard: list[str] = field(default_factory=list)

    def next(self, asked: str, results: int) -> tuple[str, str]:
        """Return what the model says, and the command that it runs ("" = none)."""
        self.heard.append(asked)
        if self.reads:
            return ("I look it up.", self._command(asked)) if not results else ("Read.", "")
        return (
            (f"Step {results + 1}.", f"true {results}")
            if results < STEPS - 1
            else ("All is done.", "")
        )

    @staticmethod
    def _command(asked: str) -> str:
        plain = asked.replace('\\"', '"').replace("\\n", "\n")
        found = re.search(r"`([^`\n]*memory cat PATH[^`\n]*)`", plain)
        return found[1].replace("PATH", "reference/deploy.md") if found else "echo no-command"


class Server(BaseHTTPRequestHandler):
    """Speaks Messages, Responses and generateContent, by the path that is asked."""

    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> Model:
        """The scripted model behind it."""
        return self.server.model  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        """Answer whatever else is asked with nothing."""
        self._send(b"{}")

    do_HEAD = do_GET  # noqa: N815 - the name that the library looks for

    def do_POST(self) -> None:
        """Answer in the dialect of the path."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        if "/responses" in self.path:
            self._stream(responses(self.model, body))
        elif "enerateContent" in self.path:
            events = gemini(self.model, body)
            if "stream" in self.path:
                self._stream(events, named=False)
            else:
                self._send(json.dumps(events[0]).encode())
        elif self.path.partition("?")[0].endswith("/messages"):
            self._stream(messages(self.model, body))
        else:
            self._send(b'{"input_tokens": 10, "totalTokens": 10}')

    def _send(self, raw: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, events: Sequence[Json], *, named: bool = True) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            head = f"event: {event['type']}\n" if named else ""
            self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def messages(model: Model, body: Json) -> Sequence[Json]:
    """Answer a Messages request; one without tools asks for a title or the like."""
    shell = _tool(each["name"] for each in body.get("tools") or ())
    number = time.monotonic_ns()
    if not shell:
        return list(_events(Reply([{"type": "text", "text": "A title"}]), body["model"], number))
    blocks = [each for message in body["messages"] for each in message["content"]]
    results = sum(isinstance(each, dict) and each["type"] == "tool_result" for each in blocks)
    text, command = model.next(json.dumps(body, ensure_ascii=False), results)
    content: list[Json] = [{"type": "text", "text": text}]
    if command:
        given = {"command": command, "description": "a step"}
        content.append({"type": "tool_use", "name": shell, "input": given})
    reply = Reply(content, "tool_use" if command else "end_turn")
    return list(_events(reply, body["model"], number))


def responses(model: Model, body: Json) -> Sequence[Json]:
    """Answer a Responses request."""
    results = sum(str(each.get("type")).endswith("call_output") for each in body["input"])
    text, command = model.next(json.dumps(body, ensure_ascii=False), results)
    number = time.monotonic_ns()
    said = {"type": "message", "role": "assistant", "id": f"m{number}"}
    items: list[Json] = [{**said, "content": [{"type": "output_text", "text": text}]}]
    if command:
        call = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}"}
        shell = _tool(str(each.get("name")) for each in body["tools"])
        items.append({**call, "name": shell, "arguments": json.dumps({"cmd": command})})
    events: list[Json] = [{"type": "response.created", "response": {"id": f"r{number}"}}]
    for index, item in enumerate(items):
        done = {"type": "response.output_item.done", "output_index": index, "item": item}
        events.append(done)
    return [*events, {"type": "response.completed", "response": {"id": f"r{number}"}}]


def gemini(model: Model, body: Json) -> Sequence[Json]:
    """Answer a generateContent request; one without tools asks for a route or the like."""
    declared = [
        each["name"]
        for tool in body.get("tools") or ()
        for each in tool.get("functionDeclarations") or ()
    ]
    parts = [part for each in body["contents"] for part in each.get("parts") or ()]
    answer: list[Json] = [{"text": '{"reasoning": "small", "model_choice": "flash"}'}]
    if shell := _tool(declared):
        results = sum("functionResponse" in part for part in parts)
        text, command = model.next(json.dumps(body, ensure_ascii=False), results)
        answer = [{"text": text}]
        if command:
            given = {"command": command, "description": "a step"}
            answer.append({"functionCall": {"name": shell, "args": given}})
    candidate = {"content": {"role": "model", "parts": answer}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return [{"candidates": [candidate], "usageMetadata": usage}]


def _tool(names: Iterator[str] | Sequence[str]) -> str:
    known = ("bash", "exec_command", "run_shell_command")
    return next((name for name in names if name.lower() in known), "")


@contextmanager
def serving(model: Model) -> Iterator[str]:
    """Serve the scripted model; yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    server.model = model  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True)
class Place:
    """Where one drill plays: a person's HOME, a project in it, the CLIs, the server."""

    person: Path
    project: Path
    clis: Path
    url: str


@dataclass(frozen=True)
class Harness:
    """How one real harness is started without a person, and what it must find configured."""

    name: str
    program: str
    words: Callable[[Place, str], list[str]]
    environ: Callable[[Place], Mapping[str, str]]
    files: Callable[[Place], Mapping[str, str]] = lambda _: {}


def _claude(_place: Place, prompt: str) -> list[str]:
    return ["-p", prompt, "--allowedTools", "Bash(true:*)", "--max-turns", "60"]


def _codex(place: Place, prompt: str) -> list[str]:
    provider = f'{{name="drill",base_url="{place.url}/v1",wire_api="responses"}}'
    return [
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("--dangerously-bypass-hook-trust", "-c", "model_provider=drill"),
        *("-c", f"model_providers.drill={provider}", "-m", "gpt-5", prompt),
    ]


def _opencode(place: Place, prompt: str) -> list[str]:
    return ["run", prompt, "--format", "json", "-m", "drill/m", "--dir", str(place.project)]


def _opencode_config(place: Place) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/anthropic",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": KEY},
        "models": {"m": {"name": "m"}},
    }
    config = {"provider": {"drill": provider}, "autoupdate": False, "share": "disabled"}
    return {".config/opencode/opencode.json": json.dumps(config)}


def _pi_config(place: Place) -> Mapping[str, str]:
    model = {"id": "m", "name": "m", "contextWindow": 200000, "maxTokens": 4096}
    provider = {
        "baseUrl": place.url,
        "api": "anthropic-messages",
        "apiKey": KEY,
        "models": [{**model, "reasoning": False, "input": ["text"]}],
    }
    return {".pi/agent/models.json": json.dumps({"providers": {"drill": provider}})}


_GEMINI = {"security": {"auth": {"selectedType": "gemini-api-key"}}}

HARNESSES = (
    Harness(
        "claude-code",
        "claude",
        _claude,
        lambda place: {
            "ANTHROPIC_BASE_URL": place.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    ),
    Harness("codex", "codex", _codex, lambda _: {}),
    Harness(
        "gemini-cli",
        "gemini",
        lambda _, prompt: ["-p", prompt, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
        lambda place: {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": place.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        lambda _: {".gemini/settings.json": json.dumps(_GEMINI, indent=2)},
    ),
    Harness("opencode", "opencode", _opencode, lambda _: {}, _opencode_config),
    Harness(
        "pi",
        "pi",
        lambda _, prompt: ["-p", "--provider", "drill", "--model", "m", prompt],
        lambda _: {"PI_OFFLINE": "1"},
        _pi_config,
    ),
)


def hold(harness: Harness, place: Place, prompt: str) -> None:
    """Hold one session to its end."""
    environ = {
        "HOME": str(place.person),
        "PATH": f"{place.clis}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "1",
        **harness.environ(place),
    }
    done = subprocess.run(
        [place.clis / harness.program, *harness.words(place, prompt)],
        cwd=place.project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        print(
            f"  exit {done.returncode}:", done.stderr.decode()[-1500:], done.stdout.decode()[-500:]
        )


def merged(cli: Cli) -> list[Json]:
    """Wait for a run that was merged; return all runs."""
    runs: list[Json] = []
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        runs = cli("runs", "--json").json["runs"]
        if any(run["outcome"] == "merged" for run in runs):
            return runs
        time.sleep(0.5)
    return runs


def play(harness: Harness, clis: Path, folder: Path) -> list[str]:
    """Hold both sessions; return what is wrong."""
    model = Model()
    with serving(model) as url:
        place = Place(folder / "person", folder / "person" / "project", clis, url)
        place.project.mkdir(parents=True)
        git(place.project, "init", "-q")
        for name, text in harness.files(place).items():
            (place.person / name).parent.mkdir(parents=True, exist_ok=True)
            (place.person / name).write_text(text)
        home = place.person / ".reflector"
        cli = Cli(home, HOME=str(place.person), PATH=f"{clis}:{os.environ['PATH']}")
        done = cli("install", harness.name)
        if done.code:
            return [f"install: {done.out}{done.err}"]
        (folder / "deploy.md").write_text(f"- {MARKER}\n")
        words = ("--description", "when we deploy", "--file", folder / "deploy.md")
        done = cli("memory", "create", "reference/deploy", "--reason", "a fact", *words)
        if done.code:
            return [f"memory create: {done.err}"]
        hold(harness, place, f"{LESSON} Then go through {STEPS} small steps.")
        runs = merged(cli)
        first = len(model.heard)
        model.reads = True
        hold(harness, place, "When do we deploy?")
        second = model.heard[first:]
        status = cli("status")
    quote = next((where for text in second if (where := _quoted(text))), "")
    print(
        f"  requests {first} + {len(second)}; run: {[(r['id'], r['trigger'], r['outcome']) for r in runs]}"
    )
    print(f"  the next session was told: {quote}")
    print("  " + status.out.replace("\n", "\n  ").rstrip())
    told = json.loads(second[-1]) if second else {}
    checks = {
        "no run was merged": any(run["outcome"] == "merged" for run in runs),
        "the run was not started by steps": any(run["trigger"] == "step-count" for run in runs),
        "the next session was not told": bool(quote),
        "the document was not read": MARKER in json.dumps(told),
    }
    return [name for name, fine in checks.items() if not fine]


def _quoted(text: str) -> str:
    """Return the lesson as it stands inside the block, "" if it stands nowhere there."""
    at = text.find("reflector:", 0)
    start = text.find(LESSON.rstrip("."), at) if at >= 0 else -1
    return text[max(0, start - 120) : start + 80] if start >= 0 else ""


def main() -> int:
    """Play the harnesses that are named, all by default."""
    clis = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or [each.name for each in HARNESSES]
    bad = 0
    for harness in (each for each in HARNESSES if each.name in wanted):
        if not (clis / harness.program).exists():
            print(f"{harness.name}: not installed")
            continue
        # What a harness left running may still write while its home goes.
        with tempfile.TemporaryDirectory(
            prefix=".drill-", dir=Path.home(), ignore_cleanup_errors=True
        ) as folder:
            words = [str(clis / harness.program), "--version"]
            environ = {**os.environ, "HOME": folder}
            version = subprocess.run(words, env=environ, capture_output=True, check=True)
            said = (version.stdout or version.stderr).decode().strip()
            print(f"{harness.name} {said.splitlines()[-1]}", flush=True)
            wrong = play(harness, clis, Path(folder))
        print(f"{harness.name}:", "; ".join(wrong) or "as it should be", flush=True)
        bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
