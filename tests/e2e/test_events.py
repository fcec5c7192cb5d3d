"""Events as harnesses and embedders send them: the real command, real supervisors, real hooks."""

from __future__ import annotations

import configparser
import fcntl
import json
import os
import plistlib
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reflector.core.schedule import Engine, Settled
from tests.support.auditor import audit, rows
from tests.support.cli import EXAMPLE, ROOT, Cli
from tests.support.detached import rest
from tests.support.hooks import shown, until_spooled
from tests.support.journals import tmpfs
from tests.support.scenes import Scene, outcomes
from tests.support.transcripts import conversation, extend

pytestmark = pytest.mark.slow

TABS, MAIN = "Always use tabs in Makefiles.", "Never push to main directly."
NOTHING = {"until": None, "supervisor": "none"}


@pytest.fixture
def cli(born):
    made = born(REFLECTOR_TRIGGER_STEP_COUNT="2")
    yield made
    rest(made.home)


def event(cli: Cli, *words: str) -> dict[str, Any]:
    done = cli("event", *words, "--json")
    assert (done.code, done.err) == (0, ""), done
    return done.json


def runs(cli: Cli, columns: str = "trigger, outcome") -> list[tuple[Any, ...]]:
    """Wait for every supervisor, and return the ledger."""
    rest(cli.home)
    found = rows(
        cli.repo.parent / "state.db", f"SELECT {columns} FROM runs ORDER BY reserved_at, rowid"
    )
    return [tuple(row) for row in found]


def talk(cli: Cli, *texts: str, session: str = "talk") -> Path:
    """Journal a conversation."""
    place = conversation(cli.home.parent / f"{session}.jsonl", *texts, session=session)
    assert cli("ingest", place).code == 0
    return place


# What happened


def test_a_turn_below_the_threshold_starts_nothing(cli):
    talk(cli, TABS, "Noted.")
    assert event(cli, "settled") == {
        "decision": "nothing",
        "why": "below_threshold",
        **NOTHING,
    }
    assert runs(cli) == []


def test_a_turn_at_the_threshold_starts_a_supervisor_that_merges_what_was_learned(cli):
    place = talk(cli, TABS, "Noted.", MAIN, "Noted.")
    answer = event(cli, "settled")
    assert (answer["decision"], answer["supervisor"]) == ("reserved", "owns")
    assert runs(cli) == [("step-count", "merged")]
    assert "tabs in Makefiles" in cli("prompt").out
    assert event(cli, "settled")["decision"] == "nothing"
    audit(cli.home, transcripts=[place])


def test_two_turns_at_once_reserve_one_run(cli):
    place = talk(cli, TABS, "Noted.", MAIN, "Noted.")
    both = [cli.start("event", "settled", "--json") for _ in range(2)]
    answers = [json.loads(each.communicate(timeout=60)[0]) for each in both]
    assert sorted(each["decision"] for each in answers) == ["nothing", "reserved"]
    assert runs(cli) == [("step-count", "merged")]
    audit(cli.home, transcripts=[place])


def test_a_failed_turn_starts_nothing(cli):
    talk(cli, TABS, "Noted.", MAIN, "Noted.")
    assert event(cli, "settled", "--failed") == {
        "decision": "nothing",
        "why": "failed_turn",
        **NOTHING,
    }
    assert runs(cli) == []


def test_a_compaction_is_reflected_on_once(cli):
    shutil.copy(ROOT / "tests/fixtures/claude-code/manual-compact.jsonl", cli.home.parent)
    cli.environ["REFLECTOR_TRIGGER_STEP_COUNT"] = "0"
    assert cli("ingest", cli.home.parent / "manual-compact.jsonl").code == 0
    assert event(cli, "settled")["decision"] == "reserved"
    ((trigger, outcome),) = runs(cli)
    assert trigger == "compaction"
    assert outcome in ("merged", "no_changes")
    assert event(cli, "settled")["decision"] == "nothing"
    assert cli("ingest", cli.home.parent / "manual-compact.jsonl").code == 0
    assert event(cli, "settled")["decision"] == "nothing"


def test_a_compaction_that_is_told_counts_once_for_each_boundary(cli):
    cli.environ["REFLECTOR_TRIGGER_STEP_COUNT"] = "0"
    place = talk(cli, TABS, "Noted.")
    told = ("compaction", "--conversation", "jsonl/talk", "--boundary")
    assert event(cli, *told, "b1")["decision"] == "marked"
    assert runs(cli) == []
    assert event(cli, "settled")["decision"] == "reserved"
    assert runs(cli) == [("compaction", "merged")]
    extend(place, MAIN, "Noted.")
    assert cli("ingest", place).code == 0
    event(cli, *told, "b1")
    assert event(cli, "settled")["decision"] == "nothing"
    event(cli, *told, "b2")
    assert event(cli, "settled")["decision"] == "reserved"
    assert runs(cli)[1:] == [("compaction", "merged")]
    audit(cli.home, transcripts=[place])


def test_a_shutdown_reflects_on_what_there_is(cli):
    talk(cli, TABS, "Noted.", session="one")
    talk(cli, MAIN, "Noted.", session="two")
    assert event(cli, "shutdown", "--conversation", "jsonl/one")["decision"] == "reserved"
    assert runs(cli) == [("shutdown", "merged")]
    assert event(cli, "shutdown", "--conversation", "jsonl/one")["why"] == "nothing_new"
    assert event(cli, "shutdown")["decision"] == "reserved"
    assert runs(cli) == [("shutdown", "merged")] * 2


def test_an_idle_hour_with_the_rules_engine_never_reserves_a_dream(cli):
    talk(cli, TABS, "Noted.")
    assert event(cli, "idle") == {"decision": "nothing", "why": "cannot_dream", **NOTHING}
    assert runs(cli) == []


def test_a_run_that_nobody_confirmed_is_launched_by_the_next_event(cli):
    talk(cli, TABS, "Noted.", MAIN, "Noted.")
    # The launcher dies right after it reserved: nobody owns the run.
    code = (
        "import sys; from reflector.core.schedule import Settled; "
        "from reflector.runtime.front import handle; from reflector.runtime.wiring import context; "
        "handle(context(sys.argv[1]), Settled(success=True), None)"
    )
    words = [sys.executable, "-c", code, str(cli.home)]
    environ = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    subprocess.run(words, env=environ | cli.environ, check=True, timeout=60)
    assert runs(cli) == [("step-count", None)]
    answer = event(cli, "settled", "--failed")
    assert (answer["decision"], answer["supervisor"]) == ("nothing", "owns")
    assert runs(cli) == [("step-count", "merged")]


# Failures


def test_failures_park_the_route_and_a_person_gets_through(tmp_path):
    scene = Scene(tmp_path, "[trigger]\nstep_count = 1\n")
    scene.engine = Engine("rules", can_dream=False, calls_model=True)
    cli = Cli(scene.home)
    scene.says(TABS, "Noted.")
    assert cli("park", "show", "--json").json["park"]["parked"] is False
    scene.provider("overloaded")
    scene.event(Settled(success=True))
    assert outcomes(scene.drains()) == ["failed/overloaded"]
    scene.provider("auth")
    scene.clock.sleep(60)
    scene.event(Settled(success=True))
    assert outcomes(scene.drains()) == ["failed/auth"]
    shown = cli("park", "show", "--json").json["park"]
    assert (shown["parked"], shown["streak"]) == (True, 2)
    assert "401" in shown["reason"]
    assert "parked" in cli("status").out
    for _ in range(2):
        scene.clock.sleep(6 * 3600)
        scene.event(Settled(success=True))
        assert outcomes(scene.drains()) == ["failed/auth"]
        scene.event(Settled(success=True))
        assert scene.drains() == []
    assert cli("reflect", "--json").json["run"]["outcome"] == "merged"
    assert cli("park", "show", "--json").json["park"]["parked"] is False
    audit(cli.home)


def test_a_park_is_cleared_by_hand(tmp_path):
    scene = Scene(tmp_path, "[trigger]\nstep_count = 1\n")
    scene.engine = Engine("rules", can_dream=False, calls_model=True)
    cli = Cli(scene.home)
    scene.says(TABS, "Noted.")
    scene.provider("auth")
    scene.event(Settled(success=True))
    scene.drains()
    assert cli("park", "--json").json["park"]["parked"] is True
    assert cli("park", "clear", "--json").json["park"]["parked"] is False
    assert cli("park", "show", "--json").json["park"]["parked"] is False


# Hooks


def hook(
    cli: Cli, name: str, given: object = None, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """Be a harness: JSON on stdin, the launcher of the home."""
    raw = given if isinstance(given, bytes) else json.dumps(given or {}).encode()
    return subprocess.run(
        [cli.home / "bin" / "reflector", "hook", "claude-code", name],
        env={
            "REFLECTOR_HOME": str(cli.home),
            "HOME": os.environ["HOME"],
            "PATH": os.environ["PATH"],
            **cli.environ,
            **environ,
        },
        input=raw,
        capture_output=True,
        cwd="/",
        timeout=30,
        check=False,
    )


def began(cli: Cli) -> subprocess.CompletedProcess[bytes]:
    """Start sessions until one is shown something: a busy machine may be late for the first."""
    done = hook(cli, "SessionStart", payload(source="startup"))
    for _ in range(8):
        if done.stdout:
            break
        done = hook(cli, "SessionStart", payload(source="startup"))
    return done


def payload(place: Path = EXAMPLE, **fields: object) -> dict[str, object]:
    session = {"session_id": place.stem, "transcript_path": str(place), "cwd": "/src/shop"}
    return {**session, "last_assistant_message": "CANARY", "prompt": "CANARY", **fields}


def spooled(cli: Cli) -> list[str]:
    files = sorted((cli.home / "spool").glob("*.jsonl"))
    return [line for file in files for line in file.read_text("ascii").splitlines()]


@contextmanager
def undrained(cli: Cli):
    """Be the drainer, and do nothing."""
    with (cli.home / "locks" / "ingest.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_hook_spools_one_line_and_starts_what_learns_and_merges(cli):
    done = until_spooled(cli.home, lambda: hook(cli, "Stop", payload()))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert runs(cli) == [("compaction", "merged")]
    (line,) = spooled(cli)
    assert len(line) < 4096
    assert "CANARY" not in line
    assert "make test" in cli("prompt").out
    audit(cli.home, secrets=[b"CANARY"])


def test_at_the_start_of_a_session_the_cached_block_is_printed(cli):
    talk(cli, TABS, "Noted.", MAIN, "Noted.")
    event(cli, "settled")
    rest(cli.home)
    block = cli("prompt", "--cwd", "/src/shop").out
    with undrained(cli):
        done = began(cli)
    assert done.returncode == 0
    assert shown(done.stdout) == block
    assert "tabs in Makefiles" in block


def test_hooks_that_are_given_nonsense_succeed_and_disturb_nobody(cli):
    missing = payload(cli.home.parent / "nowhere.jsonl")
    odd = [b"", b"{", b"[]", b"\xff", b"{" + b" " * 6_000_000 + b"}", missing]
    odd += [payload(transcript_path="/\0"), payload(cwd="\ud800")]
    for given in odd:
        assert hook(cli, "Stop", given).returncode == 0
    assert runs(cli) == []
    assert until_spooled(cli.home, lambda: hook(cli, "Stop", payload())).returncode == 0
    assert runs(cli) == [("compaction", "merged")]


def test_a_child_of_ours_a_pause_and_an_excluded_folder_spool_nothing(cli):
    with undrained(cli):
        assert hook(cli, "Stop", payload(), REFLECTOR_CHILD="1").returncode == 0
        assert cli("pause").code == 0
        assert hook(cli, "Stop", payload()).returncode == 0
        assert cli("resume").code == 0
        (cli.home / "config.toml").write_text('[journal]\nexclude = ["/src/*"]\n', "utf-8")
        assert cli("event", "--drain").code == 0  # whatever reads the settings tells the hooks
        assert hook(cli, "Stop", payload()).returncode == 0
        assert spooled(cli) == []
        until_spooled(cli.home, lambda: hook(cli, "Stop", payload(cwd="/elsewhere")))
        assert len(spooled(cli)) == 1


def test_a_home_that_may_only_be_read_is_shown_and_never_breaks_a_harness(tmp_path):
    with tmpfs(tmp_path / "mounted", "64m") as folder:
        cli = Cli(folder / "home")
        assert cli("init").code == 0
        block = cli("prompt", "--cwd", "/src/shop").out
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        try:
            for name in ("Stop", "SessionEnd"):
                done = hook(cli, name, payload())
                assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            done = began(cli)
            assert (done.returncode, shown(done.stdout)) == (0, block)
        finally:
            subprocess.run(["mount", "-o", "remount,rw", folder], check=True)


MANY = """
import json, os, sys
from reflector.surface import hook
hook._limit = lambda seconds: None  # on a busy machine the alarm may be quicker than the line
for number in range(100):
    reading, writing = os.pipe()
    given = {"session_id": f"{sys.argv[1]}-{number}", "transcript_path": sys.argv[2], "cwd": "/"}
    os.write(writing, json.dumps(given).encode())
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    assert hook.hook("claude-code", "UserPromptSubmit") == 0
"""


def test_a_thousand_hooks_of_ten_processes_lose_nothing(cli):
    place = conversation(cli.home.parent / "talk.jsonl", TABS, "Noted.", MAIN, "Noted.")
    environ = {"REFLECTOR_HOME": str(cli.home), "PYTHONPATH": str(ROOT)}
    with undrained(cli):
        many = [
            subprocess.Popen(
                [sys.executable, "-c", MANY, str(number), place],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for number in range(10)
        ]
        assert [each.communicate() for each in many] == [(b"", b"")] * 10
    sessions = [json.loads(line)["session_id"] for line in spooled(cli)]
    assert len(sessions) == len(set(sessions)) == 1000
    done = cli("event", "--drain", "--json").json
    assert (done["events"], done["entries"], done["trouble"]) == (1000, 4, [])
    assert cli("event", "--drain", "--json").json["events"] == 0


def test_hooks_that_are_late_succeed_in_silence_and_leave_no_broken_line(cli):
    place = conversation(cli.home.parent / "talk.jsonl", TABS, "Noted.")
    with undrained(cli):
        many = [
            subprocess.Popen(
                [cli.home / "bin" / "reflector", "hook", "claude-code", "Stop"],
                env={"REFLECTOR_HOME": str(cli.home)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(60)
        ]
        ends = [each.communicate(json.dumps(payload(place)).encode()) for each in many]
    assert ends == [(b"", b"")] * 60
    assert [each.returncode for each in many] == [0] * 60
    assert all(json.loads(line)["event"] == "Stop" for line in spooled(cli))


# The long-lived supervisor


def test_one_round_works_for_every_identity(cli):
    other = Cli(cli.home, **cli.environ, REFLECTOR_IDENTITY="other")
    assert other("init").code == 0
    for number, each in enumerate((cli, other)):
        place = conversation(cli.home.parent / f"{number}.jsonl", TABS, "Noted.", MAIN, "Noted.")
        assert each("ingest", place).code == 0
    done = cli("supervise", "--once")
    assert (done.code, done.err) == (0, "")
    assert sorted(line.split(":")[0] for line in done.out.splitlines()) == ["default", "other"]
    assert all(line.endswith("merged") for line in done.out.splitlines())
    assert "tabs in Makefiles" in other("prompt").out
    audit(cli.home)


def test_a_second_daemon_is_refused_and_the_first_ends_when_it_is_told(cli):
    talk(cli, TABS, "Noted.", MAIN, "Noted.")
    first = cli.start("supervise")
    assert first.stdout
    assert b"merged" in first.stdout.readline()
    second = cli("supervise", "--once")
    assert second.code == 4
    assert "Another `reflector supervise`" in second.err
    first.send_signal(signal.SIGTERM)
    _, err = first.communicate(timeout=30)
    assert (first.returncode, err) == (0, b"")
    assert cli("supervise", "--once").code == 0
    audit(cli.home)


def test_the_example_units_start_the_launcher_of_the_home():
    units = ROOT / "examples" / "units"
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(units / "reflector.service")
    assert parser["Service"]["ExecStart"] == "%h/.reflector/bin/reflector supervise"
    assert parser["Service"]["KillSignal"] == "SIGTERM"
    assert parser["Service"]["Restart"] == "on-failure"
    assert parser["Install"]["WantedBy"] == "default.target"
    agent = plistlib.loads((units / "com.reflector.supervise.plist").read_bytes())
    assert agent["ProgramArguments"][0].endswith("/.reflector/bin/reflector")
    assert agent["ProgramArguments"][1:] == ["supervise"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
