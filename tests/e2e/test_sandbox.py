"""A run by a model inside the sandbox, and what hostile code in its place can do there."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reflector.runtime import sandbox
from reflector.runtime.launch import Ended, Listening, environment, run_child
from reflector.runtime.processes import end_strays
from reflector.runtime.sandbox_probe import _places
from tests.support import hostile
from tests.support.cli import Cli, git
from tests.support.clocks import FakeClock
from tests.support.hostile import Host, host, sandbox_or_skip
from tests.support.messages_server import Reply, Script, calls, serving
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow

KEY = "sk-ant-api03-" + "k" * 95
LINE = "- Runs tests with pytest. (2026-11-30)"
LEARNS = [
    calls(("insert", {"path": "system/human.md", "after_line": 3, "text": LINE})),
    calls(
        (
            "commit",
            {
                "type": "feat",
                "summary": "prefers pytest",
                "updates": [{"text": "system/human.md: prefers pytest", "evidence": ["$ENTRY1"]}],
            },
        )
    ),
    calls(("finish", {"report": "Summary: one preference."})),
]


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Host]:
    with host(tmp_path) as made:
        sandbox_or_skip(made.memory)
        yield made


# Hostile acts

FILES = (
    "reads_a_secret_of_the_person",
    "reads_the_journal",
    "writes_outside",
    "writes_in_another_worktree",
    "moves_main",
    "plants_a_hook",
    "signals_the_supervisor",
    # Nobody but root may do this outside.
    *(["changes_the_kernel"] if os.geteuid() == 0 else []),
)
CASES = [
    *((hostile.by_supervisor, act) for act in FILES),
    *((hostile.as_command, act) for act in FILES),
    (hostile.as_command, "deletes_an_object"),
    (hostile.as_command, "reaches_a_port_of_the_host"),
    (hostile.as_engine, "reaches_a_port_of_the_host"),
]


@pytest.mark.parametrize("confined", [True, False], ids=["sandbox", "off"])
@pytest.mark.parametrize(("way", "act"), CASES, ids=[f"{way.__name__}-{act}" for way, act in CASES])
def test_a_hostile_act_succeeds_only_without_the_sandbox(on, way, act, confined):
    said = way(on, act, confined=confined)
    assert on.done(act, said) is not confined, said


# What is inside

_LOOKS = """
import json, os, sys
print("ready", flush=True)
sys.stdin.readline()
def names(place):
    try:
        return sorted(os.listdir(place))
    except OSError:
        return None
print("progress", json.dumps([dict(os.environ), [names(place) for place in sys.argv[1:]]]))
"""


def looks(on: Host, work: sandbox.Work, profile: sandbox.Profile, *where: Path):
    """Return the environment inside, and the names in these folders."""
    words = hostile.words(on.memory, profile)
    command = [*words, sys.executable, "-I", "-c", _LOOKS, *map(str, where)]
    said = hostile.run(command, work.run_folder)
    return json.loads(said.partition("progress ")[2])


def test_inside_is_the_environment_of_the_run_and_of_the_home_what_it_needs(on):
    work = on.work()
    (work.run_folder / "payload.json").write_text("{}", "utf-8")
    profile = sandbox.engine_profile(sandbox.host_mounts(), work, {}, network=True)
    agent, place = on.memory.agent.path, work.run_folder
    where = (
        agent,
        agent / "worktrees",
        place,
        place / "home",
        work.home,
        on.repo,
        Path("/etc/ssl"),
    )
    seen, names = looks(on, work, profile, *where)
    built = environment(place, place, "me", "20261130T120000-0123abcd")
    assert seen == {**built, "PWD": str(place)}
    assert names[:6] == [
        ["repo", "runs", "worktrees"],
        ["a-run"],
        ["home", "out", "payload.json"],
        [],
        ["agents"],
        [".git"],
    ]
    assert "private" not in names[6]


def test_settings_that_lie_around_the_home_show_nothing_of_it(on):
    work, around = on.work(), on.folder
    profile = sandbox.command_profile(sandbox.host_mounts(), work, [around], network=False)
    _, names = looks(on, work, profile, around, work.home, work.home / "agents")
    assert "person" in names[0]
    assert names[1:] == [["agents"], [on.memory.agent.slug]]


def test_a_cli_edits_its_worktree_and_its_settings_and_git_stays_as_it_is(on):
    work, own = on.work(), on.folder / "person"
    profile = sandbox.command_profile(sandbox.host_mounts(), work, [own], network=False)
    words = hostile.words(on.memory, profile)
    script = """
    echo ready; echo more >> system/human.md; echo more >> "$1/secret"
    git -c user.name=x -c user.email=x@example.com commit -qam x && echo committed
    rm -f .git; echo "gitdir: /tmp" > .git; echo rest
    """
    said = hostile.run([*words, "sh", "-c", script, "sh", str(own)], work.run_folder)
    assert said == "ready\nrest\n"
    assert (work.worktree / "system" / "human.md").read_text("utf-8").endswith("more\n")
    assert (own / "secret").read_text("utf-8").endswith("more\n")
    assert git(work.worktree, "rev-parse", "HEAD") == git(on.repo, "rev-parse", "main")


NOBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, as the folders of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="reflector-nobody-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_the_sandbox_needs_no_powers_of_root(on, open_folder):
    work = _places(open_folder)
    # The interpreter of the tests may lie where only root can read it; a shell is enough here.
    host = [
        each for each in sandbox.host_mounts() if each.place.startswith(("/usr", "/lib", "/bin"))
    ]
    words = hostile.words(on.memory, sandbox.engine_profile(host, work, {}, network=True))
    script = 'echo ready; id -u; echo learned > "$1/new"; ls "$2"'
    nobody = NOBODY if os.geteuid() == 0 else os.geteuid()
    changed = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    for place in (open_folder, *open_folder.rglob("*")):
        os.chown(place, nobody, -1)
    command = [*words, "sh", "-c", script, "sh", str(work.worktree), str(work.home)]
    said = hostile.run(command, work.run_folder, **changed)
    assert said.split() == ["ready", str(nobody), "repo", "run", "worktrees"]
    assert (work.worktree / "new").read_text("utf-8") == "learned\n"


# Processes

_ESCAPES = """
import os, signal, sys
print("ready", flush=True)
sys.stdin.readline()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for name in os.environ: os.unsetenv(name)
        hold = os.open(sys.argv[1], os.O_WRONLY)
        words = "import os, signal, sys; os.write(int(sys.argv[1]), b'%d ' % os.getpid()); "
        words += "signal.pause()"
        os.set_inheritable(hold, True)
        os.dup2(os.open("/dev/null", os.O_RDWR), 1)
        os.execve(sys.executable, [sys.executable, "-I", "-c", words, str(hold)], {})
    os._exit(0)
os.wait()
print("progress escaped", flush=True)
if sys.argv[2] == "stays":
    signal.pause()
# Until the escaped one has written: the end of this process would be too early for it.
while not os.path.exists(sys.argv[1] + ".heard"):
    pass
"""


RUN = f"20261130T120000-{os.getpid():08x}"


class Escape:
    """A process that forked twice, has a session of its own and no environment: held by a pipe."""

    def __init__(self, on: Host, *, stays: bool, confined: bool) -> None:
        work = on.work()
        self.folder = work.run_folder
        (self.folder / "home").mkdir()
        self.pipe = self.folder / "out" / "hold"
        os.mkfifo(self.pipe)
        self.reader = os.open(self.pipe, os.O_RDONLY | os.O_NONBLOCK)
        profile = sandbox.engine_profile(sandbox.host_mounts(), work, {}, network=True)
        words = hostile.words(on.memory, profile) if confined else []
        how = "stays" if stays else "ends"
        self.command = [*words, sys.executable, "-I", "-c", _ESCAPES, str(self.pipe), how]

    def heard(self) -> bool:
        """Tell whether it is there; its child may end then."""
        if not select.select([self.reader], [], [], 0)[0] or not (said := os.read(self.reader, 99)):
            return False
        self.pid = int(said)
        (self.pipe.parent / "hold.heard").touch()
        return True

    def gone(self, seconds: float) -> bool:
        """Tell whether nobody holds the pipe any more."""
        if not select.select([self.reader], [], [], seconds)[0]:
            return False
        return os.read(self.reader, 1) == b""

    def supervised(self, clock: FakeClock, *, late: bool) -> Ended:
        seen = False

        def tick() -> None:
            nonlocal seen
            seen = seen or self.heard()
            clock.passed += 100 if seen and late else 0

        environ = environment(self.folder, self.folder, "me", RUN)
        listening = Listening(lambda: None, lambda _line: None, tick, lambda: False)
        return run_child(self.command, self.folder, environ, clock, 50, listening, grace=2)


@pytest.mark.parametrize("late", [False, True], ids=["end", "deadline"])
def test_a_process_that_escaped_and_hides_is_gone_after_the_run(on, late):
    escape = Escape(on, stays=late, confined=True)
    ended = escape.supervised(FakeClock(), late=late)
    assert ended.how == ("deadline" if late else "exited")
    assert escape.gone(0)


_SUPERVISOR = """
import json, sys
from pathlib import Path
from reflector.core.ambient import SystemClock
from reflector.runtime.launch import Listening, environment, run_child
folder = Path(sys.argv[2])
environ = environment(folder, folder, "me", sys.argv[3])
quiet = Listening(lambda: None, lambda line: None, lambda: None, lambda: False)
run_child(json.loads(sys.argv[1]), folder, environ, SystemClock(), 60, quiet)
"""


@pytest.mark.parametrize("confined", [True, False], ids=["sandbox", "off"])
def test_a_killed_supervisor_takes_even_that_process_with_it_in_the_sandbox(on, confined):
    escape = Escape(on, stays=True, confined=confined)
    words = [sys.executable, "-c", _SUPERVISOR, json.dumps(escape.command), str(escape.folder), RUN]
    supervisor = subprocess.Popen(words)
    try:
        assert select.select([escape.reader], [], [], 30)[0]
        assert escape.heard()
        supervisor.send_signal(signal.SIGKILL)
        supervisor.wait()
        assert escape.gone(10 if confined else 0) is confined
    finally:
        end_strays(RUN)
        if not confined:
            os.kill(escape.pid, signal.SIGKILL)
    assert escape.gone(10)


# The real command


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(tmp_path / "home", ANTHROPIC_API_KEY=KEY)
    assert made("init").code == 0
    return made


def configure(cli: Cli, url: str, wish: str) -> Path:
    text = f'sandbox = "{wish}"\n[engine]\nname = "anthropic"\nbase_url = "{url}"\n'
    (cli.home / "config.toml").write_text(text, "utf-8")
    return conversation(cli.home.parent / "talk.jsonl", "I prefer pytest.", "Noted.")


def reflect(cli: Cli, wish: str):
    script = Script(LEARNS)
    with serving(script) as url:
        done = cli("reflect", configure(cli, url, wish), "--json")
    return done, script


@pytest.mark.usefixtures("on")
def unconfined(status):
    return [each for each in status["notices"] if each["code"] == "not_sandboxed"]


@pytest.mark.parametrize("wish", ["auto", "required"])
def test_a_run_by_a_model_merges_inside_the_sandbox(cli, wish):
    done, _ = reflect(cli, wish)
    assert done.code == 0, done.out + done.err
    run = done.json["run"]
    assert (run["outcome"], run["sandboxed"]) == ("merged", True)
    status = cli("status", "--json").json
    assert (status["sandbox"], unconfined(status)) == ("on", [])


def test_a_person_can_do_without_the_sandbox(cli):
    done, _ = reflect(cli, "off")
    assert (done.json["run"]["outcome"], done.json["run"]["sandboxed"]) == ("merged", False)
    assert cli("status", "--json").json["sandbox"] == "off"
    assert "not sandboxed (sandbox = off)" in cli("status").out


class Heard(Script):
    """A script that says when it was asked first."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(replies)
        self.asked = threading.Event()

    def next(self, request, key):
        self.asked.set()
        return super().next(request, key)


def processes(home: Path) -> list[psutil.Process]:
    """Return the processes that name a place of this home."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if any(str(home) in word for word in words):
            found.append(process)
    return found


@pytest.mark.usefixtures("on")
def test_nobody_sees_the_key_among_arguments_and_a_killed_supervisor_leaves_nobody(cli):
    script = Heard(Reply(fault="stall"))
    with serving(script) as url:
        supervisor = cli.start("reflect", configure(cli, url, "required"))
        assert script.asked.wait(30)
        running = processes(cli.home)
        assert {"bwrap"} < {each.name() for each in running}
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                assert KEY.encode() not in place.read_bytes()
            except OSError:
                continue
        supervisor.send_signal(signal.SIGKILL)
        supervisor.communicate()
        _, alive = psutil.wait_procs(running, timeout=20)
        assert not alive
    assert not processes(cli.home)


def tools(folder: Path, bwrap: str = "") -> str:
    """Make a PATH with what git needs alone, and with a `bwrap` of these lines."""
    folder.mkdir()
    for name in ("git", "env"):
        (folder / name).symlink_to(shutil.which(name) or name)
    if bwrap:
        (folder / "bwrap").write_text(f"#!/bin/sh\n{bwrap}\n", "utf-8")
        (folder / "bwrap").chmod(0o755)
    return str(folder)


NONE = ""
REFUSES = """
[ "$1" = --version ] && { echo "bubblewrap 9.9.9"; exit 0; }
echo "bwrap: No permissions to create a new namespace" >&2
exit 1
"""
# It works when it is tried, and not any more when it is needed.
GIVES_UP = """
case "$*" in *reflector-sandbox-*|--version) echo "bubblewrap 9.9.9"; exit 0;; esac
echo "bwrap: Creating new namespace failed" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("bwrap", "why"),
    [(NONE, "bubblewrap is not installed"), (REFUSES, "No permissions to create a new namespace")],
    ids=["missing", "refused"],
)
class TestWithoutAWorkingSandbox:
    def test_required_ends_the_run_before_the_model_is_asked(self, tmp_path, cli, bwrap, why):
        cli.environ["PATH"] = tools(tmp_path / "bin", bwrap)
        done, script = reflect(cli, "required")
        run = done.json["run"]
        assert (run["outcome"], run["reason"]) == ("failed", "sandbox_unavailable")
        assert (done.code, run["sandboxed"]) == (1, False)
        assert why in run["detail"]
        assert script.requests == []
        status = cli("status", "--json").json
        assert status["sandbox"] == "unavailable"
        assert {each["code"] for each in status["problems"]} == {"sandbox_unavailable"}
        assert why in status["problems"][0]["message"]
        assert status["conversations"][0]["unreflected_bytes"] > 0

    def test_auto_runs_without_and_says_so(self, tmp_path, cli, bwrap, why):
        cli.environ["PATH"] = tools(tmp_path / "bin", bwrap)
        done, _ = reflect(cli, "auto")
        run = done.json["run"]
        assert (run["outcome"], run["sandboxed"]) == ("merged", False)
        status = cli("status", "--json").json
        assert (status["sandbox"], status["problems"]) == ("unavailable", [])
        (notice,) = unconfined(status)
        assert why in notice["message"]
        assert why in cli("status").out
        assert why in cli("doctor").out


def test_a_sandbox_that_does_not_start_any_more_is_named_and_tried_anew(tmp_path, cli):
    cli.environ["PATH"] = tools(tmp_path / "bin", GIVES_UP)
    done, script = reflect(cli, "auto")
    run = done.json["run"]
    assert (run["outcome"], run["reason"]) == ("failed", "sandbox_unavailable")
    assert "Creating new namespace failed" in run["detail"]
    assert script.requests == []
    assert not (cli.home / "sandbox").exists()


@pytest.mark.usefixtures("on")
def test_a_failure_that_was_mended_is_noticed_by_doctor(tmp_path, cli):
    own = cli.environ.get("PATH", os.environ["PATH"])
    cli.environ["PATH"] = tools(tmp_path / "bin", REFUSES)
    configure(cli, "http://127.0.0.1:9", "required")
    assert cli("status", "--json").json["sandbox"] == "unavailable"
    (tmp_path / "bin" / "bwrap").unlink()
    (tmp_path / "bin" / "bwrap").symlink_to(shutil.which("bwrap", path=own) or "")
    cli("doctor")
    assert cli("status", "--json").json["sandbox"] == "on"
