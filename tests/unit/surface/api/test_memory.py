"""The Python API: conversations in, memory out, each change one commit."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import reflector
from reflector.core.errors import (
    DayLimitError,
    DocumentError,
    HomeError,
    NotFoundError,
    PathError,
    ReflectorError,
    UsageError,
)
from reflector.runtime import pauses
from reflector.surface.api.memory import Memory
from reflector.surface.api.values import Appended, Decided
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

TALK = [
    {"role": "user", "content": "Always sign the tags of a release."},
    {"role": "assistant", "content": "I will."},
]
MORE = [
    *TALK,
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "Welcome."},
]


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


@pytest.fixture
def memory(scene):
    return Memory(scene.context())


def texts(scene):
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT text FROM entries ORDER BY conversation, sequence")
        return [row["text"] for row in rows]


# Opening


def test_the_package_offers_the_memory_and_the_error():
    assert reflector.Memory is Memory
    assert reflector.ReflectorError is ReflectorError
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = reflector.nothing_of_this_name  # type: ignore[attr-defined]


def test_a_memory_that_was_never_made_is_refused_and_can_be_made(tmp_path):
    with pytest.raises(HomeError) as caught:
        Memory.open(tmp_path / "new", "acme")
    assert "reflector init" in caught.value.hint
    with Memory.open(tmp_path / "new", "acme", create=True) as made:
        assert (made.identity, made.home.name) == ("acme", "new")
    assert Memory.open(tmp_path / "new", "acme").documents()


def test_the_folder_chooses_the_identity_unless_one_is_named(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    config = f'[identity.paths]\n"{work}" = "acme"\n'
    home = Scene(tmp_path, config=config, identities=("default", "acme")).home
    assert Memory.open(home, cwd=work).identity == "acme"
    assert Memory.open(home, cwd=tmp_path).identity == "default"
    assert Memory.open(home, "default", cwd=work).identity == "default"


# Conversations


def test_only_what_is_new_of_a_growing_list_is_journaled(scene, memory):
    assert memory.append("s1", TALK) == Appended("jsonl/s1", entries=2, steps=1)
    assert memory.append("s1", TALK) == Appended("jsonl/s1")
    assert memory.append("s1", MORE) == Appended("jsonl/s1", entries=2, steps=1)
    assert texts(scene) == [each["content"] for each in MORE]


def test_the_full_id_names_the_same_conversation(memory):
    assert memory.append("s1", TALK).conversation == memory.append("jsonl/s1", TALK).conversation
    assert memory.append("jsonl/s1", TALK).entries == 0


def test_a_text_that_is_said_twice_is_journaled_twice(scene, memory):
    memory.append("s1", [*TALK, {"role": "user", "content": "Go on."}])
    memory.append("s1", [*TALK, *[{"role": "user", "content": "Go on."}] * 2])
    assert texts(scene).count("Go on.") == 2


def test_new_messages_alone_may_be_given(scene, memory):
    memory.append("s1", MORE[:2])
    memory.append("s1", MORE[2:])
    assert texts(scene) == [each["content"] for each in MORE]


def test_a_list_whose_beginning_was_dropped_repeats_nothing(scene, memory):
    memory.append("s1", MORE)
    memory.append("s1", [*MORE[2:], {"role": "user", "content": "Bye."}])
    assert texts(scene) == [*(each["content"] for each in MORE), "Bye."]


def test_what_is_long_and_changed_in_the_middle_repeats_nothing(scene, memory):
    # Behind the head by which a source is known again.
    long = {"role": "user", "content": "a long story " * 1000}
    thought = {"type": "thinking", "thinking": "hm " * 500}
    answer = {"type": "text", "text": "I see."}
    memory.append("s1", [long, {"role": "assistant", "content": [thought, answer]}, *TALK])
    more = [*MORE[2:], {"role": "user", "content": "another story " * 500}]
    again = [long, {"role": "assistant", "content": [answer]}, *TALK, *more]
    assert memory.append("s1", again).entries == 3
    assert texts(scene)[-3:] == [each["content"] for each in more]


def test_what_begins_like_an_older_message_is_not_taken_for_it(scene, memory):
    # Behind the head by which a source is known again.
    old = {"role": "user", "content": "a long story " * 1000}
    new = {"role": "user", "content": "a long story " * 1100}
    memory.append("s1", [old])
    assert memory.append("s1", [old, new, *TALK]).entries == 3
    assert texts(scene)[1:] == [each["content"] for each in (new, *TALK)]


def test_two_calls_are_journaled_each_with_its_own_result(scene, memory):
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "ls", "input": {}} for n in (1, 2)]
    results = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"{n}.txt"} for n in (1, 2)
    ]
    said = [
        TALK[0],
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results[:1]},
    ]
    memory.append("s1", said)
    memory.append("s1", [*said, {"role": "user", "content": results[1:]}])
    memory.append("s1", [*said, {"role": "user", "content": [*results[1:]]}, *TALK[1:]])
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT result FROM entries WHERE kind = 'tool_call'")
        assert [row["result"] for row in rows] == ["1.txt", "2.txt"]


def test_a_call_whose_result_never_came_is_journaled_once_the_user_speaks(scene, memory):
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    said = [TALK[0], {"role": "assistant", "content": [use]}, TALK[0]]
    assert memory.append("s1", said).entries == 3
    assert memory.append("s1", said) == Appended("jsonl/s1")
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT result FROM entries WHERE kind = 'tool_call'")
        assert [row["result"] for row in rows] == [None]


def test_a_turn_off_the_record_stays_out_however_often_it_is_given(scene, memory):
    quiet = [
        {"role": "user", "content": "#norecord The canary sings."},
        {"role": "assistant", "content": "The canary, yes."},
    ]
    memory.append("s1", [*TALK, *quiet[:1]])
    memory.append("s1", [*TALK, *quiet])
    memory.append("s1", [*TALK, *quiet, *MORE[2:]])
    assert memory.append("s1", [*TALK, *quiet, *MORE[2:]]).entries == 0
    assert texts(scene) == [each["content"] for each in MORE]


def test_a_call_is_journaled_with_its_result_however_late_it_comes(scene, memory):
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    asked = [TALK[0], {"role": "assistant", "content": [use]}]
    assert memory.append("s1", asked).entries == 1
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}
    assert memory.append("s1", [*asked, {"role": "user", "content": [result]}]).entries == 1
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT result FROM entries WHERE kind = 'tool_call'")
        assert [row["result"] for row in rows] == ["a.txt"]


def test_nothing_to_say_makes_no_conversation(memory):
    assert memory.append("s1", [{"role": "system", "content": "x"}]) == Appended("jsonl/s1")
    assert memory.status()["conversations"] == []


def test_the_title_and_the_folder_describe_the_conversation(scene, tmp_path):
    memory = Memory(scene.context(), tmp_path)
    memory.append("s1", TALK, title="Releases")
    assert memory.status()["conversations"][0]["title"] == "Releases"
    with scene.context().state() as state:
        (row,) = state.connection.execute("SELECT cwd FROM conversations")
        assert row["cwd"] == str(tmp_path)


@pytest.mark.parametrize("name", ["", "  ", "codex/s1", "a/b", "x" * 501])
def test_a_name_that_is_none_is_refused(memory, name):
    with pytest.raises(UsageError):
        memory.append(name, TALK)


def test_a_secret_is_never_written(scene, memory):
    token = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.append("s1", [{"role": "user", "content": f"It is {token}."}], title=token)
    found = [file for file in scene.home.rglob("*") if file.is_file()]
    assert [file for file in found if token.encode() in file.read_bytes()] == []


# What a person said no to


def test_what_is_said_while_paused_stays_out_for_good(scene, memory):
    memory.append("old", TALK)
    found = scene.context()
    pauses.pause(found.home, found.ambient, None)
    said = [{"role": "user", "content": "The canary sings."}]
    assert memory.append("new", said) == Appended("jsonl/new", left_out={"paused": 1})
    assert memory.append("old", [*TALK, *said]).left_out == {"paused": 1}
    scene.clock.passed += 60
    pauses.resume(found.home, found.ambient)
    scene.clock.passed += 60
    later = {"role": "user", "content": "Later.", "timestamp": scene.context().ambient.now()}
    assert memory.append("new", [*said, later]).entries == 1
    assert memory.append("old", [*TALK, *said, later]).entries == 1
    assert sorted(texts(scene)) == sorted([*(each["content"] for each in TALK), *["Later."] * 2])
    files = [file for file in scene.home.rglob("*") if file.is_file()]
    assert not [file for file in files if b"canary" in file.read_bytes()]


def test_what_is_said_in_an_excluded_folder_stays_out(tmp_path):
    scene = Scene(tmp_path, config=f'[journal]\nexclude = ["{tmp_path}/private*"]\n')
    memory = Memory(scene.context(), tmp_path / "private")
    done = memory.append("s1", TALK)
    assert (done.entries, done.left_out) == (0, {"excluded": 2})
    assert texts(scene) == []


# Events and runs


def test_a_turn_that_settles_reserves_nothing_before_the_threshold(memory):
    memory.append("s1", TALK)
    assert memory.settled("s1") == Decided("nothing", "below_threshold")
    assert memory.settled() == Decided("nothing", "below_threshold")


def test_a_compaction_is_marked_once(memory):
    memory.append("s1", TALK)
    assert memory.compaction("s1", "first") == Decided("marked")
    assert memory.status()["conversations"][0]["pending_compaction"] is True


def test_an_agent_goes_on_while_recording_is_paused(scene, memory):
    found = scene.context()
    pauses.pause(found.home, found.ambient, None)
    assert memory.append("s1", TALK).entries == 0
    assert memory.settled("s1") == Decided("nothing", "not_recorded")
    assert memory.compaction("s1") == Decided("nothing", "not_recorded")
    assert memory.prompt()


def test_what_was_said_is_learned_and_in_the_next_prompt(memory):
    memory.append("s1", TALK)
    assert "sign the tags" not in memory.prompt()
    done = memory.reflect(conversations=["s1"])
    assert [run["outcome"] for run in done.runs] == ["merged"]
    ((path, lines),) = done.learned.items()
    assert (len(lines), done.limited) == (1, False)
    assert "sign the tags" in lines[0]
    assert done.changes == ({"path": path, "change": "modified"},)
    assert "sign the tags" in memory.prompt()
    assert memory.run(str(done.runs[0]["id"])) == done
    assert memory.reflect().runs == ()
    number = memory.read(path).split("\n").index(lines[0]) + 1
    assert memory.why(path, number)["run"]["id"] == done.runs[0]["id"]


def test_a_reflection_on_an_unknown_conversation_is_refused(memory):
    with pytest.raises(NotFoundError):
        memory.reflect(conversations=["s1"])
    with pytest.raises(NotFoundError):
        memory.ask(conversations=["s1"])


def test_one_who_is_told_to_stop_stops_before_the_first_run(memory):
    memory.append("s1", TALK)
    assert memory.reflect(stop=lambda: True).runs == ()


def test_there_is_nothing_to_ask_for_in_an_empty_memory(memory):
    assert memory.ask() == Decided("nothing", "nothing_new")


# Memory


def test_every_change_is_one_commit_of_an_agent(scene, memory):
    before = scene.git("rev-list", "--count", "main").strip()
    made = memory.create("reference/hosts", "- a: 1\n", "The hosts.", reason="hosts were named")
    assert made.paths == ("reference/hosts.md",)
    memory.replace("reference/hosts.md", "a: 1", "a: 2", reason="it moved")
    memory.insert("reference/hosts.md", "- b: 3", reason="another one")
    assert memory.read("reference/hosts").endswith("- a: 2\n- b: 3\n")
    memory.rename("reference/hosts.md", "reference/machines.md", reason="a better name")
    memory.delete("reference/machines.md", reason="they are gone")
    with pytest.raises(NotFoundError):
        memory.read("reference/hosts.md")
    assert int(scene.git("rev-list", "--count", "main")) == int(before) + 5
    log = scene.git("log", "-5", "--format=%s|%(trailers:key=Memory-Writer,valueonly,separator=)")
    assert set(log.split("\n")[0:5]) == {
        "they are gone|agent",
        "a better name|agent",
        "another one|agent",
        "it moved|agent",
        "hosts were named|agent",
    }


def test_a_change_names_the_conversation_that_it_was_made_in(scene, memory):
    memory.append("s1", TALK)
    memory.create("reference/x", "x\n", "X.", reason="said so", conversation="s1")
    assert "Conversation: jsonl/s1" in scene.git("log", "-1", "--format=%B")


@pytest.mark.parametrize("reason", ["", " ", "two\nlines"])
def test_a_change_without_a_reason_is_refused(memory, reason):
    with pytest.raises(UsageError):
        memory.create("reference/x", "x\n", "X.", reason=reason)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config"])
def test_no_path_leads_out_of_the_memory(memory, path):
    with pytest.raises((PathError, DocumentError)):
        memory.create(path, "x\n", "X.", reason="r")
    with pytest.raises((PathError, NotFoundError)):
        memory.read(path)


def test_documents_are_listed_below_a_folder(memory):
    every = memory.documents()
    assert [each.path for each in every] == sorted(each.path for each in every)
    system = memory.documents("system")
    assert system
    assert all(each.in_context and each.path.startswith("system/") for each in system)


def test_what_fits_a_query_is_recalled_and_what_was_said_is_found(memory):
    memory.append("s1", TALK)
    memory.create("reference/hosts", "The build host is called ada.\n", "hosts", reason="a note")
    assert [each.path for each in memory.recall("build host")] == ["reference/hosts.md"]
    assert memory.recall("build host", below="system/") == ()
    assert memory.recall("build host", layer="facts") == ()
    assert memory.recall("build host", until="2000-01-01") == ()
    assert memory.recall("build host", layer="documents", since="2000-01-01")
    for wrong in ({"layer": "fact"}, {"status": "gone"}):
        with pytest.raises(UsageError):
            memory.recall("build host", **wrong)
    assert "<recalled>" in memory.prompt(query="build host")
    assert "<recalled>" not in memory.prompt()
    found = memory.search("sign the tags", kind="user")
    assert [each.conversation for each in found] == ["jsonl/s1"]
    with pytest.raises(NotFoundError):
        memory.search("tags", conversation="jsonl/nobody")


def test_a_prompt_keeps_to_its_budget(memory):
    assert len(memory.prompt(budget=400)) < len(memory.prompt(budget=2000))


def test_several_threads_share_one_object(memory):
    def talk(number):
        said = [{"role": "user", "content": f"Number {number}."}]
        return memory.append(f"s{number}", said).entries + len(memory.prompt() and said)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(talk, range(12))) == [2] * 12
    assert len(memory.status()["conversations"]) == 12
    with ThreadPoolExecutor(4) as pool:
        same = list(pool.map(lambda _: memory.append("same", TALK).entries, range(8)))
    assert sum(same) == len(TALK)


def test_the_machine_forms_are_json(memory):
    memory.append("s1", TALK)
    assert json.loads(json.dumps(memory.status()))["identity"] == "default"


def test_a_limit_of_the_day_that_lets_nothing_run_is_an_error(tmp_path):
    scene = Scene(tmp_path, config="[day]\nmax_runs = 0\n")
    memory = Memory(scene.context())
    memory.append("s1", TALK)
    with pytest.raises(DayLimitError) as caught:
        memory.reflect(engine="anthropic")
    assert caught.value.facts["runs"] == 0


def test_opening_a_memory_that_is_not_there_leaves_nothing_behind(tmp_path):
    for home in (tmp_path / "typo", tmp_path / "more" / "typo"):
        with pytest.raises(HomeError):
            Memory.open(home)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("home", ["\0", "/home/\ud800"])
def test_what_is_no_path_is_refused_as_a_home(home):
    with pytest.raises(HomeError, match="cannot be found"):
        Memory.open(home)


def test_a_line_before_the_first_is_not_found(memory):
    for line in (0, -1):
        with pytest.raises(NotFoundError, match="has no line"):
            memory.why("system/persona.md", line)


def test_one_name_is_no_list_of_letters(memory):
    with pytest.raises(NotFoundError, match="There is no conversation nope "):
        memory.ask(conversations="nope")


def test_a_conversation_whose_name_no_database_can_keep_is_journaled_once(memory):
    said = [{"role": "user", "content": "Use tabs."}]
    assert memory.append("a\ud800", said).entries == 1
    assert memory.append("a\ud800", said).entries == 0
