"""What a memory and its journal answer: as main and journal are now, for whoever asks from where."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from reflector.core.ambient import SystemClock, instant
from reflector.core.errors import BusyError, NotFoundError, StateError
from reflector.runtime.banks import bank_of
from reflector.runtime.compiled import Wanted, compile_block
from reflector.runtime.forgetting.forget import all_locks, forget
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.recall import Sought, recall, search, serve
from reflector.runtime.retention import age_out
from reflector.store import recall as files
from reflector.store import recall_uses
from reflector.store.locks import Lock
from tests.support import searching
from tests.support.harness_rows import lines, user
from tests.support.repos import fresh
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


def document(text: str, about: str = "about it", **header: str) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in header.items())
    return f"---\ndescription: {about}\n{more}---\n{text}\n"


def commit(scene: Scene, **files: str | None) -> None:
    """Let the person commit documents by hand, named without their folder and ending."""
    for name, text in files.items():
        place = scene.repo / "reference" / f"{name}.md"
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True) if text is None else place.write_text(text, "utf-8")
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "by hand")


def paths(scene: Scene, query: str, **options) -> list[str]:
    return [each.path for each in recall(scene.context(), query, **options)]


def rows(scene: Scene) -> list[tuple[object, ...]]:
    """Return what the index of the memory holds, in no order that history decides."""
    with closing(sqlite3.connect(scene.context().agent.path / files.MEMORY)) as index:
        documents = index.execute(
            "SELECT path, description, bank, at, heading, text FROM documents "
            "JOIN passages ON document = documents.id ORDER BY path, heading, text"
        ).fetchall()
        return documents + index.execute("SELECT * FROM found_terms ORDER BY term").fetchall()


def test_what_was_committed_last_is_found_and_what_went_is_not(scene):
    commit(scene, keys=document("Rotate the keys."))
    assert paths(scene, "rotation") == ["reference/keys.md"]
    commit(scene, keys=None, more=document("Rotate the tyres."))
    assert paths(scene, "rotation") == ["reference/more.md"]
    scene.git("reset", "-q", "--hard", "HEAD~1")
    assert paths(scene, "rotation") == ["reference/keys.md"]


def test_one_change_after_the_other_leaves_what_making_it_anew_makes(scene):
    recall(scene.context(), "anything")
    commit(scene, a=document("alpha\n# Part\nbeta"), b=document("beta"))
    recall(scene.context(), "alpha")
    commit(scene, a=document("gamma"), c=document("alpha", superseded_by="reference/a.md"))
    commit(scene, a=document("alpha\n# Part\nbeta"), b="no header any more")
    scene.git("mv", "reference/a.md", "reference/d.md")
    scene.git("commit", "-q", "-m", "moved")
    scene.git("checkout", "-q", "-b", "side", "HEAD~1")
    commit(scene, e=document("alpha"))
    scene.git("checkout", "-q", "main")
    scene.git("merge", "-q", "--no-ff", "-m", "brought", "side")
    assert set(paths(scene, "alpha")) == {"reference/d.md", "reference/e.md"}
    changed = rows(scene)
    files.drop(scene.context().agent, SystemClock(), files.MEMORY)
    recall(scene.context(), "alpha")
    assert rows(scene) == changed


def test_a_damaged_index_is_made_anew_without_a_word(scene):
    commit(scene, keys=document("Rotate the keys."))
    assert paths(scene, "keys") == ["reference/keys.md"]
    place = scene.context().agent.path / files.MEMORY
    raw = bytearray(place.read_bytes())
    raw[4096:] = b"\xee" * (len(raw) - 4096)
    place.write_bytes(raw)
    assert paths(scene, "keys") == ["reference/keys.md"]
    place.write_bytes(b"")
    assert paths(scene, "keys") == ["reference/keys.md"]
    with closing(sqlite3.connect(place)) as index:
        index.execute("DROP TABLE passages")
    assert paths(scene, "keys") == ["reference/keys.md"]


def test_an_index_that_cannot_be_made_is_an_error_and_not_nothing(scene):
    (scene.context().agent.path / files.MEMORY).mkdir()
    with pytest.raises((StateError, OSError)):
        recall(scene.context(), "keys")


def test_a_result_says_what_matched_where_and_since_when(scene):
    text = f"Intro.\n\n## Rotation\nRotate the keys \x1b[2J with {TOKEN} monthly."
    commit(scene, keys=document(text, about="How keys rotate"))
    (found,) = recall(scene.context(), "rotating keys")
    assert found.why == (
        "path: keys; description: rotating, keys; heading: rotating; text: rotating, keys"
    )
    assert found.excerpt == "Rotate the keys [2J with [REDACTED:github] monthly."
    assert instant(found.updated_at).timestamp() == int(scene.git("log", "-1", "--format=%ct"))
    assert list(found.as_json()) == [
        *("path", "id", "layer", "status", "score", "excerpt", "updated_at", "why", "age_days")
    ]
    assert searching.in_tables(scene.home, TOKEN) == []


def item(scene: Scene, path: str, text: str, **header: str) -> None:
    place = scene.repo / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(document(text, **header), "utf-8")
    commit(scene)


def test_what_an_agent_is_given_counts_as_used_and_what_a_person_looks_up_does_not(scene):
    path = "experiences/rotate-0badcafe.md"
    item(scene, path, "Rotate the keys.")

    def uses() -> dict[str, int]:
        with scene.context().state() as state:
            found = recall_uses.uses(state.connection)
            return {path: use.sessions for path, use in found.items()}

    assert paths(scene, "keys") == [path]
    assert uses() == {}
    assert [each.item for each in serve(scene.context(), "keys", session="s-1")] == ["0badcafe"]
    serve(scene.context(), "keys", session="s-1")
    assert uses() == {path: 1}
    serve(scene.context(), "keys", session="s-2")
    assert uses() == {path: 2}


def test_a_day_counts_up_to_its_end(scene):
    commit(scene, keys=document("Rotate the keys."))
    (found,) = recall(scene.context(), "rotate keys")
    day = found.updated_at[:10]
    for sought in (Sought(until=day), Sought(since=day), Sought(until=found.updated_at)):
        assert recall(scene.context(), "rotate keys", sought), sought
    assert recall(scene.context(), "rotate keys", Sought(until="2000-01-01")) == []


def test_what_cannot_be_noted_as_used_is_recalled_all_the_same(scene):
    item(scene, "facts/2026-11/keys-0badcafe.md", "Keys were rotated.")
    with scene.context().state() as state, state.transaction():
        assert serve(scene.context(), "keys rotated")


def test_details_of_a_fact_and_what_was_superseded_are_found_by_who_asks(scene):
    text = "Keys were rotated.\n\n## Details\n\nserial | 4711"
    item(scene, "facts/2026-11/keys-0badcafe.md", text, superseded_by="12345678")
    assert paths(scene, "rotated keys") == []
    every = Sought(status="")
    (found,) = recall(scene.context(), "rotated keys", every, details=True)
    assert found.as_json() | {"details": "serial | 4711", "status": "superseded"} == found.as_json()
    (plain,) = recall(scene.context(), "rotated keys", every)
    assert "details" not in plain.as_json()
    assert paths(scene, "4711") == []


def test_what_belongs_to_another_project_is_not_found(scene, tmp_path):
    here = fresh(tmp_path / "shop").path
    bank = bank_of(here)
    for name, owner in (("ours", bank), ("theirs", "other-12345678")):
        place = scene.repo / "projects" / owner / f"{name}.md"
        place.parent.mkdir(parents=True)
        place.write_text(document("Rotate the keys."), "utf-8")
    commit(scene)
    assert paths(scene, "keys", cwd=here) == [f"projects/{bank}/ours.md"]
    theirs = Sought(project="other-12345678", layer="decisions")
    found = recall(scene.context(), "keys", theirs, cwd=here)
    assert [each.path for each in found] == ["projects/other-12345678/theirs.md"]
    assert paths(scene, "keys") == []


def test_the_block_of_a_query_shows_what_it_recalls_within_the_budget(scene):
    for number in range(30):
        place = scene.repo / "reference" / f"keys-{number:02d}.md"
        place.write_text(document("Rotate <memory> keys. " * 40, about=f"keys {number}"), "utf-8")
    commit(scene)
    _, plain = compile_block(scene.context(), Wanted())
    revision, block = compile_block(scene.context(), Wanted(query="rotate keys"))
    assert "<recalled>" not in plain.text
    shown = block.text.split("<recalled>")[1].split("</recalled>")[0]
    assert "- reference/keys-" in shown
    assert "Rotate &lt;memory> keys." in shown
    assert "<memory>" not in shown
    assert len(block.text) <= 8000
    assert revision == scene.git("rev-parse", "main").strip()
    (section,) = [each for each in block.sections if each.name == "recalled"]
    assert section.tokens > 0
    assert recall(scene.context(), "preferences")[0].path == "system/human.md"
    _, system = compile_block(scene.context(), Wanted(query="preferences"))
    assert "system/" not in system.text.partition("<recalled>")[2].partition("</recalled>")[0]
    _, nothing = compile_block(scene.context(), Wanted(query="zzz"))
    assert "<recalled>" not in nothing.text


def test_a_search_finds_what_was_said_since_the_last_one(scene):
    scene.says("Deploy on Tuesdays.", "I will.")
    (found,) = search(scene.context(), "tuesday")
    assert (found.kind, found.excerpt, found.why) == (
        "user",
        "Deploy on Tuesdays.",
        "user: tuesday",
    )
    assert list(found.as_json()) == [
        *("conversation", "entry", "kind", "score", "excerpt", "updated_at", "why")
    ]
    scene.says("Never on Tuesdays.", session="other")
    assert len(search(scene.context(), "tuesday")) == 2
    known = search(scene.context(), "never")[0].conversation
    (other,) = search(scene.context(), "never", conversation=known)
    assert other.conversation == known
    with pytest.raises(NotFoundError):
        search(scene.context(), "tuesday", conversation="generic/none")


def test_a_whole_message_can_be_the_query(scene):
    commit(scene, keys=document("Rotate the keys."))
    scene.says("Rotate the keys.", "I will.")
    message = " ".join(f"word{number}" for number in range(3000))
    assert "reference/keys.md" in paths(scene, f"keys {message}")
    assert search(scene.context(), f"keys {message}")


def test_forgetting_reaches_what_is_searched(scene):
    commit(scene, keys=document("The Falcon ships in May."))
    scene.says("The Falcon project ships in May.", "Noted.")
    assert recall(scene.context(), "falcon")
    assert search(scene.context(), "falcon")
    assert _words(scene, "falcon")
    asked = Asked("Falcon", history=True)
    with all_locks(scene.context()) as memory:
        forget(memory, asked, target_of(memory.context, memory.state, asked))
    assert _words(scene, "falcon") == searching.everywhere(scene.home, "Falcon") == []
    assert recall(scene.context(), "falcon") == search(scene.context(), "falcon") == []
    assert _words(scene, "falcon") == []


def test_a_search_in_the_middle_of_forgetting_keeps_nothing(scene):
    from reflector.runtime.forgetting.forget import steps

    commit(scene, keys=document("The Falcon ships in May."))
    scene.says("The Falcon project ships in May.", "Noted.")
    asked = Asked("Falcon", history=True)
    with all_locks(scene.context()) as memory:
        walk = steps(memory, asked, target_of(memory.context, memory.state, asked))
        for step in walk:
            if step in ("begun", "files"):
                assert recall(scene.context(), "falcon")
                assert search(scene.context(), "falcon")
            if step == "files":
                assert _words(scene, "falcon")
    assert _words(scene, "falcon") == []


def _words(scene: Scene, word: str) -> list[str]:
    """Return the files beside the repository that hold a word in whatever case."""
    agent = scene.context().agent.path
    places = [file for file in agent.glob("*.db*") if word.encode() in file.read_bytes().lower()]
    return [place.name for place in places]


def test_text_that_was_aged_out_is_in_no_index(scene):
    scene.says("The Falcon project ships in May.", "Noted.")
    assert search(scene.context(), "falcon")
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE conversations SET cursor = last_sequence")
    scene.clock.sleep(400 * 24 * 3600)
    assert age_out(scene.context()) == 2
    assert not (scene.context().agent.path / files.JOURNAL).exists()
    assert search(scene.context(), "falcon") == []


def test_two_at_once_wait_for_each_other_and_say_so_when_it_takes_too_long(scene):
    lock = Lock(scene.context().agent.lock("recall"))
    assert lock.take()
    with pytest.raises(BusyError):
        recall(scene.context(), "keys")
    lock.release()
    assert recall(scene.context(), "preferences")


@pytest.mark.parametrize("busy", [False, True])
def test_what_turns_out_to_be_off_the_record_is_in_no_index(scene, tmp_path, busy):
    side = {"isSidechain": True, "agentId": "ag1"}
    agent, main = tmp_path / "agent-ag1.jsonl", tmp_path / "s1.jsonl"
    at = "2026-10-01T08:00:{}.500Z".format
    agent.write_bytes(lines(user("g1", "Look at Falcon", timestamp=at(11), **side)))
    said = [user("u2", "#norecord Falcon", timestamp=at(10)), user("u3", "Go", timestamp=at(20))]
    main.write_bytes(lines(*said))
    ingest(scene.context(), agent, Quiet())
    assert search(scene.context(), "falcon")
    assert _words(scene, "falcon")
    lock = Lock(scene.context().agent.lock("recall"))
    assert not busy or lock.take()  # whoever searches meanwhile keeps nobody from recording
    ingest(scene.context(), main, Quiet())
    lock.release()
    assert (_words(scene, "falcon") == []) is not busy
    assert search(scene.context(), "falcon") == []
    assert _words(scene, "falcon") == []
