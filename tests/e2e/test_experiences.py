"""Experiences from a session's end to the memory and out of it again, in real processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.support.auditor import audit, rows
from tests.support.cli import Cli, git
from tests.support.deaths import guarded
from tests.support.detached import rest
from tests.support.messages_server import serving
from tests.support.projects import asking
from tests.support.segments import Model, experience, fact

pytestmark = pytest.mark.slow

SHELL = {"command": "smartctl -H /dev/sdb"}
HEALTH = "SMART overall-health self-assessment test result: FAILED"
TASK = "Find out whether a drive is failing"
BORN = "2026-11-30T10:00:{:02d}Z"


@dataclass(frozen=True)
class Lived:
    """A home whose session ended, and what was extracted of it in the background."""

    cli: Cli
    model: Model
    talk: Path
    run: dict[str, Any]
    told: dict[str, Any]


def session(folder: Path, name: str, said: str) -> Path:
    """Write a short session in which a tool is used; none says what another one does.

    To forget one of them takes the folders of runs along that hold its words.
    """
    function = {"name": "Bash", "arguments": json.dumps(SHELL)}
    listed: list[dict[str, Any]] = [
        {"role": "user", "content": said},
        {
            "role": "assistant",
            "content": f"I look at the {name} drive.",
            "tool_calls": [{"id": f"c-{name}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c-{name}", "content": f"{HEALTH} ({name})"},
        {"role": "assistant", "content": f"The {name} drive fails its own test."},
    ]
    place = folder / f"{name}.jsonl"
    plain = {"session_id": name, "cwd": str(folder)}
    lines = (
        json.dumps({**row, "id": f"{name}-{at}", "timestamp": BORN.format(at), **plain})
        for at, row in enumerate(listed)
    )
    place.write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    folder = tmp_path_factory.mktemp("experiences")
    model = Model()
    model.learns["noises"] = {
        "experiences": [experience(TASK, "Run `smartctl -H /dev/sdb` and read its verdict.")],
        "fact": fact("/dev/sdb", "The drive /dev/sdb fails its self-test.", details=["$TOOL"]),
    }
    with guarded(), serving(model) as url:
        cli = Cli(folder / "home")
        assert cli("init").code == 0
        config = asking(url).replace('sandbox = "off"\n', "")
        (folder / "home" / "config.toml").write_text(
            f"{config}[trigger]\nstep_count = 0\n[reflection]\nenabled = false\n"
        )
        talk = session(folder, "talk", "My drive makes noises")
        assert cli("ingest", talk).code == 0
        assert cli("event", "shutdown", "--conversation", "jsonl/talk").code == 0
        _settled(cli)
        told = cli("status", "--json").json
        yield Lived(cli, model, talk, told["last_runs"][0], told)


def _settled(cli: Cli) -> None:
    """Wait until a run is settled and nobody works any more."""
    deadline = monotonic() + 60
    database = cli.repo.parent / "state.db"
    while not rows(database, "SELECT 1 FROM runs WHERE outcome IS NOT NULL"):
        assert monotonic() < deadline, "no run is settled"
        rest(cli.home)
    rest(cli.home)


def listed(cli: Cli) -> list[str]:
    names = git(cli.repo, "ls-tree", "-r", "--name-only", "main", "experiences", "facts")
    return [name for name in names.split() if name.endswith(".md")]


def test_the_end_of_a_session_starts_a_worker_that_extracts_it(lived: Lived):
    assert (lived.run["slot"], lived.run["pipeline"]) == ("experiences", "experiences")
    assert (lived.run["trigger"], lived.run["outcome"]) == ("shutdown", "merged")
    row = next(each for each in lived.told["pipelines"] if each["name"] == "experiences")
    assert row == {
        "name": "experiences",
        "enabled": True,
        "queued": 0,
        "waiting": 0,
        "failed": 0,
        "oldest_at": None,
        "next_due_at": None,
        "last_run": lived.run["id"],
        "last_error": None,
    }
    texts = [git(lived.cli.repo, "show", f"main:{name}") for name in listed(lived.cli)]
    assert any(f"description: {TASK}" in text for text in texts)
    assert any(f"## Details\n\n{HEALTH}" in text for text in texts)
    assert all("verified: true" in text for text in texts)
    audit(lived.cli.home)


def test_the_run_tells_its_calls_and_the_commit_its_evidence(lived: Lived):
    shown = lived.cli("show", lived.run["id"], "--steps", "--json").json
    assert [each["step"] for each in shown["steps"]] == ["experiences.scene", "experiences.extract"]
    assert shown["steps"][1]["counts"]["experiences"] == 1
    assert "# Memory changes" in shown["report"]
    message = shown["commits"][0]["message"]
    assert message.startswith("feat(experiences): ")
    assert "[entry jsonl:talk.talk-0:0]" in message
    path = next(name for name in listed(lived.cli) if name.startswith("experiences/"))
    text = git(lived.cli.repo, "show", f"main:{path}")
    why = lived.cli("memory", "why", f"{path}:{text.count(chr(10))}", "--json").json
    assert lived.run["id"] in json.dumps(why)
    assert "My drive makes noises" in json.dumps(why)


def test_a_person_extracts_by_hand_and_takes_it_back(lived: Lived):
    cli, before = lived.cli, listed(lived.cli)
    other = session(lived.talk.parent, "other", "Another drive makes noises too")
    assert cli("ingest", other).code == 0
    lived.model.learns["noises"]["fact"]["statement"] = "Again /dev/sdb fails its self-test."
    lived.model.learns["noises"]["experiences"][0]["solution"] = "Ask `smartctl -H /dev/sdb`."
    done = cli("experiences", "extract", "--conversation", "jsonl/other", "--json")
    assert (done.code, done.json["waiting"], done.json["why"]) == (0, [], "nothing")
    [run] = done.json["runs"]
    assert (run["trigger"], run["outcome"]) == ("manual", "merged")
    assert len(listed(cli)) == len(before) + 2
    assert cli("undo", run["id"]).code == 0
    assert listed(cli) == before
    again = cli("retry", run["id"], "--json")
    assert (again.code, again.json["run"]["outcome"]) == (0, "no_changes")
    assert listed(cli) == before
    audit(cli.home)


def test_what_is_asked_in_vain_is_said(lived: Lived):
    unknown = lived.cli("experiences", "extract", "--conversation", "jsonl/nobody")
    assert unknown.code == 1
    assert "jsonl/nobody" in unknown.err
    alone = lived.cli("experiences", "extract", "--all")
    assert alone.code == 2
    nothing = lived.cli("experiences", "extract")
    assert (nothing.code, nothing.out) == (0, "nothing more to read\n")


def test_forgetting_a_conversation_leaves_nothing_that_waits(lived: Lived):
    cli = lived.cli
    third = session(lived.talk.parent, "third", "A third one hums")
    assert cli("ingest", third).code == 0
    assert cli("status", "--json").json["pipelines"][2]["waiting"] == 1
    assert cli("memory", "forget", "jsonl/third", "--yes").code == 0
    assert cli("status", "--json").json["pipelines"][2]["waiting"] == 0
    found = cli("experiences", "extract", "--conversation", "jsonl/third")
    assert found.code == 1
