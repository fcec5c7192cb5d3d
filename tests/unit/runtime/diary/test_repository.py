"""The diary's repository: made on first use, one commit for each change, a person's edits theirs."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.diary import Diary, Entry, Trait
from reflector.core.errors import GitError, HomeError, ParentDirtyError, UsageError
from reflector.pipelines.diary import records
from reflector.pipelines.diary.migrations import DiaryPausedError
from reflector.runtime.diary.repository import Change, DiaryOffError, Repository, harmless
from reflector.runtime.writing import write
from reflector.store.locks import Lock
from reflector.vcs.porcelain import run
from tests.support.deaths import dying_at
from tests.support.forks import beside
from tests.support.repos import Repo
from tests.support.scenes import Scene, Shifted

ON = "diary.enabled = true\n"
STEPS = ("planned", "locked", "checked", "saved", "moved", "followed")
SECRET = "ghp_" + "A1b2C3d4E5" * 4


def entry(name: str = "a" * 16, text: str = "We laughed about the broken kettle.") -> Entry:
    return Entry(
        id=name,
        date="2026-11-30",
        text=text,
        kind="chat",
        created_at="2026-11-30T12:00:00.000Z",
        updated_at="2026-11-30T12:00:00.000Z",
        reinforced_on="2026-11-30",
    )


def adding(*entries: Entry) -> Change:
    return lambda diary: replace(
        diary, entries={**diary.entries, **{each.id: each for each in entries}}
    )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, ON)


@pytest.fixture
def diary(scene: Scene) -> Repository:
    made = Repository(scene.context())
    made.open()
    return made


@pytest.fixture
def repo(diary: Repository) -> Repo:
    return Repo(diary.path)


def test_reading_makes_nothing_and_shows_what_a_new_diary_would_hold(scene):
    diary = Repository(scene.context())
    assert diary.read().persona
    assert diary.head() == ""
    assert not diary.path.exists()


def test_the_first_use_makes_it_with_one_commit_that_only_its_owner_can_enter(diary, repo):
    assert repo.git("rev-list", "--count", "main") == "1"
    assert set(repo.git("ls-files").split()) == {
        *(".gitattributes", ".gitignore", "NOTES.md", "persona.md", "diary.json"),
    }
    assert stat.S_IMODE(diary.path.stat().st_mode) == 0o700
    assert repo.git("remote") == repo.status() == ""
    assert "anchor" in (diary.path / "persona.md").read_text()
    assert diary.read().notes == ()


def test_opening_it_twice_changes_nothing(diary, repo):
    before = repo.everything()
    Repository(diary.memory).open()
    assert repo.everything() == before


def test_a_change_is_one_commit_that_says_who_and_why_and_nothing_of_what(diary, repo):
    base = repo.sha()
    made = diary.change("a reason", "consolidate", adding(entry()), trailers=[("Diary-Job", "j1")])
    assert made == repo.sha("main")
    assert repo.git("log", "-1", "--format=%P") == base
    message = repo.git("log", "-1", "--format=%B")
    assert message.startswith("a reason\n\nReflector-Write: ")
    assert {"Diary-Change: consolidate", "Diary-Job: j1"} <= set(message.split("\n"))
    assert "kettle" not in message
    assert (
        repo.git("show", "--name-only", "--format=", "HEAD") == f"entries/2026-11/{'a' * 16}.json"
    )
    assert diary.read().entries["a" * 16].text == entry().text
    assert repo.status() == ""
    repo.assert_sound()


def test_what_changes_nothing_is_no_commit(diary, repo):
    base = repo.sha()
    assert diary.change("a reason", "x", lambda now: now) is None
    assert repo.sha("main") == base


def test_a_change_may_have_further_parents(diary, repo):
    base = repo.sha()
    other = repo.branch_with("side", {})
    made = diary.change("a reason", "sleep", adding(entry()), also=[other])
    assert repo.git("log", "-1", "--format=%P", str(made)).split() == [base, other]
    assert repo.status() == ""


def test_a_change_is_worked_out_on_what_is_there_under_the_lock(diary):
    seen: list[set[str]] = []

    def second(now: Diary) -> Diary:
        seen.append(set(now.entries))
        return adding(entry("b" * 16))(now)

    diary.change("one", "x", adding(entry()))
    Repository(diary.memory).change("two", "x", second)
    assert seen == [{"a" * 16}]
    assert set(diary.read().entries) == {"a" * 16, "b" * 16}


def test_what_two_processes_write_at_once_is_all_there(tmp_path):
    scene = Scene(tmp_path, ON, clock=Shifted())  # whoever waits for a lock really waits
    diary = Repository(scene.context())
    diary.open()

    def writes(name: str) -> None:
        for n in range(4):
            made = entry(f"{name}{n:015x}", f"Said {n} by {name}.")
            Repository(scene.context()).change("why", "x", adding(made))

    with beside(lambda: writes("a")):
        writes("b")
    assert len(diary.read().entries) == 8
    repo = Repo(diary.path)
    assert repo.git("rev-list", "--count", "main") == "9"
    assert repo.status() == ""


def test_whoever_writes_the_diary_does_not_wait_for_the_memory(diary):
    def change(now: Diary) -> Diary:
        write(diary.memory, lambda _: {"reference/x.md": b"---\ndescription: x\n---\nx\n"}, "why")
        return adding(entry())(now)

    assert diary.change("a reason", "x", change)


def test_the_readable_view_is_written_after_each_change_and_is_no_part_of_it(diary, repo):
    diary.change("a reason", "x", adding(entry()))
    assert "kettle" in (diary.path / "README.md").read_text()
    (diary.path / "README.md").write_text("- something a person wrote\n")
    assert diary.read().notes == ()
    diary.change("again", "x", adding(entry("b" * 16, "Rain all day.")))
    assert "a person wrote" not in (diary.path / "README.md").read_text()
    assert "README.md" not in repo.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_view_that_cannot_be_written_is_a_warning(diary):
    (diary.path / "README.md").mkdir()
    assert diary.change("a reason", "x", adding(entry()))
    assert "README.md" in diary.warning


def test_what_a_person_writes_into_notes_and_persona_is_committed_as_theirs(diary, repo):
    (diary.path / "NOTES.md").write_bytes(b"- Call me Sam.\r\n- No calls.\r\n")
    (diary.path / "persona.md").write_text("I am somebody else.\n")
    found = diary.read(quiet=0)
    assert (found.notes, found.persona) == (("Call me Sam.", "No calls."), "I am somebody else.\n")
    assert repo.git("log", "-1", "--format=%s") == "edit persona.md and NOTES.md"
    assert "Memory-Writer: person" in repo.git("log", "-1", "--format=%B").split("\n")
    assert (diary.path / "NOTES.md").read_bytes() == b"- Call me Sam.\r\n- No calls.\r\n"


def test_a_hand_edit_comes_before_a_change_and_is_not_lost_by_it(diary):
    persona = diary.path / "persona.md"
    persona.write_text("Mine.\n")
    os.utime(persona, (0, 0))  # long enough ago that nobody is still writing

    def change(now: Diary) -> Diary:
        return replace(now, persona=now.persona + "And a line of the night.\n")

    diary.change("a reason", "sleep", change)
    assert persona.read_text() == "Mine.\nAnd a line of the night.\n"


def test_what_a_person_is_still_writing_waits(diary, repo, scene):
    base = repo.sha()
    notes = diary.path / "NOTES.md"
    notes.write_text("- Half a th")
    now = scene.clock.now().timestamp()
    os.utime(notes, (now - 30, now - 30))
    assert diary.read().notes == ()
    os.utime(notes, (now - 61, now - 61))
    assert diary.read().notes == ("Half a th",)
    assert repo.git("rev-list", "--count", f"{base}..main") == "1"


@pytest.mark.parametrize(
    "content", [b"- caf\xe9\n", b"- a\0b\n", f"- {SECRET}\n".encode(), b"- x\n" * 20_000]
)
def test_what_is_no_text_or_holds_a_secret_stays_uncommitted_and_is_named(diary, repo, content):
    base = repo.sha()
    (diary.path / "NOTES.md").write_bytes(content)
    (left,) = diary.adopt()
    assert left.startswith("NOTES.md was not taken in: ")
    assert diary.untaken() == (left,)
    assert repo.sha("main") == base
    assert (diary.path / "NOTES.md").read_bytes() == content
    assert diary.change("a reason", "x", adding(entry()))


def test_a_link_in_the_place_of_a_page_is_not_followed(diary, tmp_path):
    (tmp_path / "elsewhere").write_text("- a secret of somebody else\n")
    (diary.path / "NOTES.md").unlink()
    (diary.path / "NOTES.md").symlink_to(tmp_path / "elsewhere")
    assert diary.read(quiet=0).notes == ()
    assert "no regular file" in diary.untaken()[0]


def test_staged_work_of_a_person_is_left_alone(diary, repo):
    (diary.path / "NOTES.md").write_text("- Call me Sam.\n")
    repo.git("add", "NOTES.md")
    assert diary.adopt()
    assert repo.status().startswith("M  NOTES.md")


def test_a_change_of_a_page_that_a_person_has_open_is_refused_and_theirs_stays(diary, repo, scene):
    base = repo.sha()
    (diary.path / "persona.md").write_text("Mine, half wri")
    now = scene.clock.now().timestamp()
    os.utime(diary.path / "persona.md", (now, now))
    with pytest.raises(ParentDirtyError, match="in the way"):
        diary.change("why", "sleep", lambda now: replace(now, persona="ours\n"))
    assert (diary.path / "persona.md").read_text() == "Mine, half wri"
    assert repo.sha("main") == base


def test_a_persons_notes_are_never_written_by_a_change(diary):
    before = (diary.path / "NOTES.md").read_bytes()
    assert diary.change("why", "x", lambda now: replace(now, notes=("invented",))) is None
    assert (diary.path / "NOTES.md").read_bytes() == before


def test_a_record_that_would_not_be_read_again_is_not_written(diary, repo):
    base = repo.everything()
    with pytest.raises(Exception, match="would not be read again"):
        diary.change("why", "x", adding(replace(entry(), salience=7.0)))
    assert repo.everything() == base


def test_a_damaged_file_stays_as_it_is(diary, repo):
    diary.change("why", "x", adding(entry()))
    path = f"entries/2026-11/{'a' * 16}.json"
    repo.commit({path: "{ not json"})
    assert diary.read().damaged == (path,)
    diary.change("why", "x", adding(entry("b" * 16)))
    anew = adding(replace(entry(), text="written over?"))
    diary.change("why", "x", lambda now: replace(anew(now), damaged=()))
    assert (diary.path / path).read_text() == "{ not json"


def test_a_diary_of_a_newer_schema_is_paused_and_keeps_its_bytes(diary, repo):
    repo.commit({"diary.json": '{"schema": 99}\n'})
    before = repo.everything()
    with pytest.raises(DiaryPausedError):
        diary.read()
    with pytest.raises(DiaryPausedError):
        diary.change("why", "x", adding(entry()))
    assert repo.everything() == before


def test_switched_off_nothing_is_made_and_nothing_changes(tmp_path):
    scene = Scene(tmp_path)
    diary = Repository(scene.context())
    with pytest.raises(DiaryOffError) as caught:
        diary.change("why", "x", adding(entry()))
    assert "diary.enabled = true" in caught.value.hint
    assert not diary.path.exists()


def test_switched_off_an_existing_one_is_read_and_its_pages_stay_as_they_are(scene, diary, repo):
    diary.change("why", "x", adding(entry()))
    (scene.home / "config.toml").write_text("")
    (diary.path / "NOTES.md").write_text("- later\n")
    off = Repository(scene.context())
    assert set(off.read(quiet=0).entries) == {"a" * 16}
    assert "NOTES.md" in repo.status()


def test_a_folder_that_is_no_diary_is_left_alone(scene):
    place = scene.context().agent.diary
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    with pytest.raises(HomeError, match="is no diary"):
        Repository(scene.context()).open()
    assert [each.name for each in place.iterdir()] == ["mine.txt"]


def test_what_a_killed_beginning_left_is_begun_anew(scene):
    half = scene.context().agent.path / "diary.new"
    half.mkdir()
    (half / "half").write_text("half")
    diary = Repository(scene.context())
    diary.open()
    assert not half.exists()
    assert not (diary.path / "half").exists()


@pytest.mark.parametrize("reason", ["", "two\nlines", "Reflector-Write: x"])
def test_a_reason_is_one_plain_line(diary, reason):
    with pytest.raises(UsageError):
        diary.change(reason, "x", adding(entry()))


# What the repository itself says changes nothing


def test_hooks_filters_attributes_and_settings_of_the_repository_change_nothing(
    diary, repo, tmp_path
):
    ran = tmp_path / "ran"
    bad = tmp_path / "bad"
    bad.write_text(f"#!/bin/sh\ntouch {ran}\ncat\necho bad\n")
    bad.chmod(0o755)
    hooks = diary.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "reference-transaction", "post-checkout", "post-index-change"):
        (hooks / name).symlink_to(bad)
    config = diary.path / ".git" / "config"
    config.write_text(
        config.read_text()
        + f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n\tfsmonitor = {bad}\n"
        + f'[filter "bad"]\n\tclean = {bad}\n\tsmudge = {bad}\n\trequired = true\n'
        + "[commit]\n\tgpgSign = true\n[user]\n\tname = Somebody\n"
    )
    (diary.path / ".gitattributes").write_text("* filter=bad text eol=crlf\n")
    (diary.path / ".git" / "info").mkdir(exist_ok=True)
    (diary.path / ".git" / "info" / "attributes").write_text("* filter=bad text eol=crlf\n")
    (diary.path / "NOTES.md").write_text("- Call me Sam.\n")
    assert diary.read(quiet=0).notes == ("Call me Sam.",)
    made = diary.change("a reason", "x", adding(entry(), replace(entry("b" * 16))))
    assert diary.read().entries == {each.id: each for each in (entry(), entry("b" * 16))}
    assert not ran.exists()
    author = repo.git("-c", f"core.hooksPath={os.devnull}", "log", "-1", "--format=%an", str(made))
    assert author == "Reflector"


def test_a_filter_that_cannot_be_turned_off_by_name_stops_the_change():
    assert harmless(["filter.x.clean"])["filter.x.clean"] == ""
    with pytest.raises(HomeError, match="cannot be turned off"):
        harmless(["filter.a=b.clean"])


def test_what_is_set_for_one_repository_reaches_git(diary):
    config = diary.path / ".git" / "config"
    config.write_text(config.read_text() + '[filter "bad"]\n\tclean = evil\n')
    words = ["config", "--get", "filter.bad.clean"]
    code, out, _ = run(diary.scrubbed(), diary.path, words)
    assert (code, out) == (0, b"\n")


# Deaths


@pytest.mark.parametrize("step", STEPS)
def test_whoever_writes_next_mends_what_a_killed_change_left(diary, repo, step):
    dying_at(step, lambda: diary.change("one", "x", adding(entry())))
    diary.change("two", "x", adding(entry("b" * 16)))
    assert repo.status() == ""
    assert "b" * 16 in diary.read().entries
    assert ("a" * 16 in diary.read().entries) is (step in ("moved", "followed"))
    repo.assert_sound()


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock"])
def test_a_lock_of_a_ref_that_a_killed_change_left_stops_nobody(diary, name):
    diary.change("one", "x", adding(entry()))
    lock = diary.path / ".git" / name
    lock.touch()
    diary.change("two", "x", adding(entry("b" * 16)))
    assert not lock.exists()
    assert set(diary.read().entries) == {"a" * 16, "b" * 16}


def test_a_lock_of_a_ref_that_a_living_git_may_hold_stays(diary):
    diary.change("one", "x", adding(entry()))
    lock = diary.path / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    words = ["git", "-C", str(diary.path), "cat-file", "--batch"]
    git = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        with pytest.raises(GitError):
            diary.change("two", "x", adding(entry("b" * 16)))
        assert lock.exists()
    finally:
        git.communicate()


def test_traits_and_entries_go_with_their_files(diary, repo):
    trait = Trait("t" * 16, "He likes it quiet.", "He left the party at nine.", "user")
    diary.change("in", "x", lambda now: replace(now, traits={trait.id: trait}))
    assert (diary.path / f"traits/{'t' * 16}.json").is_file()
    diary.change("out", "x", lambda now: replace(now, traits={}))
    assert not (diary.path / "traits").exists()
    assert records.PERSONA in repo.git("ls-files").split()


def test_copies_are_written_while_nobody_else_may_change_it(diary, monkeypatch):
    lock = Lock(diary.context.agent.lock("memory"))
    free: list[bool] = []
    monkeypatch.setattr(Repository, "shown", lambda _: free.append(lock.take()))
    diary.change("one", "test", adding(entry()))
    assert free == [False]
