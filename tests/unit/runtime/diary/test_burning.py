"""A burned diary leaves nothing of what it said anywhere in the home, and the command looks itself."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflector.core.diary import Diary, Entry, Term, Trait
from reflector.core.errors import BusyError, HomeError, NotFoundError
from reflector.pipelines.diary import settling
from reflector.runtime.diary import copy, health, said, search, seeds
from reflector.runtime.diary.burning import burn
from reflector.runtime.diary.notes import note
from reflector.runtime.diary.repository import Repository
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.store import diary as queue
from reflector.store.disk import Home
from reflector.store.locks import Lock
from tests.support.forks import beside
from tests.support.repos import Repo
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

EVENT = "We laughed about the broken kettle until it rained."
FORMER = "The kettle was a present from the sea."
IMPRESSION = "He would rather mend a thing than buy one."
MOMENT = "He took the toaster apart on the first evening."
NOTE = "Ask about the kettle, and never about the sea."
MINE = "My own line about the harbour wall."
EVERYTHING = (EVENT, FORMER, IMPRESSION, MOMENT, NOTE, MINE)


def lived(scene: Scene) -> Repository:
    """A diary with some of everything, and copies of it in places that are ours."""
    context = scene.context()
    diary = Repository(context)
    entry = Entry("a" * 16, "2026-11-20", FORMER, "chat", created_at="2026-11-20T09:00:00.000Z")
    trait = Trait("b" * 16, IMPRESSION, MOMENT, "user")

    def first(now: Diary) -> Diary:
        return replace(
            now,
            entries={entry.id: entry},
            traits={trait.id: trait},
            lexicon={"kettle day": Term("kettle day", 3)},
        )

    diary.change("one", "consolidate", first)
    diary.change(
        "two",
        "consolidate",
        lambda now: replace(now, entries={entry.id: replace(entry, text=EVENT, version=2)}),
    )
    note(context, NOTE)
    (diary.path / "NOTES.md").write_text(f"- {MINE}\n")
    diary.read(quiet=0)
    job = context.agent.path / "runs" / "jobs" / "2026-11-30" / "diary-1-step-1.json"
    job.parent.mkdir(parents=True)
    job.write_text(f'{{"reply": "it said: {EVENT}"}}')
    context.agent.log.write_text(f"a line about {NOTE}\n")
    with context.state() as state, state.transaction() as connection:
        queue.mentioned(connection, [entry.id], "claude-code/x", 1, "2026-11-30")
    return diary


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, "diary.enabled = true\n")


def found_in(home: Path) -> list[str]:
    """Look again, in a way of its own: what git keeps is unpacked by git."""
    files = ((each, each.read_bytes()) for each in home.rglob("*") if each.is_file())
    still = [str(file) for file, raw in files if any(text.encode() in raw for text in EVERYTHING)]
    for folder in home.rglob(".git"):
        told = Repo(folder.parent).git("cat-file", "--batch-all-objects", "--batch")
        still += [f"{folder}: {text}" for text in EVERYTHING if text in told]
    return still


def test_nothing_is_left_of_it_in_any_byte_of_the_home(scene):
    diary = lived(scene)
    scene.says("What do you remember?", f"I noted: {NOTE}")
    assert found_in(scene.home)
    done = burn(scene.context())
    assert found_in(scene.home) == []
    assert done.searched.still == ()
    assert done.searched.texts >= len(EVERYTHING)
    assert (done.entries, done.traits, done.terms) == (2, 1, 1)
    assert any("harness's own transcript" in each for each in done.out_of_reach)
    Repo(diary.path).assert_sound()


def test_what_is_left_is_a_new_diary_and_tombstones_without_a_word(scene):
    diary = lived(scene)
    before = diary.read()
    burn(scene.context())
    after = diary.read()
    assert (dict(after.entries), dict(after.traits), dict(after.lexicon), after.notes) == (
        {},
        {},
        {},
        (),
    )
    assert after.persona == seeds.files()["persona.md"].decode()
    term = settling.term_tombstone("kettle day")
    assert set(after.tombstones) == {*before.entries, *before.traits, term}
    assert Repo(diary.path).git("rev-list", "--count", "--all") == "1"
    assert after.replica != before.replica
    assert Repo(diary.path).status() == ""


def test_what_waited_and_what_was_mentioned_is_gone_from_the_database(scene):
    lived(scene)
    burn(scene.context())
    with scene.context().state() as state:
        assert queue.hold_mentions(state.connection, "s") == ()
        assert not queue.any_waiting(state.connection)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mcp__reflector__note", {"text": "Anna, raw"}),
        ("reflector.note", {"text": "Anna, raw"}),
        ("Bash", {"command": "/h/bin/reflector diary note 'Anna, raw' --home /h"}),
        ("Bash", {"command": "'/h/bin/reflector' diary note 'Anna, raw'"}),
    ],
)
def test_the_call_that_left_a_note_goes_with_the_name_that_was_in_it(scene, tool, arguments):
    lived(scene)
    place = scene.write("Hello there.", "Hello.")
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": arguments}}
    row = {
        "role": "assistant",
        "content": "",
        "id": "x",
        "session_id": "talk",
        "tool_calls": [call],
    }
    answer = {"role": "tool", "tool_call_id": "c1", "content": "ok", "session_id": "talk"}
    with place.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in (row, answer))
    ingest(scene.context(), place, Quiet(), settled=True)
    assert journaled(scene).count("Anna, raw") == 1
    burn(scene.context())
    assert "Anna, raw" not in journaled(scene)
    assert "Hello there." in journaled(scene)


def journaled(scene: Scene) -> str:
    with scene.context().state() as state:
        rows = state.connection.execute("SELECT text, tool, arguments FROM entries").fetchall()
    return "\n".join("|".join(row) for row in rows)


def test_the_memory_itself_stays(scene):
    before = Repo(scene.repo).git("ls-tree", "-r", "HEAD")
    lived(scene)
    burn(scene.context())
    assert Repo(scene.repo).git("ls-tree", "-r", "HEAD") == before


def test_it_burns_what_is_switched_off_or_cannot_be_read(scene):
    diary = lived(scene)
    Repo(diary.path).commit({"diary.json": '{"schema": 99}\n'})
    (scene.home / "config.toml").write_text("")
    burn(scene.context())
    assert found_in(scene.home) == []
    assert not diary.read().entries


def said_by_blobs(scene) -> list[str]:
    found = search.search(Home(scene.home), said.needle(EVERYTHING)).still
    return [place for place in found if ": blob" in place]


def test_a_damaged_repository_burns_and_hides_nothing_from_the_search(scene):
    diary = lived(scene)
    repo = Repo(diary.path)
    oids = [each[:40] for each in repo.git("rev-list", "--objects", "--all").split("\n") if each]
    whole = said_by_blobs(scene)
    assert len(whole) > 1
    # Whatever ids chance gives, the blobs that say something stay whole: they are to be found.
    damaged = [oid for oid in oids if repo.git("cat-file", "-t", oid).strip() != "blob"]
    junk = [f"{byte:02x}{'0' * 38}" for byte in range(256)]  # in every folder that is looked into
    for oid in (*damaged[:2], *junk):
        place = diary.path / ".git" / "objects" / oid[:2] / oid[2:]
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(b"junk")
    (diary.path / ".git/refs/heads/main").unlink()
    with pytest.raises(HomeError):
        diary.read(adopt=False)
    assert said_by_blobs(scene) == whole
    burn(scene.context())
    assert found_in(scene.home) == []
    assert not diary.read().entries


def test_without_a_diary_there_is_nothing_to_burn(scene):
    with pytest.raises(NotFoundError):
        burn(scene.context())
    assert not scene.context().agent.diary.exists()


def test_it_waits_for_whoever_works_on_the_diary(scene):
    diary = lived(scene)
    before = Repo(diary.path).everything()
    worker = Lock(scene.context().agent.lock("run-diary"))
    assert worker.take()
    with pytest.raises(BusyError):
        burn(scene.context())
    worker.release()
    assert Repo(diary.path).everything() == before


def test_a_place_where_it_still_is_would_be_reported(scene):
    lived(scene)
    wanted = said.needle([EVENT])
    found = search.search(Home(scene.home), wanted)
    assert any("entries/2026-11" in place for place in found.still)
    assert any(f"{scene.context().agent.diary}: blob" in place for place in found.still)


def cut_off(scene: Scene, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Die in a burning: before the new diary is in its place, or after it."""
    real = Path.rename
    renames: list[Path] = []

    def dying(self: Path, target: Path) -> Path:
        if self.name in ("diary", "diary.new"):
            renames.append(self)
            if len(renames) == (2 if at == "aside" else 3):
                os._exit(0)
        return real(self, target)

    def dies() -> None:
        monkeypatch.setattr(Path, "rename", dying)
        monkeypatch.setattr(
            shutil, "rmtree", lambda *_a, **_n: os._exit(0) if len(renames) == 2 else None
        )
        burn(scene.context())
        raise AssertionError("it was to die")

    with beside(dies):
        pass


@pytest.mark.parametrize("at", ["aside", "renamed"])
def test_a_death_between_the_two_renames_is_ended_by_whoever_comes_next(scene, at, monkeypatch):
    diary = lived(scene)
    cut_off(scene, at, monkeypatch)
    assert diary.half_burned
    note(scene.context(), "A new beginning.")
    assert [each.text for each in diary.read().entries.values()] == ["A new beginning."]
    assert found_in(scene.home) == []


@pytest.mark.parametrize("at", ["aside", "renamed"])
def test_the_same_command_ends_what_was_cut_off_even_when_no_diary_is_kept(scene, at, monkeypatch):
    lived(scene)
    cut_off(scene, at, monkeypatch)
    (scene.home / "config.toml").write_text("")
    assert "cut off" in dict(health.troubles(scene.context())).popitem()[0]
    burn(scene.context())
    assert found_in(scene.home) == []
    assert dict(health.troubles(scene.context())) == {}


def test_a_copy_that_was_made_while_it_burned_goes_too(scene, monkeypatch):
    diary = lived(scene)
    old, real = diary.read(), Repository.plant

    def plant(self: Repository, *given: Any) -> None:
        copy.save(scene.context().agent.path, diary.head(), old)
        real(self, *given)

    monkeypatch.setattr(Repository, "plant", plant)
    burn(scene.context())
    assert found_in(scene.home) == []
