"""A diary stays on its machine: nothing pushes it, and a remote added by hand is told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.runtime import push
from reflector.runtime.diary import health, remotes
from reflector.runtime.diary.notes import note
from reflector.runtime.diary.remotes import LocalOnlyError, refuse_diary
from reflector.runtime.diary.repository import Repository
from reflector.runtime.doctor import doctor
from tests.support.repos import Repo
from tests.support.scenes import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path, "diary.enabled = true\n")
    note(made.context(), "Be slow before ten.")
    return made


@pytest.fixture
def repo(scene: Scene) -> Repo:
    return Repo(scene.context().agent.diary)


def checks(scene: Scene) -> list[tuple[bool, str]]:
    return [(each.ok, each.message) for each in doctor(scene.context()) if each.name == "diary"]


def test_a_diary_has_no_remote_and_doctor_says_that_all_is_well(scene, repo):
    assert repo.git("remote") == ""
    assert checks(scene) == [(True, "the diary stays here and can be read")]


def test_doctor_tells_of_a_remote_that_was_added_by_hand_and_hides_its_password(scene, repo):
    repo.git("remote", "add", "cloud", "https://me:hunter2@example.com/diary.git")
    ((ok, message),) = checks(scene)
    assert not ok
    assert "cloud" in message
    assert "hunter2" not in message
    assert remotes.REASON in message
    # What is wrong with where it could go keeps nobody from writing in it.
    assert note(scene.context(), "Something else.").commit


def test_a_push_url_and_a_branch_that_follows_somewhere_are_remotes_too(repo):
    repo.git("config", "branch.main.remote", "/mnt/usb")
    repo.git("config", "remote.x.pushurl", "/mnt/usb")
    assert len(remotes.remotes(repo.path)) == 2


@pytest.mark.parametrize("form", ["{0}", "file://{0}", "{0}/.git", "{0}/../diary"])
def test_the_memory_is_never_pushed_into_a_diary(scene, repo, form):
    with pytest.raises(LocalOnlyError):
        refuse_diary(scene.context(), form.format(repo.path))
    before = repo.git("for-each-ref")
    (scene.home / "config.toml").write_text(
        f'[push]\nenabled = true\nremote = "{form.format(repo.path)}"\n'
    )
    done = push.mirror(scene.context())
    assert done is not None
    assert remotes.REASON in done.detail
    assert repo.git("for-each-ref") == before


@pytest.mark.parametrize("place", ["https://example.com/diary", "git@example.com:diary", "/tmp"])
def test_other_places_are_none_of_its_affair(scene, place):
    refuse_diary(scene.context(), place)


def test_a_push_of_the_memory_takes_nothing_of_the_diary_along(scene, tmp_path):
    Repo(tmp_path).git("init", "-q", "--bare", "mirror")
    (scene.home / "config.toml").write_text(
        f'diary.enabled = true\n[push]\nenabled = true\nremote = "{tmp_path}/mirror"\n'
    )
    push.mirror(scene.context())
    told = Repo(tmp_path / "mirror").git("cat-file", "--batch-all-objects", "--batch")
    assert "system/" in told or "reflector" in told.lower()
    assert "Be slow" not in told


def test_what_cannot_be_read_and_what_was_not_taken_in_is_told(scene, repo):
    repo.commit({f"entries/2026-11/{'d' * 16}.json": "{"})
    (repo.path / "NOTES.md").write_bytes(b"- \xff\n")
    said = [message for message, _ in health.troubles(scene.context())]
    assert len(said) == 2
    assert "d" * 16 in said[0]
    assert said[1].startswith("NOTES.md was not taken in")


def test_a_diary_of_a_newer_schema_is_told_of(scene, repo):
    repo.commit({"diary.json": '{"schema": 99}\n'})
    ((message, hint),) = health.troubles(scene.context())
    assert "schema 99" in message
    assert "Update" in hint
    assert Repository(scene.context()).head() == repo.sha()
