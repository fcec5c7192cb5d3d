"""`reflector experiences` and `reflector facts`: what they say, for people and for machines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reflector.memory.experiences.form import render
from reflector.runtime.writing import write
from reflector.surface.cli.commands import COMMANDS, Group
from reflector.surface.cli.main import main
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM
from tests.support.stored import BANK, linked, stored

TOKEN = f"ghp_{ALNUM[:36]}"
OLD, NEW = linked(
    stored(0x11, title="rotate a log", created="2026-01-01T00:00:00.000Z"),
    stored(0x12, title="rotate a log", evidence=("h:s:1",), boundary_envs="os: linux"),
).values()
DOUBTFUL = stored(0x13, title="mount a disk", verified=False, project="")
FACT = stored(0x21, "fact", title="backup", details="row \x1b[2J 1", files=("a.py",))
HOSTILE = replace(stored(0x22, "fact", title="x"), body=f"\x1b[31mred {TOKEN}\u202e")


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Scene:
    made = Scene(tmp_path_factory.mktemp("experiences"))
    files = {one.path: render(one) for one in (OLD, NEW, DOUBTFUL, FACT)}
    files["facts/by-hand.md"] = b"---\ndescription: by hand\n---\nmine\n"
    write(made.context(), lambda _: files, "what was learned")
    # As a person may have it: the rules would not let this one in.
    place = made.repo / HOSTILE.path
    place.write_bytes(render(HOSTILE))
    made.git("add", "-A")
    made.git("commit", "-q", "--no-verify", "-m", "by hand")
    return made


@pytest.fixture
def says(home, capsys, monkeypatch):
    monkeypatch.chdir(home.folder)

    def run(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--home", str(home.home)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def gives(says):
    def run(*words: str):
        code, out, err = says(*words, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


def ids(found, key="experiences"):
    return [one["id"][-2:] for one in found[key]]


def test_what_holds_is_listed_the_newest_first_and_the_rest_on_request(gives):
    found = gives("experiences", "list")
    assert list(found) == ["revision", "total", "others", "experiences"]
    assert ids(found) == ["13", "12"]
    assert list(found["experiences"][0]) == [
        *("id", "layer", "path", "task", "description", "status", "verified", "confidence"),
        *("project", "branch", "created", "updated", "supersedes", "superseded_by"),
    ]
    assert ids(gives("experiences", "list", "--all")) == ["13", "12", "11"]
    assert ids(gives("experiences", "list", "--status", "superseded")) == ["11"]
    assert ids(gives("experiences", "list", "--project", BANK)) == ["12"]
    assert ids(gives("experiences", "list", "--project", "")) == ["13"]
    one = gives("experiences", "list", "--limit", "1")
    assert (ids(one), one["total"]) == (["13"], 2)
    assert gives("experiences", "list", "--project", "nowhere")["total"] == 0
    facts = gives("facts", "list")
    assert (ids(facts, "facts"), facts["others"]) == (["22", "21"], 1)
    assert facts["facts"][1]["subject"] == "backup"


def test_a_person_reads_what_each_is_and_how_far_it_holds(says):
    _, out, _ = says("experiences", "list", "--all")
    assert out.split("\n")[:3] == [
        "00000013  2026-11-30  mount a disk  unverified",
        "00000012  2026-11-30  rotate a log",
        "00000011  2026-01-01  rotate a log  superseded by 00000012",
    ]
    assert "1 more; --limit shows them." in says("experiences", "list", "--limit", "1")[1]
    assert "There is no experience like that." in says("experiences", "list", "--project", "x")[1]
    assert "1 other document in facts/" in says("facts", "list")[1]


def test_one_is_shown_with_what_it_rests_on(says, gives):
    found = gives("experiences", "show", "00000012")
    assert found["text"] == NEW.body
    assert (found["boundary_envs"], found["evidence"]) == (["os: linux"], ["h:s:1"])
    assert (found["has_details"], found["details"]) == (False, None)
    _, out, _ = says("experiences", "show", "00000012")
    assert f"  {NEW.body}\n" in out
    assert "depends on  os: linux" in out


def test_details_are_shown_on_request_alone_and_drive_no_terminal(says, gives):
    assert gives("facts", "show", "00000021")["details"] is None
    assert gives("facts", "show", "00000021", "--details")["details"] == "row \x1b[2J 1"
    quiet, loud = (
        says("facts", "show", "00000021")[1],
        says("facts", "show", FACT.path, "--details")[1],
    )
    assert "--details shows" in quiet
    assert "row" not in quiet
    assert "  | row \\x1b[2J 1" in loud
    assert "\x1b" not in quiet + loud


def test_no_secret_and_no_control_of_a_document_is_printed(says):
    for words in (("list",), ("show", "00000022"), ("history", "00000022")):
        for more in ((), ("--json",)):
            _, out, _ = says("facts", *words, *more)
            assert TOKEN not in out
            assert "\x1b" not in out
            assert "[REDACTED:github]" in out


def test_a_history_is_whole_and_oldest_first_from_either_end(says, gives):
    for which in ("00000011", "00000012"):
        found = gives("experiences", "history", which)
        assert [one["id"] for one in found["chain"]] == [OLD.id, NEW.id]
        assert (found["id"], found["current"]) == (which, [NEW.id])
        assert found["chain"][0]["text"] == OLD.body
    assert says("experiences", "history", "00000011")[1].startswith("00000011")


def test_what_there_is_is_counted(gives, says):
    found = gives("experiences", "stats")
    assert (found["active"], found["superseded"], found["unverified"]) == (2, 1, 1)
    assert (found["projects"], found["without_project"]) == ({BANK: 1}, 1)
    assert found["oldest"] == OLD.created
    assert gives("facts", "stats")["others"] == 1
    assert "2 facts, 0 superseded" in says("facts", "stats")[1]


@pytest.mark.parametrize("command", ["show", "history", "forget"])
def test_an_id_that_names_none_or_several_is_an_error_that_names_some(says, command):
    code, _, err = says("experiences", command, "ffffffff")
    assert code == 1
    assert "There is no experience 'ffffffff'" in err
    assert "00000013, 00000012" in err
    code, _, err = says("experiences", command, "000000")
    assert code == 2
    assert "several ids: 00000013, 00000012, 00000011" in err
    code, out, _ = says("facts", command, NEW.id, "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "not_found")


def test_a_path_names_that_document_and_no_other_with_its_id(home, says, gives):
    copy = f"experiences/copied-{NEW.id}.md"
    for path in (copy, f"facts/2026-11/{NEW.path.rpartition('/')[2]}"):
        code, _, err = says("experiences", "show", path)
        assert code == 1, path
        assert "There is no experience" in err
    for path in (NEW.path, NEW.path.removesuffix(".md"), str(home.repo / NEW.path)):
        assert gives("experiences", "show", path)["id"] == NEW.id


def test_what_is_forgotten_says_what_history_keeps(tmp_path, capsys):
    scene = Scene(tmp_path)
    write(scene.context(), lambda _: {one.path: render(one) for one in (OLD, NEW)}, "learned")
    words = ["experiences", "forget", NEW.id, "--home", str(scene.home)]
    assert main([*words, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["removed"], done["changed"]) == ([OLD.path, NEW.path], [])
    assert done["commit"] == scene.git("rev-parse", "main").strip()
    assert done["in_git_history"][0] == f"reflector memory forget {OLD.path} --history"
    assert main(words) == 1


def test_both_layers_have_the_same_commands_for_reading():
    groups = (COMMANDS["experiences"], COMMANDS["facts"])
    both = [set(each.commands) for each in groups if isinstance(each, Group)]
    assert both[1] <= both[0]
    assert both[1] >= {"list", "show", "history", "forget", "stats"}
