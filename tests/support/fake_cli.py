"""An agent CLI that does one act, good or bad. A program of its own: standard library only.

`fake_cli.py ACT [WORD …]` reads its prompt on stdin, as a real one does, and works in the current
folder. `installed` puts it under another name, as a person would have it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ACT = ""
_CHOSEN = 'ACT = ""'
DOCUMENT = "system/human.md"
LINE = "- Runs tests with pytest, never with unittest. (2026-11-30)"
REPORT = "Summary: one preference.\n"
NOTHING = "Summary: small talk. Nothing to record.\n"


def message(entry: str) -> str:
    return (
        "feat(reflection): prefers pytest\n\nUpdates:\n"
        f"- {DOCUMENT}: prefers pytest [entry {entry}]\n\nGenerated-By: agent memory\n"
    )


def edit(line=LINE, path=DOCUMENT):
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def leave(text):
    Path(".tmp").mkdir(exist_ok=True)
    Path(".tmp/commit.md").write_text(text, "utf-8")


def learn(prompt):
    edit()
    leave(message(entry_of(prompt)))


def entry_of(prompt):
    return re.findall(r"^\[entry (\S+)\] user", prompt, re.MULTILINE)[0]


def good(prompt):
    learn(prompt)
    print(REPORT)


def nothing(_prompt):
    print(NOTHING)


def silent(prompt):
    pass


def chatty(_prompt):
    print("All done, everything is fine.")


def forgets(_prompt):
    edit()
    print(REPORT)


def babbles(_prompt):
    edit()
    leave("I changed some things.")
    print(REPORT)


def fenced(prompt):
    edit()
    leave(f"```\n{message(entry_of(prompt)).rstrip()}\n```\n")
    print(REPORT)


def leaks(prompt):
    edit("- The token is ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8")
    leave(message(entry_of(prompt)))


def empties(prompt):
    """Delete a document as it was told: leave its file empty."""
    Path(sys.argv[2]).write_text("")
    entry = entry_of(prompt)
    leave(message(entry).replace(f"- {DOCUMENT}: prefers", f"- forget: {sys.argv[2]}: no more of"))
    print(REPORT)


def reads(prompt):
    """Learn from what lies in the folder, and say what the prompt was."""
    learn(Path(os.environ["TRANSCRIPT_PATH"]).read_text("utf-8"))
    print(f"{len(prompt)} characters of prompt")


def environment(_prompt):
    print(NOTHING, *(f"{name}={value}\n" for name, value in sorted(os.environ.items())))


def outside(prompt):
    """Write where nothing of its is, then do as it was told."""
    for place in sys.argv[2:]:
        try:
            Path(place).write_text("x")
        except OSError as error:
            print(error)
    good(prompt)


def commits(prompt):
    learn(prompt)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "add", "-A"], check=False)
    subprocess.run([*git, "commit", "-qm", "mine"], check=False)
    print(REPORT)


def deletes_git(prompt):
    """Remove whatever of git it can reach."""
    link = Path(".git").read_text("utf-8").removeprefix("gitdir: ").strip()
    shutil.rmtree(Path(link).parent.parent / "objects", ignore_errors=True)
    shutil.rmtree(link, ignore_errors=True)
    try:
        Path(".git").unlink()
    except OSError as error:
        print(error)
    good(prompt)


def stays(_prompt):
    """Ignore every wish to end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    Path(".tmp/here").touch()
    time.sleep(600)


def forks(prompt):
    """Leave a process behind that knows nothing of us, and does not let the output go."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            name = sys.argv[2]
            code = "import os, sys, time\nwhile True: os.write(1, b'more\\n'); time.sleep(0.01)"
            os.execve(sys.executable, ["python", "-c", code, name], {})
        os._exit(0)
    os.wait()
    good(prompt)


def spoils(prompt):
    """Come back after the end and spoil the document."""
    if os.fork() == 0:
        os.setsid()
        while not Path(".tmp/commit.md").exists():
            time.sleep(0.01)
        while True:
            edit("spoilt")
            time.sleep(0.01)
    good(prompt)


def garbage(prompt):
    sys.stdout.buffer.write(b'\xff\xfe\x00{"type": "resu\n' * 1000)
    learn(prompt)


def floods(prompt):
    """Print a line without end, and many others."""
    for _ in range(200):
        sys.stdout.write("x" * 100_000)
    for _ in range(100_000):
        print("line after line after line")
    good(prompt)


def fails(prompt):
    learn(prompt)
    sys.stderr.write("\n".join(sys.argv[2:]) + "\n")
    sys.exit(3)


def links(_prompt):
    """Let the message be a link out of the folder."""
    edit()
    Path(".tmp").mkdir(exist_ok=True)
    Path(".tmp/commit.md").symlink_to(sys.argv[2])


def moves_scratch(prompt):
    """Put a link in place of the scratch folder."""
    learn(prompt)
    shutil.move(".tmp", "tmp-moved")
    Path(".tmp").symlink_to(sys.argv[2])


def deaf(prompt):
    """A CLI that did not even read its prompt."""


# As the known ones speak


def result(**more):
    row = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": REPORT,
        "permission_denials": [],
        "total_cost_usd": 0.25,
        "modelUsage": {
            "claude-x": {
                "inputTokens": 10,
                "outputTokens": 20,
                "cacheReadInputTokens": 30,
                "cacheCreationInputTokens": 40,
            }
        },
    }
    print(json.dumps(row | more), flush=True)


def claude(prompt):
    learn(prompt)
    print(json.dumps({"type": "assistant", "message": {"id": "m1", "model": "claude-x"}}))
    result(result=f"{REPORT} {sys.argv[1:]!r}")


def claude_looks(prompt):
    """Say what of the person it sees."""
    learn(prompt)
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"])
    seen = {
        "CLAUDE_CONFIG_DIR": folder,
        "account": (folder / "account").read_text(),
        "key": bool(os.environ.get("ANTHROPIC_API_KEY")),
        "home": os.environ["HOME"] == str(folder.parent),
        "private": (folder.parent / "private").exists(),
    }
    result(result="\n".join(f"{name}={value}" for name, value in seen.items()))


def claude_nothing(_prompt):
    result(result=NOTHING)


def claude_denied(_prompt):
    result(result=NOTHING, permission_denials=[{"tool_name": "Write", "tool_input": {}}])


def claude_half(_prompt):
    sys.stdout.write('{"type":"result","subtype":"success","result":"Nothing to rec')


def claude_unpaid(_prompt):
    said = "API Error: 401 invalid x-api-key"
    result(is_error=True, api_error_status=401, result=said)
    sys.exit(1)


def installed(folder, name, act):
    """Put an executable `name` into a folder that does one act; its own words follow."""
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).read_text("utf-8")
    program = folder / name
    program.write_text(
        f"#!{sys.executable}\n{source.replace(_CHOSEN, f'ACT = {act!r}', 1)}", "utf-8"
    )
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    act = ACT or sys.argv[1]
    given = "" if act == "deaf" else sys.stdin.buffer.read().decode("utf-8", "replace")
    globals()[act](given)
    sys.stdout.flush()
