"""From a line of the memory back to who wrote it and what was said; and back to how it was."""

from __future__ import annotations

import sqlite3

import pytest

from reflector.core.errors import NotFoundError, PathError, UsageError
from reflector.runtime import supervisor
from reflector.runtime.forgetting.forget import all_locks, forget
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.loop import Quiet
from reflector.runtime.provenance import log, why
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.restoring import restore
from reflector.runtime.retention import age_out
from reflector.runtime.undo import undo
from reflector.runtime.writing import write
from tests.support.repos import Repo
from tests.support.scenes import Scene, Stage

pytestmark = pytest.mark.slow

HUMAN = "system/human.md"
SAID = "Always run the tests with make test."


@pytest.fixture
def scene(tmp_path, monkeypatch) -> Scene:
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path, plain=("default",), seconds=1))
    made = Scene(tmp_path)
    made.says("Good morning to you.", "Good morning.", SAID, "I will.")
    made.says("What is the time?", "It is noon.", session="other")
    reflect(made.context(), Options(), Quiet())
    return made


def _line(scene: Scene, text: str = "make test") -> int:
    lines = (scene.repo / HUMAN).read_text("utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def _run(scene: Scene) -> str:
    return scene.git("log", "--format=%(trailers:key=Reflector-Run,valueonly)").split()[-1]


def test_a_line_leads_to_the_words_that_it_rests_on_first(scene):
    found = why(scene.context(), HUMAN, _line(scene))
    assert found.signed.writer == "run"
    assert found.run is not None
    assert found.run.id == found.signed.run == _run(scene)
    first = found.words[0]
    assert (first.entry.text, first.entry.kind, first.cited) == (SAID, "user", True)
    assert first.entry.conversation == "jsonl/talk"
    assert [each.cited for each in found.words] == [True] + [False] * (len(found.words) - 1)
    assert {each.entry.text for each in found.words} >= {"I will.", "What is the time?"}


def test_after_a_lost_ledger_git_tells(scene):
    with sqlite3.connect(scene.context().agent.state) as database:
        database.execute("DELETE FROM run_snapshots")
        database.execute("DELETE FROM runs")
    found = why(scene.context(), "system/human", _line(scene))
    assert found.run is None
    assert (found.signed.run, found.engine, found.trigger) == (_run(scene), "rules", "manual")
    assert found.words[0].entry.text == SAID
    assert set(found.conversations) == {"jsonl/talk", "jsonl/other"}


def test_after_a_lost_journal_the_ids_are_named(scene):
    with sqlite3.connect(scene.context().agent.state) as database:
        database.execute("DELETE FROM entries")
    found = why(scene.context(), HUMAN, _line(scene))
    assert found.words == ()
    assert len(found.missing) == 1


def test_a_text_that_was_aged_out_says_when(scene):
    scene.clock.passed += 400 * 86_400
    assert age_out(scene.context())
    first = why(scene.context(), HUMAN, _line(scene)).words[0]
    assert (first.entry.text, first.entry.state) == ("", "expired")
    assert first.note == "text expired on 2027-11-30"


def test_a_text_that_was_forgotten_says_so(scene):
    asked = Asked("I will.", history=True)
    with all_locks(scene.context()) as memory:
        forget(memory, asked, target_of(memory.context, memory.state, asked))
    states = {
        each.entry.state: each.note for each in why(scene.context(), HUMAN, _line(scene)).words
    }
    assert states["forgotten"].startswith("forgotten")
    assert states["there"] == ""


def test_a_person_s_own_commit_says_so(scene):
    with (scene.repo / HUMAN).open("a", encoding="utf-8") as file:
        file.write("- my own line\n")
    scene.git("commit", "-qam", "mine")
    found = why(scene.context(), HUMAN, _line(scene, "my own"))
    assert (found.signed.writer, found.signed.run, found.words) == ("person", "", ())
    assert "person@example.com" in found.signed.commit.author
    assert why(scene.context(), HUMAN, 2).signed.writer == "reflector"


def test_a_merge_of_a_moved_main_is_still_the_run_s(scene):
    repo = Repo(scene.repo)
    tip = repo.branch_with("side", {"reference/x.md": "---\ndescription: x\n---\n- x\n"})
    repo.commit({"reference/y.md": "---\ndescription: y\n---\n- y\n"}, "mine")
    repo.git("merge", "-q", "--no-ff", "-m", "merge(x): y\n\nReflector-Run: gone\n", "side")
    found = why(scene.context(), "reference/x", 4)
    assert (found.signed.writer, found.signed.run) == ("run", "gone")
    assert found.signed.commit.sha == tip
    assert why(scene.context(), "reference/y", 4).signed.writer == "person"


@pytest.mark.parametrize(("path", "line"), [(HUMAN, 999), ("system/never", 1)])
def test_what_is_not_there_is_said_to_be_missing(scene, path, line):
    with pytest.raises(NotFoundError):
        why(scene.context(), path, line)


def test_a_path_cannot_leave_the_memory(scene):
    for path in ("../x.md", "/etc/passwd", ".git/config"):
        with pytest.raises(PathError):
            why(scene.context(), path, 1)


def test_the_log_names_writers_and_follows_renames(scene):
    scene.git("mv", HUMAN, "system/people.md")
    scene.git("commit", "-qm", "renamed")
    found = log(scene.context(), "system/people")
    assert [(each.writer, each.path) for each in found] == [
        ("person", "system/people.md"),
        ("run", HUMAN),
        ("reflector", HUMAN),
    ]
    assert found[1].run == _run(scene)
    with pytest.raises(NotFoundError):
        log(scene.context(), "system/never")


def test_a_deleted_document_has_a_log_and_can_be_restored(scene):
    content = (scene.repo / HUMAN).read_bytes()
    scene.git("rm", "-q", HUMAN)
    scene.git("commit", "-qm", "gone")
    assert len(log(scene.context(), HUMAN)) == 3
    done = restore(scene.context(), f"system/human@{_run(scene)}")
    assert (scene.repo / HUMAN).read_bytes() == content
    assert done.written.paths == (HUMAN,)
    assert scene.git("log", "-1", "--format=%s|%(trailers:key=Memory-Writer)").strip() == (
        f"restore {HUMAN} as of {done.revision[:12]}|Memory-Writer: person"
    )


def test_a_commit_a_run_and_a_date_name_a_revision(scene):
    root = scene.git("rev-list", "--max-parents=0", "main").strip()
    before = scene.git("show", f"{root}:{HUMAN}")
    restore(scene.context(), f"{HUMAN}@{root[:10]}")
    assert (scene.repo / HUMAN).read_text("utf-8") == before
    restore(scene.context(), f"{HUMAN}@{_run(scene)[:9]}")
    assert "make test" in (scene.repo / HUMAN).read_text("utf-8")


def test_a_date_means_main_at_the_end_of_that_day(scene):
    repo = Repo(scene.repo)
    text = "---\ndescription: x\n---\n- {}\n"
    for day in ("01", "02", "03"):
        when = {f"GIT_{who}_DATE": f"2027-01-{day}T12:00:00" for who in ("AUTHOR", "COMMITTER")}
        repo.write({"reference/x.md": text.format(day)})
        repo.git("add", "-A")
        repo.git("commit", "-qm", day, env=when)
    scene.clock.passed += 60 * 86_400
    restore(scene.context(), "reference/x@2027-01-02")
    assert "- 02" in (scene.repo / "reference/x.md").read_text("utf-8")
    restore(scene.context(), "reference/x@2027-01-01T13:00:00")
    assert "- 01" in (scene.repo / "reference/x.md").read_text("utf-8")
    with pytest.raises(NotFoundError, match="did not exist"):
        restore(scene.context(), f"{HUMAN}@2001-01-01")


@pytest.mark.parametrize("words", ["system/human.md", "@x", "x@", "x@2026-13-45"])
def test_a_revision_that_is_none_is_refused(scene, words):
    with pytest.raises((UsageError, NotFoundError)):
        restore(scene.context(), words)


def test_a_commit_of_before_a_rewrite_names_what_stands_for_it(scene):
    old = scene.git("rev-parse", "main").strip()
    content = (scene.repo / HUMAN).read_text("utf-8")
    undo(scene.context(), _run(scene))
    asked = Asked("Good morning to you", history=True)
    (scene.repo / "reference/z.md").write_text("---\ndescription: z\n---\nGood morning to you\n")
    scene.git("add", "-A")
    scene.git("commit", "-qm", "z")
    asked = Asked("make test", history=True)
    with all_locks(scene.context()) as memory:
        forget(memory, asked, target_of(memory.context, memory.state, asked))
    done = restore(scene.context(), f"{HUMAN}@{old}")
    assert done.revision != old
    assert (scene.repo / HUMAN).read_text("utf-8") != content
    assert "make test" not in (scene.repo / HUMAN).read_text("utf-8")


def test_what_an_agent_wrote_names_its_conversation(scene):
    content = b"---\ndescription: x\n---\n- x\n"
    files = {"reference/x.md": content}
    known = scene.context()
    write(known, lambda _tree: files, "note x", writer="agent", conversation="jsonl/talk")
    found = why(scene.context(), "reference/x", 4)
    assert (found.signed.writer, found.conversations) == ("agent", ("jsonl/talk",))


def test_a_commit_that_only_says_so_is_no_run_s(scene):
    with (scene.repo / HUMAN).open("a", encoding="utf-8") as file:
        file.write("- forged\n")
    scene.git("commit", "-qam", "mine\n\nReflector-Run: 20261130T120000-00000000\n")
    found = why(scene.context(), HUMAN, _line(scene, "forged"))
    assert (found.signed.writer, found.signed.run) == ("person", "")


def test_what_was_said_off_the_record_in_plain_words_is_learned_by_no_run(scene):
    scene.says("Don't record this. Always call me captain.", "Aye.", session="private")
    scene.says("Always use tabs in the parser.", "Yes.", session="third")
    reflect(scene.context(), Options(), Quiet())
    learned = scene.git("grep", "-h", "Always", "main")
    assert "tabs in the parser" in learned
    assert "captain" not in learned
