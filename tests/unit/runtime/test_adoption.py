"""What a person edits by hand becomes their commit, and no file of theirs is ever touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.errors import DocumentError, ParentDirtyError, UsageError
from reflector.core.schedule import Settled
from reflector.memory.document import parse
from reflector.runtime import adoption, hand_edits, supervisor
from reflector.runtime.adoption import adopt, commit
from reflector.runtime.status import status
from reflector.runtime.undo import undo
from reflector.runtime.writing import write
from reflector.store.locks import Lock
from tests.support.clocks import WHEN
from tests.support.deaths import dying_at
from tests.support.repos import Repo
from tests.support.scenes import Scene, Stage, outcomes

HEAD = "---\ndescription: by hand\n---\n"
GOOD = {"reference/new.md": HEAD + "new\n", "facts/other.md": HEAD + "other\n"}
HUMAN = "system/human.md"
STEPS = ("planned", "locked", "checked", "saved", "moved", "followed")
LESSON = "Always use tabs in Makefiles."


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, "[trigger]\nstep_count = 1\n")


@pytest.fixture
def repo(scene: Scene) -> Repo:
    return Repo(scene.repo)


def edit(repo: Repo, files: dict[str, str], age: float = 61) -> None:
    """Write files that many seconds before now."""
    repo.write(files)
    for path in files:
        os.utime(repo.path / path, (WHEN.timestamp() - age,) * 2)


def held(repo: Repo) -> dict[str, tuple[bytes, int, int]]:
    """Return content, inode and time of every working file."""
    return {
        str(file.relative_to(repo.path)): (
            file.read_bytes(),
            file.stat().st_ino,
            file.stat().st_mtime_ns,
        )
        for file in repo.path.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(repo.path).parts
    }


def codes(left: object) -> set[tuple[str, str]]:
    return {(each.path, each.code) for each in left}  # type: ignore[attr-defined]


def test_quiet_edits_become_one_commit_of_the_person(scene, repo):
    edit(repo, GOOD | {"system/human.md": HEAD + "mine\n"})
    base, before = repo.sha(), held(repo)
    done = adopt(scene.context())
    assert done.commit == repo.sha("main")
    assert repo.git("log", "-1", "--format=%P") == base
    assert "Memory-Writer: person" in repo.git("log", "-1", "--format=%B").split("\n")
    assert repo.status() == ""
    assert held(repo) == before
    repo.assert_sound()


def test_an_edit_of_the_last_minute_waits_unless_the_person_says_so(scene, repo):
    edit(repo, GOOD, age=59)
    done = adopt(scene.context())
    assert (done.commit, codes(done.left)) == (None, {(path, "not_quiet") for path in GOOD})
    scene.clock.sleep(1)
    assert adopt(scene.context()).commit == repo.sha("main")
    edit(repo, {"reference/third.md": HEAD}, age=-3600)
    assert adopt(scene.context()).commit is None
    assert commit(scene.context(), "my reason").paths == ("reference/third.md",)
    assert repo.git("log", "-1", "--format=%s") == "my reason"


def test_what_fails_the_lint_stays_as_it_is_and_the_rest_is_taken(scene, repo):
    bad = {
        "reference/bad.md": "---\ndescription: a: b\n---\n",
        "reference/crlf.md": HEAD.replace("\n", "\r\n"),
        "reference/key.md": HEAD + "ghp_" + "A1b2C3d4E5" * 4 + "\n",
        "notes.txt": "mine\n",
    }
    edit(repo, GOOD | bad)
    before = held(repo)
    done = adopt(scene.context())
    assert done.paths == tuple(sorted(GOOD))
    assert codes(done.left) == {
        ("reference/bad.md", "header_not_yaml"),
        ("reference/crlf.md", "not_lf"),
        ("reference/key.md", "secret"),
        ("notes.txt", "outside_layout"),
    }
    assert held(repo) == before
    assert repo.status().count("??") == len(bad)
    assert repo.git("log", "-1", "--format=%s", "--", *bad) == ""


def test_status_names_what_fails_with_file_line_and_reason(scene, repo):
    edit(repo, GOOD | {"reference/bad.md": "---\ndescription: a: b\n---\n"})
    (found,) = (
        each for each in status(scene.context()).problems if each.code == "hand_edit_refused"
    )
    assert "reference/bad.md:2: The header is not valid YAML" in found.message
    assert "memory commit" in found.hint


def test_status_blames_nobody_for_an_old_line(scene, repo):
    old = HEAD + "ghp_" + "A1b2C3d4E5" * 4 + "\n"
    repo.commit({"reference/old.md": old})
    edit(repo, {"reference/old.md": old + "new\n"})
    assert [each for each in status(scene.context()).problems if "hand" in each.code] == []


def test_a_binary_or_foreign_file_is_left(scene, repo):
    repo.write({"reference/x.md": ""})
    (repo.path / "reference/x.md").write_bytes(HEAD.encode("utf-16"))
    (repo.path / "reference/link.md").symlink_to("/etc/passwd")
    (repo.path / "facts").mkdir()
    os.mkfifo(repo.path / "facts/pipe.md")
    done = commit(scene.context())
    assert done.commit is None
    assert ("reference/x.md", "not_utf8") in codes(done.left)
    assert ("reference/link.md", "symlink") in codes(done.left)


def test_a_document_that_made_way_for_a_folder_is_gone_and_what_lies_there_is_taken(scene, repo):
    repo.commit(GOOD)
    (repo.path / "reference/new.md").unlink()
    repo.write({"reference/new.md/inner.md": HEAD + "inner\n"})
    done = commit(scene.context())
    assert set(done.paths) == {"reference/new.md", "reference/new.md/inner.md"}
    assert (done.left, repo.status()) == ((), "")


def test_a_repository_inside_the_memory_is_left_and_hinders_no_change(scene, repo):
    edit(repo, GOOD | {"reference/cloned/a.md": HEAD})
    repo.git("init", "-q", "reference/cloned")
    done = commit(scene.context())
    assert set(done.paths) == set(GOOD)
    assert codes(done.left) == {("reference/cloned/", "unreadable")}
    write(scene.context(), lambda _: {"facts/more.md": HEAD.encode()}, "one more")


def test_a_folder_that_became_a_link_is_not_followed(scene, repo, tmp_path):
    repo.commit(GOOD)
    (repo.path / "reference").rename(tmp_path / "reference")
    (repo.path / "reference").symlink_to(tmp_path / "reference")
    (tmp_path / "reference/new.md").write_text(HEAD + "elsewhere\n")
    done = commit(scene.context())
    assert done.commit is None
    assert ("reference/new.md", "symlink") in codes(done.left)


def test_a_deleted_and_a_renamed_document_are_taken(scene, repo):
    repo.commit(GOOD)
    (repo.path / "reference/new.md").rename(repo.path / "reference/newer.md")
    for path in ("reference", "reference/newer.md"):
        os.utime(repo.path / path, (WHEN.timestamp() - 61,) * 2)
    assert set(adopt(scene.context()).paths) == {"reference/new.md", "reference/newer.md"}
    assert repo.status() == ""


def test_when_most_is_gone_a_person_has_to_say_so(scene, repo):
    repo.commit({f"facts/{n}.md": HEAD for n in range(20)})
    for n in range(20):
        (repo.path / f"facts/{n}.md").unlink()
    os.utime(repo.path / "facts", (WHEN.timestamp() - 3600,) * 2)
    assert adopt(scene.context()).commit is None
    assert len(commit(scene.context()).paths) == 20


def test_a_script_keeps_the_mode_that_the_person_gave_it(scene, repo):
    path = "skills/memory-discipline/scripts/run.sh"
    edit(repo, {path: "#!/bin/sh\n"})
    (repo.path / path).chmod(0o755)
    adopt(scene.context())
    assert repo.git("ls-files", "-s", path).startswith("100755")
    assert repo.status() == ""


# When nothing is adopted


def _staged(repo: Repo) -> None:
    repo.git("add", "reference/new.md")


def _merging(repo: Repo) -> None:
    (repo.path / ".git/MERGE_HEAD").write_text(repo.sha() + "\n")


def _locked(repo: Repo) -> None:
    (repo.path / ".git/index.lock").write_bytes(b"")


def _elsewhere(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")


@pytest.mark.parametrize("meddle", [_staged, _merging, _locked, _elsewhere])
def test_nothing_is_adopted_while_a_person_is_in_the_middle_of_something(
    scene, repo, meddle: Callable[[Repo], None]
):
    edit(repo, GOOD)
    meddle(repo)
    before = repo.everything()
    assert adopt(scene.context()) == adoption.Adopted()
    with pytest.raises(ParentDirtyError) as error:
        commit(scene.context())
    assert error.value.hint
    assert repo.everything() == before


def test_a_file_that_is_written_to_while_it_is_read_is_not_adopted_now(scene, repo, monkeypatch):
    edit(repo, GOOD)
    stamps = iter(range(10))
    monkeypatch.setattr(hand_edits, "_stamp", lambda _status: (next(stamps),))
    done = adopt(scene.context())
    assert (done.commit, codes(done.left)) == (None, {(path, "changing") for path in GOOD})


def test_somebody_who_writes_to_the_memory_is_waited_for_and_no_error(scene, repo):
    edit(repo, GOOD)
    lock = Lock(scene.context().agent.lock("memory"))
    assert lock.take()
    assert adopt(scene.context()) == adoption.Adopted()
    lock.release()
    assert repo.git("log", "-1", "--format=%s") != "edit 2 documents"


def test_nothing_edited_makes_no_commit(scene, repo):
    base = repo.sha()
    assert adopt(scene.context()) == commit(scene.context()) == adoption.Adopted()
    assert repo.sha() == base


# Where it is done


def test_a_run_starts_on_top_of_what_a_person_wrote(scene, repo, monkeypatch):
    monkeypatch.setattr(supervisor, "run_child", Stage(scene.folder, plain=("default",)))
    edit(repo, GOOD)
    scene.says(LESSON, "Noted.")
    scene.event(Settled(success=True))
    (run,) = scene.drains("false")
    assert outcomes([run]) == ["merged"]
    assert repo.git("show", f"{run.base}:reference/new.md") == (HEAD + "new").rstrip("\n")
    assert repo.status() == ""


def test_a_supervisor_without_work_adopts_too(scene, repo):
    edit(repo, GOOD)
    assert scene.drains("false") == []
    assert repo.status() == ""


def test_what_a_person_wrote_during_a_run_is_adopted_before_its_merge(scene, repo, monkeypatch):
    stage = Stage(scene.folder, plain=("default",))

    def writing(*words: object) -> object:
        ended = stage(*words)  # type: ignore[arg-type]
        text = (repo.path / HUMAN).read_text()
        edit(repo, {HUMAN: text.replace("description: Who I", "description: Whom I")})
        return ended

    monkeypatch.setattr(supervisor, "run_child", writing)
    scene.says(LESSON, "Noted.")
    scene.event(Settled(success=True))
    assert outcomes(scene.drains("false")) == ["merged"]
    found = repo.git("show", f"main:{HUMAN}")
    assert "Whom I" in found
    assert "tabs in Makefiles" in found
    assert repo.status() == ""


def test_a_write_by_a_tool_takes_the_quiet_edits_first(scene, repo):
    edit(repo, GOOD)
    write(scene.context(), lambda _: {"facts/third.md": HEAD.encode()}, "a reason")
    assert repo.git("log", "-2", "--format=%s") == "a reason\nedit 2 documents"


def test_an_undo_takes_the_quiet_edits_first(scene, repo, monkeypatch):
    monkeypatch.setattr(supervisor, "run_child", Stage(scene.folder, plain=("default",)))
    scene.says(LESSON, "Noted.")
    scene.event(Settled(success=True))
    (run,) = scene.drains("false")
    text = (repo.path / HUMAN).read_text()
    edit(repo, {HUMAN: text.replace("description: Who I", "description: Whom I")})
    undo(scene.context(), run.id)
    found = (repo.path / HUMAN).read_text()
    assert "Whom I" in found
    assert "tabs in Makefiles" not in found
    assert repo.status() == ""


@pytest.mark.parametrize("reason", ["two\nlines", "Reflector-Run: x"])
def test_a_person_s_reason_is_one_plain_line_too(scene, repo, reason):
    edit(repo, GOOD)
    before = repo.everything()
    with pytest.raises(UsageError):
        commit(scene.context(), reason)
    assert repo.everything() == before


# Deaths


@pytest.mark.parametrize("step", STEPS)
def test_whoever_comes_next_mends_a_killed_adoption_and_the_files_stay(scene, repo, step):
    edit(repo, GOOD)
    before = held(repo)
    dying_at(step, lambda: commit(scene.context()))
    scene.chance.drawn = 100
    again = commit(scene.context())
    assert (again.commit is None) == (step in STEPS[4:])
    assert held(repo) == before
    assert repo.status() == ""
    assert repo.git("log", "--format=%s").split("\n").count("edit 2 documents") == 1
    repo.assert_sound()


# Any text at all

TEXTS = st.lists(st.sampled_from([HEAD, "line\n", "\r\n", "\0", "é", "---\n", " ", "x: y\n"]))


@settings(max_examples=25, deadline=None)
@given(texts=st.dictionaries(st.sampled_from(["a", "b", "C/d"]), TEXTS.map("".join), min_size=1))
def test_whatever_a_person_writes_is_committed_byte_for_byte_or_not_at_all(texts, tmp_path_factory):
    scene = Scene(tmp_path_factory.mktemp("scene"))
    repo = Repo(scene.repo)
    for name, text in texts.items():
        place = repo.path / "reference" / f"{name}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    before = held(repo)
    done = commit(scene.context())
    assert held(repo) == before
    for name, text in texts.items():
        path = f"reference/{name}.md"
        if path in done.paths:
            raw = repo.attempt("cat-file", "blob", f"main:{path}").stdout
            assert raw.encode() == text.encode()
            assert readable(text)
        else:
            assert path in {each.path for each in done.left}
            assert "\0" in text or "\r" in text or not readable(text)


def readable(text: str) -> bool:
    try:
        parse("", text.encode())
    except DocumentError:
        return False
    return True
