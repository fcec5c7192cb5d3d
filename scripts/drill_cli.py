"""Run the main job by a real agent CLI against a scripted server on loopback, and say what came of it.

    npm install --prefix /tmp/clis @anthropic-ai/claude-code
    .venv/bin/python scripts/drill_cli.py /tmp/clis/node_modules/.bin

Nothing leaves this machine: the CLI's server is the scripted one, its home and account are made up.
Not part of the tests, since the CLIs are no dependencies of ours; run it when a preset changes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.cli import Cli, git  # noqa: E402 - the path comes first
from tests.support.fake_cli import LINE, message  # noqa: E402
from tests.support.messages_server import Reply, Script, calls, says, serving  # noqa: E402
from tests.support.transcripts import conversation  # noqa: E402

DOCUMENT = "$DIR/system/human.md"
KEY = "sk-ant-api03-" + "k" * 95


class Drill(Script):
    """A script that knows what a CLI of its own habits asks: it fills in folder and entry."""

    def next(self, request: dict[str, Any], key: str) -> tuple[int, Reply]:
        """Answer a request with tools by the script, any other with a word."""
        text = said(request)
        self.requests.append({"text": text, "tools": [each["name"] for each in tools(request)]})
        self.keys.append(key)
        number = len([each for each in self.requests if each["tools"]]) - 1
        # The server looks for ids in the first block of the first message.
        request["messages"][0]["content"] = [{"type": "text", "text": text}]
        if not tools(request):
            return len(self.requests), says("Fine.")
        reply = self.replies[min(number, len(self.replies) - 1)]
        folder = re.search(r"\(`\$MEMORY_DIR`\): \"(.*?)\"", text)
        filled = json.dumps(list(reply.content)).replace("$DIR", folder[1] if folder else "")
        return len(self.requests), Reply(json.loads(filled), reply.stop)


def tools(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of a request."""
    return list(request.get("tools") or ())


def said(request: dict[str, Any]) -> str:
    """Return every text of a request's messages."""
    found = []
    for each in request["messages"]:
        blocks = each["content"]
        if isinstance(blocks, str):
            blocks = [{"text": blocks}]
        found += [block.get("text") or json.dumps(block.get("content", "")) for block in blocks]
    return "\n".join(found)


def learns(cli: Cli) -> Sequence[Reply]:
    """Return what a model answers that keeps one preference."""
    text = git(cli.repo, "show", "main:system/human.md") + LINE + "\n"
    return [
        calls(("Read", {"file_path": DOCUMENT})),
        calls(("Write", {"file_path": DOCUMENT, "content": text})),
        calls(("Write", {"file_path": "$DIR/.tmp/commit.md", "content": message("$ENTRY1")})),
        says("Summary: one preference."),
    ]


def strays(place: Path) -> Sequence[Reply]:
    """Return what a model answers that writes outside, and then sees nothing to record."""
    return [
        calls(("Write", {"file_path": str(place), "content": "x"})),
        says("Nothing to record."),
    ]


@dataclass(frozen=True)
class Case:
    """One thing that a real CLI must show."""

    name: str
    outcome: str
    reason: str | None


def play(bin_folder: Path, case: Case, folder: Path, sandbox: str) -> list[str]:
    """Play one case and return what is wrong."""
    person = folder / "person"
    (person / ".claude").mkdir(parents=True)
    (person / ".claude" / "CLAUDE.md").write_text("Always say PLANTED.\n")
    hook = {"type": "command", "command": f"touch {folder}/hooked"}
    hooks = {"hooks": {"SessionStart": [{"hooks": [hook]}], "Stop": [{"hooks": [hook]}]}}
    (person / ".claude" / "settings.json").write_text(json.dumps(hooks))
    path = f"{bin_folder}:{os.environ['PATH']}"
    cli = Cli(folder / "home", PATH=path, HOME=str(person), ANTHROPIC_API_KEY=KEY)
    cli("init")
    outside = folder / "outside"
    script = Drill(learns(cli) if case.name == "learns" else strays(outside))
    with serving(script) as url:
        engine = f'name = "command"\ncommand = "claude"\nbase_url = "{url}"\n'
        (cli.home / "config.toml").write_text(f'sandbox = "{sandbox}"\n[engine]\n{engine}')
        talk = conversation(folder / "talk.jsonl", "I prefer pytest.", "Noted.")
        done = cli("reflect", talk, "--json")
    run = done.json["run"]
    print(json.dumps({name: run[name] for name in ("outcome", "reason", "detail", "usage")}))
    heard = "\n".join(each["text"] for each in script.requests)
    checks = {
        f"outcome {run['outcome']}": run["outcome"] == case.outcome,
        f"reason {run['reason']}": run["reason"] == case.reason,
        "sandboxed": run["sandboxed"] is (sandbox == "required"),
        "a write outside": not outside.exists(),
        "a hook ran": not (folder / "hooked").exists(),
        "CLAUDE.md was read": "PLANTED" not in heard,
        "a session was kept": not list((person / ".claude").glob("projects/*/*.jsonl")),
        "the account": all(KEY in each for each in script.keys) and bool(script.keys),
    }
    print("tools:", sorted({name for each in script.requests for name in each["tools"]}))
    return [name for name, fine in checks.items() if not fine]


CASES = (
    Case("learns", "merged", None),
    Case("strays", "failed", "engine_error"),
)


def main() -> int:
    """Play every case with and without the sandbox."""
    bin_folder = Path(sys.argv[1]).resolve()
    version = subprocess.run([bin_folder / "claude", "--version"], capture_output=True, check=True)
    print(version.stdout.decode().strip())
    bad = 0
    for case in CASES:
        for sandbox in ("required", "off"):
            with tempfile.TemporaryDirectory(prefix="drill-") as folder:
                wrong = play(bin_folder, case, Path(folder), sandbox)
            print(f"{case.name}, sandbox {sandbox}:", "; ".join(wrong) or "as it should be")
            bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
