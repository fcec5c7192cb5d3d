"""What is forgotten is nowhere any more, whatever stood in the way and whenever somebody died."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from reflector.core.errors import BusyError, NotFoundError, ParentDirtyError, UsageError
from reflector.runtime import birth, supervisor
from reflector.runtime.adoption import commit
from reflector.runtime.forgetting.forget import (
    all_locks,
    look,
    open_memory,
    started,
    steps,
)
from reflector.runtime.forgetting.intent import place
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.undo import undo
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.store.locks import Lock
from tests.support import searching
from tests.support.forgetting import SECRET, forgotten, killed_at, learned, run
from tests.support.repos import Repo
from tests.support.scenes import Scene, Stage

pytestmark = pytest.mark.slow

CHINESE = "文档里的秘密"


@pytest.fixture
def scene(tmp_path, tmp_path_factory, monkeypatch) -> Scene:
    stage = Stage(tmp_path, plain=("default",), seconds=1)
    monkeypatch.setattr(supervisor, "run_child", stage)
    return learned(tmp_path, tmp_path_factory.mktemp("taught"))


def _rows(scene: Scene, query: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(scene.context().agent.state)) as database:
        return database.execute(query).fetchall()


def test_with_history_it_is_nowhere_as_an_independent_search_tells(scene):
    assert searching.everywhere(scene.home, SECRET)
    done = forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []
    assert (done.proof.still, done.proof.in_git) == ((), ())
    assert "make test" in (scene.repo / "system/human.md").read_text("utf-8")
    assert scene.git("status", "--porcelain") == ""
    Repo(scene.repo).assert_sound()
    assert not place(scene.context().agent).exists()


def test_without_history_only_git_objects_hold_it_and_main_has_one_commit_more(scene):
    before = scene.git("rev-parse", "HEAD").strip()
    done = forgotten(scene, history=False)
    assert done.commit == scene.git("rev-parse", "HEAD").strip()
    assert scene.git("rev-parse", "HEAD^").strip() == before
    assert done.proof.still == ()
    assert len(done.proof.in_git) == len(searching.in_objects(scene.repo, SECRET)) > 0
    assert searching.in_tables(scene.home, SECRET) == []
    assert searching.in_files(scene.home, SECRET) == []
    assert "Memory-Writer: person" in scene.git("log", "-1", "--format=%B")


def test_merges_keep_two_parents_and_their_trailers(scene):
    before = scene.git("log", "--merges", "--format=%(trailers:key=Reflector-Run)%at|%an")
    forgotten(scene)
    assert scene.git("log", "--merges", "--format=%(trailers:key=Reflector-Run)%at|%an") == before


def test_the_ledger_and_every_mark_name_the_new_commits(scene):
    with sqlite3.connect(scene.context().agent.state) as database:
        database.execute(
            "INSERT INTO marks VALUES ('dream_head', ?)", (scene.git("rev-parse", "main").strip(),)
        )
    forgotten(scene)
    head = (scene.git("rev-parse", "main").strip(),)
    assert _rows(scene, "SELECT value FROM marks WHERE name = 'dream_head'") == [head]
    shas = _rows(scene, "SELECT merge_commit, base, tip FROM runs")
    assert len(shas) == 2
    for sha in (str(sha) for row in shas for sha in row):
        assert scene.git("merge-base", "--is-ancestor", sha, "main") == ""


def test_a_run_of_before_the_rewrite_can_be_undone(scene):
    forgotten(scene)
    run = _rows(scene, "SELECT id FROM runs ORDER BY reserved_at DESC, rowid DESC")[0][0]
    undo(scene.context(), str(run))
    assert "make test" not in (scene.repo / "system/human.md").read_text("utf-8")


def test_reading_the_transcript_again_brings_nothing_back(scene):
    forgotten(scene)
    with sqlite3.connect(scene.context().agent.state) as database:
        database.execute("DELETE FROM sources")
    ingest(scene.context(), scene.folder / "talk.jsonl", Quiet())
    assert searching.in_tables(scene.home, SECRET) == []
    assert searching.in_files(scene.home, SECRET) == []


def test_counters_agree_with_the_rows_that_are_left(scene):
    scene.says(f"And {SECRET} is late.", f"Yes, {SECRET} is.", "What else?", "Nothing.")
    forgotten(scene)
    for key, total, waiting in _rows(
        scene, "SELECT id, total_steps, unreflected_bytes FROM conversations"
    ):
        steps_left, size = _rows(
            scene,
            "SELECT coalesce(sum(step), 0), coalesce(sum(size * (sequence > cursor)), 0) FROM "
            "entries JOIN conversations AS c ON c.id = conversation WHERE entries.hidden = 0 "
            f"AND c.id = {key}",
        )[0]
        assert (total, waiting) == (steps_left, size)


def test_a_conversation_is_forgotten_and_stays_so_when_it_goes_on(scene):
    done = forgotten(scene, "jsonl/talk")
    assert done.plan.kind == "conversation"
    assert searching.everywhere(scene.home, "ships") == []
    scene.says("Remember that it ships in June.", "Noted.")
    assert searching.everywhere(scene.home, "ships") == []
    assert searching.everywhere(scene.home, "make test") != []


def test_a_document_is_forgotten_with_its_history(scene):
    done = forgotten(scene, "reference/facts.md")
    assert done.plan.kind == "document"
    assert done.plan.documents == (("reference/facts.md", 7, True),) or done.plan.documents[0][2]
    assert scene.git("log", "--all", "--format=%H", "--", "reference/facts.md") == ""
    assert done.proof.still == ()


@pytest.mark.parametrize("text", ['say "x" & <y>', CHINESE, "Ärger — groß", "back\\slash"])
def test_text_is_found_in_every_form_that_it_was_written_in(scene, text):
    scene.says(f"Remember that {text} is the word.", "Noted.")
    run(scene, "no_changes" if text == CHINESE else "merged")
    assert searching.everywhere(scene.home, text)
    forgotten(scene, text)
    assert searching.everywhere(scene.home, text) == []


def test_uncommitted_work_outlives_it_byte_for_byte(scene):
    work = {"system/persona.md": b"mine\n", "reference/new.md": b"new\n"}
    for name, content in work.items():
        (scene.repo / name).write_bytes(content)
    scene.git("add", "reference/new.md")
    before = scene.git("status", "--porcelain")
    forgotten(scene)
    assert scene.git("status", "--porcelain") == before
    assert {name: (scene.repo / name).read_bytes() for name in work} == work


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("name", ["reference/facts.md", "reference/mine.md", "ignored.swp"])
def test_uncommitted_work_that_holds_it_refuses_before_anything(scene, history, name):
    (scene.repo / ".git/info").mkdir(exist_ok=True)
    (scene.repo / ".git/info/exclude").write_text("*.swp\n", "utf-8")
    with (scene.repo / name).open("a", encoding="utf-8") as file:
        file.write(f"{SECRET} in my own words\n")
    before = _everything(scene.home)
    with pytest.raises(ParentDirtyError, match=name):
        forgotten(scene, history=history)
    assert _everything(scene.home) == before


def _everything(home: Path) -> dict[str, bytes]:
    return {
        str(file): file.read_bytes()
        for file in home.rglob("*")
        if file.is_file() and not file.name.endswith(("-shm", "-wal", ".lock"))
    }


def test_a_stash_and_a_person_s_worktree_refuse_a_rewrite(scene):
    (scene.repo / "system/persona.md").write_text("mine\n", "utf-8")
    scene.git("stash")
    with pytest.raises(ParentDirtyError, match="stash"):
        forgotten(scene)
    scene.git("stash", "drop")
    scene.git("worktree", "add", "-q", str(scene.folder / "mine"), "HEAD")
    with pytest.raises(ParentDirtyError, match="worktree"):
        forgotten(scene)


def test_a_detached_head_refuses(scene):
    scene.git("checkout", "-q", "--detach")
    with pytest.raises(ParentDirtyError, match="not on main"):
        forgotten(scene)


def test_an_active_run_refuses(scene):
    presence = Lock(scene.context().agent.lock("run-reflection"))
    assert presence.take()
    with pytest.raises(BusyError, match="A run is active"), all_locks(scene.context()):
        pass
    presence.release()


def test_a_run_that_died_refuses_until_it_is_brought_to_its_end(scene):
    with sqlite3.connect(scene.context().agent.state) as database:
        database.execute(
            "UPDATE runs SET state = 'active', outcome = NULL, phase = 'running' WHERE id = "
            "(SELECT max(id) FROM runs)"
        )
    with pytest.raises(BusyError, match="died"), all_locks(scene.context()):
        pass


@pytest.mark.parametrize("words", ["", " ", "x"])
def test_a_text_that_is_everywhere_is_refused(scene, words):
    with pytest.raises(UsageError):
        forgotten(scene, words)


def test_a_document_that_is_not_there_is_said_to_be_missing(scene):
    with pytest.raises(NotFoundError):
        forgotten(scene, "reference/never.md", history=False)


def test_looking_changes_nothing(scene):
    before = _everything(scene.home)
    with open_memory(scene.context()) as memory:
        asked = Asked(SECRET)
        plan = look(memory, target_of(memory.context, memory.state, asked))
    assert _everything(scene.home) == before
    assert plan.entries == 2
    assert [path for path, _, _ in plan.documents] == ["reference/facts.md"]


@pytest.mark.parametrize("history", [True, False])
def test_kept_tips_that_hold_it_go_or_are_rewritten(scene, history):
    repo = Repo(scene.repo)
    clean = repo.sha("main~2")
    repo.branch_with("tip", {"reference/half.md": f"{SECRET}\n"})
    repo.git("update-ref", "refs/reflector/kept/20261130T000000-00000000", "tip")
    repo.git("update-ref", "refs/reflector/backup/20261130T000000-00000001", clean)
    repo.git("branch", "-D", "tip")
    forgotten(scene, history=history)
    refs = repo.git("for-each-ref", "--format=%(refname)", "refs/reflector")
    assert ("kept" in refs) is history
    assert "backup" in refs
    if history:
        assert searching.everywhere(scene.home, SECRET) == []


def test_what_cannot_be_reached_is_named_without_its_password(scene):
    scene.git("remote", "add", "origin", "https://me:hunter2secret@example.com/r.git")
    mirror = '[push]\nremote = "ssh://me:hunter2secret@mirror.example.com/r.git"\n'
    (scene.home / "config.toml").write_text(mirror, "utf-8")
    done = forgotten(scene)
    said = "\n".join(done.proof.out_of_reach)
    assert "talk.jsonl" in said
    assert "https://example.com/r.git" in said
    assert "mirror.example.com/r.git" in said
    assert "hunter2secret" not in said


def test_remote_tracking_refs_of_the_old_history_go(scene):
    scene.git("update-ref", "refs/remotes/origin/main", "main")
    forgotten(scene)
    assert scene.git("for-each-ref", "refs/remotes") == ""
    assert searching.everywhere(scene.home, SECRET) == []


def test_logs_and_spool_lose_the_lines_and_keep_their_length(scene):
    log = scene.context().agent.log
    spool = scene.home / "spool" / "2026-11-30.jsonl"
    for file in (log, spool):
        with file.open("ab") as stream:
            stream.write(b'{"a": 1}\n{"cwd": "/' + SECRET.encode() + b'"}\n{"b": 2}\n')
    sizes = [file.stat().st_size for file in (log, spool)]
    forgotten(scene)
    assert [file.stat().st_size for file in (log, spool)] == sizes
    assert searching.in_files(scene.home, SECRET) == []
    assert spool.read_bytes().startswith(b'{"a": 1}\n  ')
    assert spool.read_bytes().endswith(b'\n{"b": 2}\n')


def test_another_command_is_refused_while_one_is_unfinished(scene):
    with all_locks(scene.context()) as memory:
        asked = Asked(SECRET, history=True)
        walk = steps(memory, asked, target_of(memory.context, memory.state, asked))
        assert next(walk) == "begun"
        walk.close()
    assert SECRET not in place(scene.context().agent).read_text("utf-8")
    with pytest.raises(BusyError, match="cut off"):
        started(scene.context(), Asked("something else"))
    assert started(scene.context(), asked) == "text"


def test_until_one_is_finished_nothing_is_merged_and_it_says_what_to_do(scene):
    killed_at(scene, Asked(SECRET, history=True), "replaced")
    head = scene.git("rev-parse", "main")
    document = {"reference/more.md": b"---\ndescription: more\n---\n"}
    for change in (
        lambda: write(scene.context(), lambda _: document, "one more"),
        lambda: commit(scene.context()),
    ):
        with pytest.raises(BusyError, match="cut off") as error:
            change()
        assert "again, word for word" in error.value.hint
    scene.says("Always use tabs in Makefiles.", "I will.", session="later")
    run(scene, "parent_dirty")
    assert scene.git("rev-parse", "main") == head
    forgotten(scene)
    write(scene.context(), lambda _: document, "one more")


def test_a_damaged_database_that_was_moved_aside_goes_too(scene):
    state = scene.context().agent.state
    aside = state.with_name("state.corrupt-20261130T000000.db")
    aside.write_bytes(b"not a database " + SECRET.encode())
    forgotten(scene, history=False)
    assert not aside.exists()
    assert state.exists()


def test_a_worktree_that_a_dead_run_left_goes_with_what_it_holds(scene):
    repo, name = Repo(scene.repo), "1-20200101T000000-0123abcd"
    tree = scene.context().agent.worktrees / name
    repo.git("worktree", "add", "-q", "-b", f"memory/reflection-{name}", str(tree), "main")
    (tree / "scratch.md").write_text(f"{SECRET}\n", "utf-8")
    forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []
    assert not tree.exists()
    assert len(repo.git("worktree", "list").splitlines()) == 1


def test_an_empty_merge_stays_and_undoing_it_takes_nothing_back(scene):
    run = str(_rows(scene, "SELECT id FROM runs ORDER BY reserved_at, rowid")[0][0])
    before = scene.git("rev-list", "--count", "main")
    forgotten(scene, "project ships in May")
    assert scene.git("rev-list", "--count", "main") == before
    done = undo(scene.context(), run)
    assert done.rewritten_at.startswith("2026-11-30")
    assert "make test" in (scene.repo / "system/human.md").read_text("utf-8")


def test_the_database_s_log_is_emptied_while_others_keep_it_open(scene):
    with contextlib.closing(sqlite3.connect(scene.context().agent.state)) as other:
        other.execute("SELECT count(*) FROM entries").fetchone()
        scene.says(f"And {SECRET} again.", "Yes.")
        done = forgotten(scene)
        assert searching.in_files(scene.home, SECRET) == []
    assert done.proof.still == ()


@pytest.mark.slow
def test_somebody_who_keeps_reading_is_named_and_the_same_command_finishes(scene):
    with contextlib.closing(sqlite3.connect(scene.context().agent.state)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM entries").fetchone()
        with pytest.raises(BusyError, match="open"):
            forgotten(scene)
    forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []


def test_a_branch_that_cannot_be_named_safely_refuses_before_anything(scene):
    scene.git("branch", "größer")
    with pytest.raises(ParentDirtyError, match="größer"):
        forgotten(scene)
    assert not place(scene.context().agent).exists()


def test_a_person_s_branches_and_tags_are_rewritten_too(scene):
    scene.git("branch", "mine", "main")
    scene.git("tag", "-a", "-m", f"{SECRET}", "v1", "main^2")
    forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []
    assert scene.git("rev-parse", "mine") == scene.git("rev-parse", "main")
    assert scene.git("cat-file", "-t", "v1") == "tag\n"


def test_other_identities_are_named_as_out_of_reach(scene):
    birth.init(context(str(scene.home), "work"))
    done = forgotten(scene)
    assert any("the memory of 'work'" in each for each in done.proof.out_of_reach)
