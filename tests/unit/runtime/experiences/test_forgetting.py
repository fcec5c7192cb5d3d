"""Experiences and facts of main: named by their ids, forgotten by one commit and from all indexes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.core.errors import NotFoundError, UsageError
from reflector.memory.commit_message import Update
from reflector.memory.experiences.form import render
from reflector.memory.rules import check_memory
from reflector.runtime.experiences import forgetting
from reflector.runtime.experiences.forgetting import forget, resting_on
from reflector.runtime.experiences.reading import held
from reflector.runtime.forgetting.forget import all_locks
from reflector.runtime.forgetting.forget import forget as forget_all
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.recall import recall
from reflector.runtime.writing import write
from reflector.store import recall as index
from reflector.store import recall_uses
from reflector.vcs.reads import Reads
from tests.support import searching
from tests.support.scenes import Scene
from tests.support.scripted_engine import Death
from tests.support.stored import linked, stored, tree_of

SECRET_HOST = "It runs on alpha-seven."
CHAIN = linked(
    replace(stored(0x11, "fact", title="backup", project=""), body=SECRET_HOST),
    replace(
        stored(0x12, "fact", title="backup"), body=f"It runs at three.\n{SECRET_HOST}", project=""
    ),
)
FIRST, SECOND = CHAIN.values()
ALONE = replace(stored(0x13, "fact", title="weekly"), project="")


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    files = {one.path: render(one) for one in (FIRST, SECOND, ALONE, stored(0x21))}
    write(made.context(), lambda _: files, "what was learned")
    return made


def test_one_is_named_by_its_id_its_beginning_or_its_path(scene):
    here = held(scene.context(), "fact")
    for words in (ALONE.id, " 00000013 ", ALONE.path, ALONE.path.removesuffix(".md")):
        assert here.named(words).id == ALONE.id
    made = Scene(scene.folder / "two")
    other = stored(0xABC00000)
    write(made.context(), lambda _: {other.path: render(other)}, "one")
    assert held(made.context(), "experience").named("ABC").id == other.id


@pytest.mark.parametrize("words", ["0000001", "0", "00"])
def test_a_beginning_of_several_names_none_and_tells_which(scene, words):
    with pytest.raises(UsageError, match="the beginning of several ids: 00000013") as refused:
        held(scene.context(), "fact").named(words)
    assert "00000011" in str(refused.value.facts["candidates"])


@pytest.mark.parametrize("words", ["ffffffff", "", "/", "facts/", "00000021", "../x.md"])
def test_an_id_that_is_none_is_told_with_some_that_are(scene, words):
    with pytest.raises((NotFoundError, UsageError)) as refused:
        forget(scene.context(), "fact", words)
    assert "00000013" in refused.value.hint
    with pytest.raises(NotFoundError, match="no experience"):
        forget(scene.context(), "experience", ALONE.id)


@pytest.mark.parametrize("words", ["0000002a", "0000002", "facts/broken-0000002a.md"])
def test_one_that_somebody_broke_is_not_said_to_be_missing(scene, words):
    place = scene.repo / "facts" / "broken-0000002a.md"
    place.write_text("---\ndescription: x\nstatus: [\n---\nbody\n")
    scene.git("add", "-A")
    scene.git("commit", "-q", "--no-verify", "-m", "by hand")
    with pytest.raises(NotFoundError, match=r"facts/broken-0000002a\.md:\d+: .*YAML") as refused:
        held(scene.context(), "fact").named(words)
    assert "reflector memory forget facts/broken-0000002a.md" in refused.value.hint


def test_what_is_forgotten_leaves_main_and_everything_derived_by_one_commit(scene):
    here = scene.context()
    assert recall(here, "alpha-seven")
    with here.state() as state, state.transaction() as connection:
        recall_uses.note(connection, [FIRST.path, ALONE.path], "s", here.ambient.now())
    before = scene.git("rev-parse", "HEAD").strip()

    done = forget(here, "fact", FIRST.id)

    assert (done.removed, done.changed) == ((FIRST.path,), (SECOND.path,))
    assert scene.git("rev-parse", "HEAD^").strip() == before
    assert done.commit == scene.git("rev-parse", "HEAD").strip()
    assert "alpha" not in scene.git("show", "-s", "--format=%B", "HEAD")
    assert not (here.agent.path / index.MEMORY).exists()
    assert recall(here, "alpha-seven") == []
    assert searching.in_files(scene.home, "alpha-seven") == []
    left = held(here, "fact").kept.known[SECOND.id]
    assert (left.body, left.supersedes, left.status) == ("It runs at three.", (), "active")
    with here.state() as state:
        assert list(recall_uses.uses(state.connection)) == [ALONE.path]
    with Reads(scene.repo) as reads:
        assert check_memory(reads.tree(done.commit)) == ()
    assert scene.git("show", f"{before}:{FIRST.path}")


def test_who_dies_behind_the_commit_leaves_no_word_in_an_index(scene, monkeypatch):
    here = scene.context()
    assert recall(here, "alpha-seven")

    def dies(*given, **named):
        write(*given, **named)
        raise Death

    monkeypatch.setattr(forgetting, "write", dies)
    with pytest.raises(Death):
        forget(here, "fact", FIRST.id)
    assert FIRST.id not in held(here, "fact").kept.known
    assert not (here.agent.path / index.MEMORY).exists()


def test_what_goes_along_since_it_was_looked_for_is_told_in_the_commit_as_well(scene, monkeypatch):
    here = scene.context()

    def meanwhile(*given, **named):
        alone = replace(ALONE, status="superseded", superseded_by=SECOND.id)
        second = replace(SECOND, supersedes=(*SECOND.supersedes, ALONE.id))
        files = {one.path: render(one) for one in (alone, second)}
        write(here, lambda _: files, "another one was replaced")
        return write(*given, **named)

    monkeypatch.setattr(forgetting, "write", meanwhile)
    done = forget(here, "fact", SECOND.id)
    assert set(done.removed) == {one.path for one in (FIRST, SECOND, ALONE)}
    said = scene.git("show", "-s", "--format=%B", "HEAD")
    assert all(f"Memory-Forgot: fact {one.id}" in said for one in (FIRST, SECOND, ALONE))


def test_a_search_in_between_leaves_no_word_in_an_index(scene, monkeypatch):
    here = scene.context()

    def searched(*given, **named):
        assert recall(here, "alpha-seven")
        return write(*given, **named)

    monkeypatch.setattr(forgetting, "write", searched)
    forget(here, "fact", FIRST.id)
    assert not (here.agent.path / index.MEMORY).exists()


def test_to_forget_a_conversation_takes_what_rests_on_it_alone(scene):
    scene.says("Rotate the log.", "Done.", session="gone")
    with scene.context().state() as state:
        (key,) = (row[0] for row in state.connection.execute("SELECT key FROM conversations"))
        entries = [row[0] for row in state.connection.execute("SELECT id FROM entries")]
    mine = replace(stored(0x31, title="short one"), body="Do a.\nDo b.", evidence=tuple(entries))
    shared = replace(stored(0x32), evidence=(*entries, "claude-code:other:1"))
    tree = tree_of(mine, shared, stored(0x33))
    assert resting_on(tree, (), entries) == [mine.path]
    files = {one.path: render(one) for one in (mine, shared)}
    write(scene.context(), lambda _: files, "learned")

    asked = Asked(key)
    with all_locks(scene.context()) as memory:
        forget_all(memory, asked, target_of(scene.context(), memory.state, asked))

    assert sorted(held(scene.context(), "experience").kept.known) == [f"{0x21:08x}", shared.id]


def test_what_is_gone_from_main_is_known_by_what_commits_say_of_it():
    def said(path, text, *evidence):
        return Update(f"{path}: {text}", evidence, path)

    entries = {"h:gone:1", "h:gone:2"}
    mine, shared, kept = stored(1).path, stored(2).path, stored(3, evidence=("h:kept:1",))
    updates = [
        said(mine, "a task", "h:gone:1"),
        said(mine, f"superseded by {shared}", "h:kept:1"),
        said(shared, "a task", "h:gone:1"),
        said(shared, "confirmed: a task", "h:kept:1"),
        said(kept.path, "a task", "h:gone:2"),
        said("reference/x.md", "a lesson", "h:gone:1"),
    ]
    assert resting_on(tree_of(kept), updates, entries) == [mine]
