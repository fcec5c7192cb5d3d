"""No secret in any byte under a home: planted everywhere, looked for by code that knows nothing.

What searches imports nothing of the product: files and their names, git objects decompressed,
packs by the git command line, every table of every database, and all that a command said.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import ROOT, Cli
from tests.support.detached import rest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# Put together here, so that no file holds one; the body of each is unlike all others.
_BODY = "Zq7Rk2Wm9Xc4Vb6Nt8Pd3Lf5Hj1Gs0Ya"


def secret(place: str) -> str:
    """Return a token that only this place holds."""
    mark = "".join(char for char in place.title() if char.isalnum())
    return "ghp" + "_" + (mark + _BODY * 2)[:36]


def plain(place: str) -> str:
    """Return a value that only a key beside it gives away."""
    return f"{place[:4]}-x9K2m7Qw4Z{len(place)}"


class Search:
    """Looks for byte strings in everything below a folder."""

    def __init__(self, *needles: str) -> None:
        self._needles = [needle.encode() for needle in needles]
        self.found: list[str] = []

    def text(self, where: str, data: bytes | str) -> None:
        raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        for needle in self._needles:
            forms = (needle, needle.decode().encode("utf-16-le"), needle[::-1])
            if any(form in raw for form in forms):
                self.found.append(f"{needle.decode()} in {where}")

    def home(self, home: Path, *, leave: tuple[Path, ...] = ()) -> None:
        for place in sorted(home.rglob("*")):
            name = str(place.relative_to(home))
            if any(each == place or each in place.parents for each in leave):
                continue
            self.text(f"the name {name}", name)
            if place.is_symlink():
                self.text(f"the link {name}", str(place.readlink()))
            elif place.is_file():
                self.text(name, place.read_bytes())
                if "objects" in place.parts and len(place.name) == 38:
                    self.text(f"object {name}", zlib.decompress(place.read_bytes()))
            if place.suffix == ".db":
                self._database(place)
            if place.name == ".git" and place.is_dir():
                self._packs(place)

    def _database(self, place: Path) -> None:
        database = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master")]
        for table in tables:
            try:
                rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
            except sqlite3.OperationalError:  # an index
                continue
            self.text(f"{place.name} table {table}", repr(rows))
        database.close()

    def _packs(self, git_dir: Path) -> None:
        done = subprocess.run(
            ["git", f"--git-dir={git_dir}", "cat-file", "--batch-all-objects", "--batch"],
            capture_output=True,
            check=True,
            timeout=60,
        )
        self.text(f"objects of {git_dir}", done.stdout)


PLACES = (
    "user text", "assistant text", "tool argument", "tool result", "file name", "row cwd", "title",
    "hook cwd", "hook session", "hook reason", "focus", "missing file", "undo word", "folder name",
    "edit", "message", "report", "stderr", "scratch name", "scratch", "removed edit", "crash",
    "conversation", "url",
)  # fmt: skip
SECRETS = {place: secret(place) for place in PLACES}
VALUES = {place: plain(place) for place in ("user text", "tool argument", "setting")}


def transcript(folder: Path) -> Path:
    """Write a session of a harness with a secret in every place that holds text."""
    cwd = f"/src/{SECRETS['row cwd']}/shop"
    common = {"cwd": cwd, "sessionId": "5e551040", "version": "2.1.0", "isSidechain": False}
    rows: list[dict[str, object]] = [
        {"type": "summary", "summary": f"About {SECRETS['title']}", "leafUuid": "u4"},
        {
            "type": "user", "uuid": "u1", **common, "timestamp": "2026-11-30T10:00:00.000Z",
            "message": {"role": "user", "content": f"Always use tabs in Makefiles. The key is "
                        f"{SECRETS['user text']} and password: {VALUES['user text']}"},
        },
        {
            "type": "assistant", "uuid": "u2", **common, "timestamp": "2026-11-30T10:00:01.000Z",
            "message": {"role": "assistant", "id": "m1", "content": [
                {"type": "text", "text": f"I saw {SECRETS['assistant text']}."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {
                    "command": f"curl -H 'X: {SECRETS['tool argument']}' "
                               f"https://app:{SECRETS['url']}@db/x",
                    "password": VALUES["tool argument"]}},
            ]},
        },
        {
            "type": "user", "uuid": "u3", **common, "timestamp": "2026-11-30T10:00:02.000Z",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content":
                 f"denied: {VALUES['tool argument']} {SECRETS['tool result']}"}]},
        },
        {
            "type": "assistant", "uuid": "u4", **common, "timestamp": "2026-11-30T10:00:03.000Z",
            "message": {"role": "assistant", "id": "m2",
                        "content": [{"type": "text", "text": "Noted."}]},
        },
    ]  # fmt: skip
    place = folder / SECRETS["folder name"] / f"{SECRETS['file name']}.jsonl"
    place.parent.mkdir(exist_ok=True)
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


class Said:
    """Runs commands and keeps all that they say."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli
        self.texts: list[tuple[str, str]] = []

    def __call__(self, *words: str | Path) -> int:
        done = self.cli(*words)
        self.texts += [(f"stdout of {words[0]}", done.out), (f"stderr of {words[0]}", done.err)]
        assert done.code != 70, done.err
        return done.code


@pytest.fixture
def cli(born) -> Iterator[Cli]:
    made = born(REFLECTOR_TRIGGER_STEP_COUNT="1")
    yield made
    rest(made.home)


def leaks(said: Said, *needles: str, leave: tuple[Path, ...] = ()) -> list[str]:
    rest(said.cli.home)
    search = Search(*needles)
    search.home(said.cli.home, leave=leave)
    for where, text in said.texts:
        search.text(where, text)
    return search.found


def test_the_search_finds_what_is_there(tmp_path):
    home = tmp_path / "home"
    repo = home / "repo"
    repo.mkdir(parents=True)
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@b"]
    (repo / "a").write_text("in an object: NEEDLE-1", "utf-8")
    for words in (["init", "-q"], ["add", "a"], ["commit", "-qm", "NEEDLE-2"], ["gc", "-q"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (repo / "a").write_text("another", "utf-8")
    (home / "NEEDLE-3").mkdir()
    (home / "link").symlink_to("NEEDLE-4")
    database = sqlite3.connect(home / "state.db")
    database.execute("CREATE TABLE t (a TEXT)")
    database.execute("INSERT INTO t VALUES ('NEEDLE-5')")
    database.commit()
    database.close()
    needles = [f"NEEDLE-{number}" for number in range(1, 7)]
    search = Search(*needles)
    search.home(home)
    assert {each.split(" ")[0] for each in search.found} == set(needles[:5])


def test_no_secret_of_a_conversation_reaches_a_byte_under_the_home(cli):
    said = Said(cli)
    place = transcript(cli.home.parent)
    said("ingest", place)
    said("ingest", place, "--json")
    assert said("reflect", place, "--focus", f"Look at {SECRETS['focus']}") == 0
    run = cli("runs", "--json").json["runs"][0]["id"]
    for words in (
        ("status",), ("status", "--json"), ("runs",), ("runs", "--json"), ("prompt",),
        ("prompt", "--json"), ("show", run), ("show", run, "--diff"), ("show", run, "--json"),
        ("reflect", "--recent", "5", "--json"), ("event", "settled"), ("event", "idle", "--json"),
        ("event", "shutdown", "--conversation", f"jsonl/{SECRETS['conversation']}"),
        ("undo", SECRETS["undo word"]), ("undo", run), ("undo", run, "--json"), ("doctor",),
        ("sweep", "--json"), ("ingest", cli.home.parent / SECRETS["missing file"]),
        ("ingest", cli.home.parent / SECRETS["missing file"], "--json"), ("config", "show"),
    ):  # fmt: skip
        said(*words)
    assert said.cli("show", run, "--json").json["run"]["outcome"] == "merged"
    assert leaks(said, *SECRETS.values(), *VALUES.values()) == []


def test_no_secret_of_a_hook_stays_in_the_spool(cli):
    said = Said(cli)
    place = transcript(cli.home.parent)
    given = {
        "session_id": SECRETS["hook session"],
        "transcript_path": str(place),
        "cwd": f"/src/{SECRETS['hook cwd']}",
        "reason": f"password: {VALUES['user text']} {SECRETS['hook reason']}",
        "prompt": SECRETS["user text"],
    }
    for event in ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
        done = subprocess.run(
            [cli.home / "bin" / "reflector", "hook", "claude-code", event],
            env={"REFLECTOR_HOME": str(cli.home), "PATH": os.environ["PATH"]},
            input=json.dumps(given).encode(),
            capture_output=True,
            check=True,
            timeout=30,
        )
        said.texts += [(f"hook {event}", done.stdout.decode()), (event, done.stderr.decode())]
    rest(cli.home)
    said("event", "--drain", "--json")
    said("status", "--json")
    assert leaks(said, *SECRETS.values(), *VALUES.values()) == []


def test_a_persons_settings_are_theirs_and_shown_without_secrets(cli):
    said = Said(cli)
    settings = cli.home / "config.toml"
    remote = f"https://app:{VALUES['setting']}@example.invalid/m.git"
    settings.write_text(f'[push]\nremote = "{remote}"\n', "utf-8")
    said("config", "show")
    said("config", "show", "--json")
    said("status", "--json")
    settings.write_text(f'[push]\nremote = "{remote}"\nenabled = "{SECRETS["url"]}"\n', "utf-8")
    assert said("status") == 3
    settings.write_text(f'"{SECRETS["url"]}" = 1\n', "utf-8")
    assert said("status", "--json") == 3
    needles = (VALUES["setting"], SECRETS["url"])
    assert leaks(said, *needles, leave=(settings,)) == []


CHILD = """
import json, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.support.children import Child
child = Child(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
s = json.loads({secrets!r})
print("progress reading " + s["stderr"], flush=True)
print("trouble: " + s["stderr"], file=sys.stderr)
print(s["stderr"], flush=True)
(child.tree / ("scratch-" + s["scratch name"])).write_text(s["scratch"])
child.learn("- the token is " + s["removed edit"] + "\\n")
child.commit()
(child.tree / "system" / "human.md").write_bytes(child.git("show", "main:system/human.md").encode() + b"\\n")
child.learn("- about " + s["edit"] + "\\n")
child.commit(subject="fix(reflection): " + s["message"])
if {crash}:
    raise RuntimeError("it broke over " + s["crash"])
child.finish({kind!r}, report="I wrote " + s["report"], reason={reason!r}, detail="d " + s["report"])
"""


@pytest.mark.parametrize("kind", ["committed", "crash", "failed"])
def test_no_secret_that_an_engine_writes_stays_anywhere(tmp_path, kind):
    from tests.support.scenes import Scene

    scene = Scene(tmp_path)
    script = tmp_path / "engine.py"
    reason = "refusal" if kind == "failed" else ""
    filled = CHILD.format(
        root=str(ROOT), secrets=json.dumps(SECRETS), crash=kind == "crash", kind=kind, reason=reason
    )
    script.write_text(filled, "utf-8")
    scene.says("Always use tabs in Makefiles.", "Noted.")
    from reflector.runtime.loop import Quiet
    from reflector.runtime.reflect import Options, reflect

    done = reflect(scene.context(), Options(), Quiet(), (sys.executable, "-I", str(script)))
    (run,) = done.runs
    assert run.outcome == "failed"
    said = Said(Cli(scene.home))
    for words in (("show", run.id, "--diff"), ("show", run.id, "--json"), ("status", "--json")):
        said(*words)
    assert leaks(said, *SECRETS.values()) == []
    fsck = ["git", "-C", str(scene.repo), "fsck", "--strict"]
    assert subprocess.run(fsck, capture_output=True, check=False).returncode == 0


def test_a_secret_in_the_name_of_a_conversation_is_kept_nowhere(cli):
    said = Said(cli)
    mark, other = SECRETS["conversation"], SECRETS["file name"]
    row = {"role": "user", "content": "Always use tabs in Makefiles.", "id": "r1"}
    named = cli.home.parent / "named.jsonl"
    named.write_text(json.dumps({**row, "session_id": mark}) + "\n", "utf-8")
    nameless = cli.home.parent / f"{other}.jsonl"
    nameless.write_text(json.dumps({**row, "content": "Never use spaces there."}) + "\n", "utf-8")
    assert said("reflect", named, nameless) == 0
    for words in (("runs", "--json"), ("status", "--json"), ("ingest", named, "--json")):
        said(*words)
    told = cli("status", "--json").json["conversations"]
    assert "jsonl/[REDACTED:github]" in {each["id"] for each in told}
    assert leaks(said, mark, other) == []


def hooked(cli: Cli, event: str, **given: str) -> str:
    done = subprocess.run(
        [cli.home / "bin" / "reflector", "hook", "claude-code", event],
        env={"REFLECTOR_HOME": str(cli.home), "PATH": os.environ["PATH"]},
        input=json.dumps(given).encode(),
        capture_output=True,
        check=True,
        timeout=30,
    )
    return done.stdout.decode() + done.stderr.decode()


def test_a_secret_that_a_person_put_into_memory_comes_out_nowhere(cli):
    said = Said(cli)
    mark = SECRETS["edit"]
    for name in ("system/human.md", "reference/old.md"):
        place = cli.repo / name
        place.parent.mkdir(exist_ok=True)
        head = f"---\ndescription: about {mark}\n---\n\n"
        place.write_text(f"{head}# Old\n\n- the token is {mark}\n", "utf-8")
    git = ["git", "-C", str(cli.repo), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", f"by hand: {mark}"], check=True, capture_output=True)
    for words in (
        ("prompt",), ("prompt", "--json"), ("prompt", "--explain"), ("memory", "ls"),
        ("memory", "ls", "--json"), ("memory", "cat", "system/human.md"),
        ("memory", "cat", "reference/old.md", "--json"), ("memory", "log", "system/human.md"),
        ("memory", "why", "system/human.md:7", "--json"), ("memory", "tokens"),
        ("memory", "lint"), ("status", "--json"),
    ):  # fmt: skip
        said(*words)
    for _ in range(2):
        said.texts.append(("hook", hooked(cli, "SessionStart", cwd="/src/shop", session_id="s")))
    rest(cli.home)
    search = Search(mark)
    search.home(cli.home, leave=(cli.repo,))
    for where, text in said.texts:
        search.text(where, text)
    assert search.found == []
    assert "[REDACTED:github]" in said.texts[0][1]


def test_what_a_person_types_into_a_command_is_kept_without_secrets(cli):
    said = Said(cli)
    place = transcript(cli.home.parent)
    mark = SECRETS["message"]
    said("reflect", place, "--review")
    run = cli("runs", "--json").json["runs"][0]["id"]
    said("review", "reject", run, "--reason", f"no: {mark}")
    note = cli.home.parent / "note.md"
    note.write_text("a harmless note\n", "utf-8")
    words = ("--description", "a note", "--reason", f"because of {mark}", "--file", note)
    said("memory", "create", "reference/note.md", *words)
    said(
        "memory",
        "create",
        f"reference/{mark}.md",
        "--description",
        "x",
        "--reason",
        "y",
        "--file",
        note,
    )
    note.write_text(f"the token is {mark}\n", "utf-8")
    said("memory", "create", "reference/other.md", *words)
    said("memory", "why", f"{mark}:1")
    said("review", "show", mark)
    said("retry", mark)
    said("runs", "--json")
    assert leaks(said, mark) == []
